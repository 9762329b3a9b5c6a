// A store that behaves as badly as the interface permits, around a store that keeps the rules. It delivers messages
// late, twice, out of order, on several threads at once, and throws exceptions, but its messages are never wrong. So
// two clients must still exclude each other, and every call must return.
//
// The classes `connection` and `listener` below implement the interface of stores.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "../forwarding_listener.hpp"
#include "baton/error.hpp"
#include "baton/store.hpp"

namespace baton::client_tests {

/// The faults of the store. Each `…_every` is a mean: 0 never, 20 about once in twenty.
struct adversity {
    int throws_before_every = 0;  // `send` throws without forwarding the commands
    int throws_after_every = 0;   // `send` throws after forwarding the commands
    int reset_throws_every = 0;
    int late_every = 0;   // a reply or notification arrives later, on another thread; 1: each of them
    int twice_every = 0;  // a reply arrives twice, the second time on another thread
    int busy_every = 0;   // an acquire with a wait gets the reply `busy`
    bool silent = false;  // no command is performed
    int threads = 3;      // that deliver late messages
};

namespace adversarial {

/// Messages to deliver late.
struct late_queue {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::deque<std::function<void()>> entries;

    void deliver(const std::stop_token& stop) {
        for (;;) {
            std::function<void()> next;
            {
                std::unique_lock lock{mutex};
                if (!changed.wait(lock, stop, [this] { return !entries.empty(); })) return;
                next = std::move(entries.front());
                entries.pop_front();
            }
            std::this_thread::yield();
            next();
        }
    }
};

/// The part that connections, listeners and the store share: dice, and threads that deliver late.
class world {
public:
    explicit world(adversity how, unsigned seed) : how_{how}, dice_{seed} {
        for (int i = 0; i < how_.threads; ++i)
            threads_.emplace_back([late = late_](const std::stop_token& stop) { late->deliver(stop); });
    }
    world(const world&) = delete;
    world& operator=(const world&) = delete;
    ~world() {
        for (std::jthread& thread : threads_) {
            thread.request_stop();
            // A client may end on a thread that delivers something to it, and the store with the client.
            if (thread.get_id() == std::this_thread::get_id()) thread.detach();
        }
    }

    [[nodiscard]] const adversity& how() const { return how_; }

    bool happens(int every) {
        if (every == 0) return false;
        const std::lock_guard lock{mutex_};
        return std::uniform_int_distribution{1, every}(dice_) == 1;
    }
    /// Runs the task soon on another thread, in any order.
    void later(std::function<void()> what) {
        const bool last = happens(2);
        {
            const std::lock_guard lock{late_->mutex};
            late_->entries.insert(last ? late_->entries.end() : late_->entries.begin(), std::move(what));
        }
        late_->changed.notify_one();
    }
    /// Stops throwing exceptions, so that a test can end normally.
    void calm_down() { calm_ = true; }
    [[nodiscard]] bool is_calm() const { return calm_; }

    /// How often the client has used a connection on two threads at once, which it must not.
    std::atomic<int> concurrent_uses{0};
    std::atomic<int> exceptions{0};

private:
    adversity how_;
    std::mutex mutex_;
    std::mt19937 dice_;
    std::atomic<bool> calm_{false};
    std::shared_ptr<late_queue> late_ = std::make_shared<late_queue>();
    std::vector<std::jthread> threads_;
};

/// The listener of the inner store.
class listener final : public forwarding_listener {
public:
    listener(std::weak_ptr<world> world, const std::weak_ptr<store_listener>& client)
        : forwarding_listener{client}, world_{std::move(world)} {}

    void replied(command_tag tag, epoch epoch, std::span<const protocol::event> events) noexcept override {
        deliver_call([tag, epoch, copy = std::vector<protocol::event>{events.begin(), events.end()}](
                         store_listener& client) { client.replied(tag, epoch, copy); });
    }
    void failed(command_tag tag, command_failure how, const store_error& why) noexcept override {
        deliver_call([tag, how, why](store_listener& client) { client.failed(tag, how, why); });
    }
    void noticed(epoch epoch, protocol::event event) noexcept override {
        deliver_call([epoch, event](store_listener& client) { client.noticed(epoch, event); });
    }

private:
    void deliver_call(std::function<void(store_listener&)> what) {
        const auto world = world_.lock();
        if (!world) return;
        const auto deliver = [client = client(), what = std::move(what)] {
            if (const auto to = client.lock()) what(*to);
        };
        if (world->happens(world->how().twice_every)) world->later(deliver);
        if (world->happens(world->how().late_every))
            world->later(deliver);
        else
            deliver();
    }

    std::weak_ptr<world> world_;
};

class connection final : public store_connection {
public:
    connection(std::shared_ptr<world> world, store& inner, const std::weak_ptr<store_listener>& client)
        : world_{std::move(world)}, client_{client}, listener_{std::make_shared<listener>(world_, client)} {
        inner_ = inner.connect(listener_);
    }

    void send(std::span<tagged_command> commands) override {
        const used_by_one guard{*this};
        if (world_->how().silent) return;
        may_throw(world_->how().throws_before_every);
        for (tagged_command& each : commands)
            if (auto* const enter = std::get_if<protocol::enter>(&each.command))
                if (world_->happens(world_->how().busy_every)) enter->options.nowait = true;
        inner_->send(commands);
        may_throw(world_->how().throws_after_every);
    }
    void reset() override {
        const used_by_one guard{*this};
        may_throw(world_->how().reset_throws_every);
        // Reconnects on another thread, as a store with a socket does.
        world_->later([client = client_] {
            const auto to = client.lock();
            if (!to) return;
            to->down({errc::store_unavailable, "the connection was reset"});
            to->up(1);  // the epoch of memory:
        });
    }
    void inspect(const inspect_filter& filter, snapshot_callback done) override {
        if (world_->how().silent) return;
        inner_->inspect(filter,
                        [world = world_, done = std::move(done)](const store_error& why, const snapshot& found) {
                            const auto deliver = [done, why, found] { done(why, found); };
                            if (world->happens(world->how().twice_every)) world->later(deliver);
                            if (world->happens(world->how().late_every))
                                world->later(deliver);
                            else
                                deliver();
                        });
    }

private:
    /// Counts a use of the connection by a thread while another thread is using it.
    class used_by_one {
    public:
        explicit used_by_one(connection& connection) : connection_{connection} {
            std::thread::id user;  // none
            outermost_ = connection_.user_.compare_exchange_strong(user, std::this_thread::get_id());
            if (!outermost_ && user != std::this_thread::get_id()) ++connection_.world_->concurrent_uses;
        }
        used_by_one(const used_by_one&) = delete;
        used_by_one& operator=(const used_by_one&) = delete;
        ~used_by_one() {
            if (outermost_) connection_.user_ = std::thread::id{};
        }

    private:
        connection& connection_;
        bool outermost_ = false;
    };

    void may_throw(int every) {
        if (world_->is_calm() || !world_->happens(every)) return;
        ++world_->exceptions;
        throw std::runtime_error{"the store throws"};
    }

    std::shared_ptr<world> world_;
    std::weak_ptr<store_listener> client_;
    std::shared_ptr<listener> listener_;
    std::unique_ptr<store_connection> inner_;
    std::atomic<std::thread::id> user_{};
};

}  // namespace adversarial

class adversarial_store final : public store {
public:
    explicit adversarial_store(adversity how, unsigned seed = 1)
        : inner_{make_store("memory:adversarial-" + std::to_string(++count_))},
          world_{std::make_shared<adversarial::world>(how, seed)} {}

    std::unique_ptr<store_connection> connect(std::weak_ptr<store_listener> listener) override {
        return std::make_unique<adversarial::connection>(world_, *inner_, listener);
    }
    [[nodiscard]] lease_clock clock() const override { return inner_->clock(); }

    void calm_down() { world_->calm_down(); }
    [[nodiscard]] int concurrent_uses() const { return world_->concurrent_uses; }
    [[nodiscard]] int exceptions() const { return world_->exceptions; }

private:
    static inline std::atomic<int> count_ = 0;
    std::shared_ptr<store> inner_;
    std::shared_ptr<adversarial::world> world_;
};

}  // namespace baton::client_tests
