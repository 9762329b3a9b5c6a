#include "stores/resp/io_thread.hpp"

#include <pthread.h>
#include <signal.h>

namespace baton::resp {

io_thread::io_thread() {
    // The user's signals are for the user's threads.
    sigset_t all{};
    sigset_t before{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread{[turns = turns_] { turns->serve(); }};
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

io_thread::~io_thread() {
    if (getpid() != made_in_) {  // after fork there is no thread here, and nothing of ours to end
        new std::shared_ptr<io_turns>{std::move(turns_)};
        new std::thread{std::move(thread_)};
        return;
    }
    turns_->stop();
    if (is_this_thread())
        thread_.detach();
    else
        thread_.join();
}

}  // namespace baton::resp
