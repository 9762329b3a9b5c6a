// A thread of the library. It blocks all signals: the program's signals are for the program's threads.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace baton::detail {

/// The name is shown by ps and gdb: at most 15 bytes.
template <typename Function> [[nodiscard]] std::thread quiet_thread(const char* name, Function function) {
    sigset_t all{};
    sigset_t before{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread thread{[name, function = std::move(function)]() mutable {
        pthread_setname_np(pthread_self(), name);
        function();
    }};
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

}  // namespace baton::detail
