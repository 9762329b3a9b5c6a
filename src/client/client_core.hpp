// The driver of a client. It decides nothing: the session machine does. The scheme:
//
//  1. One mutex guards the machine and the driver's tables. Everything that happens is an input: a call of the user, an
//     answer of the store, a timer. It locks, tells the machine the time and what happened, and unlocks.
//  2. What the machine wants done comes out as actions, the effects. They are performed without the mutex, in order, by
//     one thread at a time. A thread that brings an input performs effects until none are left. If another thread is
//     performing already, that one performs these as well.
//  3. So nothing of the user or of the store is called under the mutex. A store may answer within `send`, on any
//     thread, or not at all: its answer is an input like the others.
//  4. A caller that waits has a listener on its own stack. It is completed after the effects are performed: so the next
//     call of that thread performs its own effects, and what it releases has left the process when the call returns.
//  5. Callbacks, the observer and loss signals run on the callback threads. Loss signals have a queue and threads of
//     their own, so that no callback delays them.
//  6. A caller that waits may serve the event loop meanwhile. Timers and sockets belong to the loop.
//  7. No state depends on a thread: the driver does not care on which one it runs.
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

/// Called once, without a lock, on any thread, with the answer to an operation. Must be quick.
using on_operated = completion_callback<operated>;
using on_inspected = completion_callback<store_error, snapshot>;

struct pending_operation {
    std::optional<on_operated> done;
    std::optional<on_inspected> seen;  // of a look
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
    /// Closes, and lets go of the connection, the store and the threads: the last thing that is done with it, on any
    /// thread.
    void shut();

    handle acquire(acquire_order order, acquire_listener& listener);
    void cancel(handle handle, std::error_code why);
    void release(lease_state& lease, protocol::release_kind release_kind);
    void operate(protocol::command command, on_operated done);
    void inspect(const inspect_filter& filter, on_inspected done);
    void connect(client_duration wait, on_operated done);
    /// True if the store confirmed it in time. Afterwards no callback runs.
    bool close_and_wait(client_duration wait);
    /// The same without waiting; `done` is called as that of `close` is.
    void close_later(client_duration wait, completion_callback<bool> done);

    /// Returns when it is finished.
    void wait(waiter& who);
    [[nodiscard]] const std::shared_ptr<callback_queue>& callbacks() const { return callbacks_; }
    /// Runs something of the user's on a callback thread.
    void call_back(callback_queue::callback callback) { callbacks_->push(std::move(callback)); }
    /// Why a blocking call cannot be made here, if it cannot.
    [[nodiscard]] std::error_code refuse_to_block() const;
    [[nodiscard]] const fork_guard& fork() const { return fork_; }
    [[nodiscard]] const client_options& options() const { return options_; }
    /// What the store has to say against a request that it does not support.
    [[nodiscard]] std::string objection(const claim_list& claims, const protocol::enter_options& options);

    void up(epoch epoch) noexcept override;
    void down(const store_error& why) noexcept override;
    void unusable(const store_error& why) noexcept override;
    void replied(command_tag tag, epoch epoch, std::span<const protocol::event> events) noexcept override;
    void failed(command_tag tag, command_failure how, const store_error& why) noexcept override;
    void noticed(epoch epoch, protocol::event event) noexcept override;

private:
    static constexpr client_time never = client_time::max();

    /// A listener that is to hear what came of its acquire.
    struct decided {
        acquire_listener* listener;
        std::shared_ptr<lease_state> lease;
        store_error error;
    };

    /// Every input of the machine comes through here: its end performs what the machine wants done. False after the end
    /// of the client: then nothing is done.
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
    void tell_decided(std::unique_lock<std::mutex>& lock);
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
    std::shared_ptr<callback_threads> threads_;        // until it is shut
    std::shared_ptr<loss_threads> loss_threads_;       // until it is shut
    const std::shared_ptr<callback_queue> callbacks_;  // of the user's callbacks and the observer
    const std::shared_ptr<callback_queue> losses_;     // of loss signals
    std::atomic<bool> observed_{true};                 // until it is closed
    const std::shared_ptr<moving_time> believed_ = std::make_shared<moving_time>();

    std::mutex mutex_;
    std::condition_variable performed_;
    session session_;
    std::vector<action> effects_;
    bool performing_ = false;
    std::thread::id performer_;
    bool shut_ = false;
    bool was_closed_ = false;  // by a caller, which has chosen how long to wait
    client_time armed_ = never;

    // Of the thread that performs effects; at the end, of the one that shuts the client.
    std::shared_ptr<baton::store> store_;
    std::shared_ptr<event_loop> loop_;
    std::optional<event_loop::timer> timer_;
    std::unique_ptr<store_connection> connection_;
    std::vector<action> performed_now_;
    std::vector<tagged_command> outgoing_;
    std::vector<decided> decided_;
};

}  // namespace baton::detail
