// Who serves the sockets of a store: a thread of the store, or, while one caller alone waits for what they will say,
// that caller. It is then woken by the socket itself, and not by another thread that was: a hand-off between processes
// costs one switch of threads less.
//
// Whoever has the turn runs the context; there is never more than one. The store's thread is never interrupted: it lets
// go of the turn when it is awake anyway and sees that one caller waits alone. When that one has what it waited for,
// the turn is left to the next that waits, and the thread takes it back if there is none for a while. In a program that
// both waits and is called back, a callback may be that much later, once after each wait.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include <asio/io_context.hpp>

#include "baton/store.hpp"

namespace baton::resp {

class io_turns {
public:
    [[nodiscard]] asio::io_context& context() { return context_; }

    /// The store's thread, until `stop`.
    void serve();
    void stop();

    /// What may take long, and is no business of a caller that happens to have the turn: done by the store's thread,
    /// with the turn. Called by whoever has it.
    void leave_to_thread(std::function<void()> task);

    /// As those of `store`.
    void wait(sleeper& who);
    void wake(sleeper& who);

private:
    enum class turn : std::uint8_t { of_thread, of_caller, of_nobody };

    void perform_tasks(std::unique_lock<std::mutex>& lock);
    void let_go_if_one_waits(std::unique_lock<std::mutex>& lock);
    void serve_as(sleeper& who, std::unique_lock<std::mutex>& lock);

    asio::io_context context_{1};  // one thread at a time
    std::mutex mutex_;
    std::condition_variable changed_;  // what the store's thread sleeps on without the turn
    turn turn_ = turn::of_thread;
    bool stopped_ = false;
    bool needed_ = false;       // the thread is to take the turn at once
    bool asleep_ = false;       // the thread sleeps until the caller that serves is through
    bool last_alone_ = false;   // the caller that came last found nobody else waiting
    std::uint64_t served_ = 0;  // turns of callers
    std::vector<sleeper*> waiting_;
    sleeper* serving_ = nullptr;  // the caller that has the turn
    std::vector<std::function<void()>> tasks_;
};

}  // namespace baton::resp
