// The library's threads block all signals, so that signals are delivered to the program's own threads.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace baton::detail {

/// Blocks all signals of the calling thread during its life. A thread started meanwhile inherits the mask.
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

/// `name` is for ps and gdb: at most 15 bytes.
template <typename Function> [[nodiscard]] std::thread quiet_thread(const char* name, Function function) {
    const blocked_signals inherited;
    return std::thread{[name, function = std::move(function)]() mutable {
        pthread_setname_np(pthread_self(), name);
        function();
    }};
}

}  // namespace baton::detail
