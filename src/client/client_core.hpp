// The driver of a client. All decisions are the session machine's. The concurrency scheme:
//
//  1. One mutex guards the machine and the driver's tables. Every event is an input: a call of the user, a reply of the
//     store, a timer. An input locks the mutex, calls the machine with the current time, and unlocks.
//  2. The machine's actions are the effects. One thread at a time performs them, in order and without the mutex. A
//     thread with an input performs effects until none are left, unless another thread is performing already: then that
//     thread performs these as well.
//  3. So no code of the user or the store runs under the mutex. A store may reply within `send`, on any thread, or not
//     at all.
//  4. A blocked caller has a listener on its stack. The listener is completed after the effects are performed. So the
//     next call of that thread performs its own effects, and a release has left the process when the call returns.
//  5. Callbacks and the observer run on the callback threads. Loss signals have a queue and threads of their own, so
//     that no callback delays them.
//  6. A blocked caller may run the event loop, which owns timers and sockets.
//  7. No state belongs to a particular thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/callback_threads.hpp"
#include "base/event_loop.hpp"
#include "base/fork_guard.hpp"
#include "baton/client.hpp"
#include "baton/store.hpp"
#include "client/lease_state.hpp"
#include "client/session.hpp"

namespace baton::detail {

/// Called once, without a lock, on any thread, when an operation is complete. Must not block.
using on_operated = completion_callback<operated>;
using on_inspected = completion_callback<store_error, snapshot>;

struct pending_operation {
    std::optional<on_operated> done;
    std::optional<on_inspected> seen;  // instead of `done`, for inspect()
    inspect_filter filter = {};
};

class client_core final : public store_listener, public std::enable_shared_from_this<client_core> {
public:
    client_core(std::shared_ptr<baton::store> store, client_options options,
                std::shared_ptr<backup_renewer> backup_renewer);
    client_core(const client_core&) = delete;
    client_core& operator=(const client_core&) = delete;
    ~client_core();

    void start();
    /// Closes the session and drops the connection, the store and the threads. It is the last call, on any thread.
    void shut();

    handle acquire(acquire_order order, acquire_listener& listener);
    void cancel(handle handle, std::error_code why);
    void release(lease_state& lease, protocol::release_kind release_kind);
    void operate(protocol::command command, on_operated done);
    void inspect(const inspect_filter& filter, on_inspected done);
    void connect(client_duration wait, on_operated done);
    /// Returns whether the store confirmed the close in time. No callback runs afterwards.
    bool close_and_wait(client_duration wait);
    /// The same without waiting: calls `done` with the result.
    void close_later(client_duration wait, completion_callback<bool> done);

    /// Blocks until `caller` is finished. This thread may become the loop owner meanwhile.
    void wait(waiter& caller);
    [[nodiscard]] const std::shared_ptr<callback_queue>& callbacks() const { return callbacks_; }
    void call_back(callback_queue::callback callback) { callbacks_->push(std::move(callback)); }
    /// The error if this thread or process must not block in a call.
    [[nodiscard]] std::error_code refuse_to_block() const;
    [[nodiscard]] const fork_guard& fork() const { return fork_; }
    [[nodiscard]] const client_options& options() const { return options_; }
    /// Why the store does not support the request; empty if it does.
    [[nodiscard]] std::string objection(const claim_list& claims, const protocol::enter_options& options);

    void up(epoch epoch) noexcept override;
    void down(const store_error& why) noexcept override;
    void unusable(const store_error& why) noexcept override;
    void replied(command_tag tag, epoch epoch, std::span<const protocol::event> events) noexcept override;
    void failed(command_tag tag, command_failure how, const store_error& why) noexcept override;
    void noticed(epoch epoch, protocol::event event) noexcept override;

private:
    static constexpr client_time never = client_time::max();

    /// The result of an acquire, for its listener.
    struct decided {
        acquire_listener* listener;
        std::shared_ptr<lease_state> lease;
        store_error error;
    };

    /// Locks the machine for one input; the destructor performs the effects. False after `shut`: then there is no
    /// input.
    class input {
    public:
        explicit input(client_core& core);
        input(const input&) = delete;
        input& operator=(const input&) = delete;
        ~input();
        explicit operator bool() const { return lock_.owns_lock(); }
        session* operator->() const { return &core_.session_; }

    private:
        client_core& core_;
        std::unique_lock<std::mutex> lock_;
    };
    void time_passed();
    void close(client_duration wait, on_operated done);
    void perform(send& effect) { outgoing_.push_back({effect.tag, std::move(effect.command)}); }
    void perform(const reset_connection& effect);
    void perform(const detail::inspect& effect);
    void perform(acquired& effect);
    void perform(not_acquired& effect);
    void perform(const believe& effect) { believed_->set(effect.until); }
    void perform(const capped& effect);
    void perform(const lost& effect);
    void perform(released& effect);
    void perform(operated& effect);
    void perform(const keep_elsewhere& effect);
    void perform(const observed& effect);
    void notify_decided(std::unique_lock<std::mutex>& lock);
    void send_outgoing();
    void drain_callbacks();
    void connection_threw(const char* what);
    void inspected(operation which, const operation_owner& owner, store_error error, snapshot seen);
    void observe(std::function<void(observer&)> what);
    void arm();
    [[nodiscard]] client_time now() const { return read_clock(clock_); }

    const client_options options_;
    const std::shared_ptr<backup_renewer> backup_renewer_;
    const lease_clock clock_;
    const fork_guard fork_;
    std::shared_ptr<callback_threads> threads_;        // until `shut`
    std::shared_ptr<loss_threads> loss_threads_;       // until `shut`
    const std::shared_ptr<callback_queue> callbacks_;  // the user's callbacks and the observer's
    const std::shared_ptr<callback_queue> losses_;
    std::atomic<bool> observed_{true};  // until the client is closed
    const std::shared_ptr<moving_time> believed_ = std::make_shared<moving_time>();

    std::mutex mutex_;
    std::condition_variable performed_;
    session session_;
    std::vector<action> effects_;
    bool performing_ = false;
    std::thread::id performer_;
    bool shut_ = false;
    bool was_closed_ = false;  // the user has called close, so the destructor does not wait
    client_time armed_ = never;

    // Used only by the thread that performs effects, and by `shut`.
    std::shared_ptr<baton::store> store_;
    std::shared_ptr<event_loop> loop_;
    std::optional<event_loop::timer> timer_;
    std::unique_ptr<store_connection> connection_;
    std::vector<action> performed_now_;
    std::vector<tagged_command> outgoing_;
    std::vector<decided> decided_;
};

}  // namespace baton::detail
