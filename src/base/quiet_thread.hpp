// A thread of the library. It blocks all signals: the program's signals are for the program's threads.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace baton::detail {

/// Blocks all signals of this thread for a while: a new thread inherits that.
class blocked_signals {
public:
    blocked_signals() {
        sigset_t all{};
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;
    ~blocked_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

/// The name is shown by ps and gdb: at most 15 bytes.
template <typename Function> [[nodiscard]] std::thread quiet_thread(const char* name, Function function) {
    const blocked_signals inherited;
    return std::thread{[name, function = std::move(function)]() mutable {
        pthread_setname_np(pthread_self(), name);
        function();
    }};
}

}  // namespace baton::detail
