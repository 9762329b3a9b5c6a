#include "bench/actors/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <thread>

namespace baton::bench {
namespace {

struct tasks {
    std::mutex mutex;
    std::uint64_t last = 0;
    std::map<std::uint64_t, std::function<void()>> all;
};

/// Never destroyed, because the thread that waits for signals never ends.
tasks& the_tasks() {
    static tasks& made = *new tasks;
    return made;
}

}  // namespace

void prepare_for_interrupts() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&wanted, number);
    pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
    ::signal(SIGPIPE, SIG_IGN);  // a write to a dead worker reports the error
    static_cast<void>(the_tasks());
    std::thread{[wanted] {
        int number = 0;
        while (sigwait(&wanted, &number) != 0) continue;
        const std::lock_guard lock{the_tasks().mutex};
        auto& all = the_tasks().all;
        for (auto next = all.rbegin(); next != all.rend(); ++next) next->second();
        _exit(128 + number);  // the children end with this process
    }}.detach();
}

on_interrupt::on_interrupt(std::function<void()> task) {
    const std::lock_guard lock{the_tasks().mutex};
    number_ = ++the_tasks().last;
    the_tasks().all.emplace(number_, std::move(task));
}

on_interrupt::~on_interrupt() {
    const std::lock_guard lock{the_tasks().mutex};
    the_tasks().all.erase(number_);
}

}  // namespace baton::bench
