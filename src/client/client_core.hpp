// The driver of a client: it runs the session machine on a strand, passes its messages to the line, completes what
// callers wait for, and keeps the one thread that timers and callbacks run on. It decides nothing.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "baton/client.hpp"
#include "baton/store.hpp"
#include "client/fork_guard.hpp"
#include "client/lease_state.hpp"
#include "client/session.hpp"
#include "client/strand.hpp"

namespace baton::detail {

/// Called on the strand: with a lease; without one and no error if busy; else with the error.
using on_acquired = std::function<void(std::error_code, std::shared_ptr<lease_state>)>;
using on_answer = std::function<void(std::error_code, std::vector<protocol::event>)>;

class client_core final : public store_listener, public std::enable_shared_from_this<client_core> {
public:
    client_core(std::shared_ptr<baton::store> store, client_options options);
    client_core(const client_core&) = delete;
    client_core& operator=(const client_core&) = delete;
    ~client_core();

    void start();
    /// True if the store confirmed it in time.
    bool close(std::chrono::milliseconds wait);
    /// Closes and ends the thread: the last thing that is done with it, on any thread.
    void shut();

    void acquire(acquire_order order, std::function<void(handle)> started, on_acquired done);
    void cancel(handle handle, std::error_code why);
    void release(handle handle, protocol::manner manner);
    void operate(protocol::command command, on_answer done);
    void inspect(const inspect_filter& filter, std::function<void(std::error_code, snapshot)> done);

    /// Runs something of the user's on the client's thread.
    void call_back(std::function<void()> callback);
    /// Why a blocking call cannot be made here, if it cannot.
    [[nodiscard]] std::error_code refuse_to_block() const;
    [[nodiscard]] const fork_guard& fork() const { return fork_; }
    [[nodiscard]] const std::shared_ptr<baton::store>& store() const { return store_; }

    void up(lineage lineage) noexcept override;
    void down(std::error_code why) noexcept override;
    void replied(command_tag tag, lineage lineage, std::vector<protocol::event> events) noexcept override;
    void failed(command_tag tag, command_failure how, std::error_code why) noexcept override;
    void noticed(lineage lineage, protocol::event event) noexcept override;

private:
    static constexpr client_time never = client_time::max();

    struct pending {
        std::vector<claim> claims;  // for the observer, if there is one
        on_acquired done;
    };
    struct held {
        std::vector<claim> claims;
        std::weak_ptr<lease_state> state;
        std::uint64_t fence;
    };

    /// Every input of the machine comes through here: on the strand, with the time; its actions are performed at once.
    template <typename Input> void run(Input input) {
        strand_->post([self = shared_from_this(), input = std::move(input)]() mutable {
            input(self->session_, self->now());
            self->pump();
        });
    }
    void pump();
    void perform(acquired& action);
    void perform(not_acquired& action);
    void perform(const capped& action);
    void perform(const lost& action);
    void perform(operated& action);
    void perform(const observed& action);
    void observe(std::function<void(observer&)> what);
    void arm(std::optional<client_time> next);
    void serve();
    [[nodiscard]] client_time now() const { return read_clock(clock_); }

    std::shared_ptr<baton::store> store_;
    client_options options_;
    lease_clock clock_;
    fork_guard fork_;
    std::shared_ptr<strand> strand_ = std::make_shared<strand>();

    // On the strand.
    session session_;
    std::vector<action> actions_;
    std::unique_ptr<store_line> line_;
    std::unordered_map<handle, pending> pending_;
    std::unordered_map<handle, held> held_;
    std::unordered_map<command_tag, on_answer> answers_;
    std::shared_ptr<moving_time> believed_ = std::make_shared<moving_time>();
    std::function<void(bool)> on_gone_;

    // Of the thread.
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::function<void()>> callbacks_;
    std::atomic<client_time> armed_{never};  // written under the mutex
    bool stopping_ = false;
    std::thread thread_;
    std::atomic<bool> was_closed_{false};  // by a caller, which has chosen how long to wait
};

}  // namespace baton::detail
