#include "stores/resp/io_thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <asio/executor_work_guard.hpp>

namespace baton::resp {

io_thread::io_thread() : context_{std::make_shared<asio::io_context>(1)} {
    // The user's signals are for the user's threads.
    sigset_t all{};
    sigset_t before{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread{[context = context_] {
        const auto work = asio::make_work_guard(*context);
        context->run();
    }};
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

io_thread::~io_thread() {
    if (getpid() != made_in_) {  // after fork there is no thread here, and nothing of ours to end
        new std::shared_ptr<asio::io_context>{std::move(context_)};
        new std::thread{std::move(thread_)};
        return;
    }
    context_->stop();
    if (is_this_thread())
        thread_.detach();
    else
        thread_.join();
}

}  // namespace baton::resp
