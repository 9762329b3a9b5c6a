#include "run/signals.hpp"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace baton::cli {
namespace {

constexpr std::array ending{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

void send(signal_target target, int signal) { ::kill(target == signal_target::job ? 0 : ::getpid(), signal); }

bool ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

bool ends_programs(int signal) { return std::ranges::find(ending, signal) != ending.end(); }

signals::signals() : ignored_children_{ignored(SIGCHLD)} {
    if (ignored_children_) ::signal(SIGCHLD, SIG_DFL);
    sigemptyset(&wanted_);
    for (const int signal : ending)
        if (!ignored(signal)) sigaddset(&wanted_, signal);
    for (const int signal : {SIGCHLD, SIGCONT, SIGWINCH}) sigaddset(&wanted_, signal);
    sigset_t blocked = wanted_;
    sigaddset(&blocked, SIGPIPE);  // stderr may have no reader
    sigaddset(&blocked, SIGTTOU);  // baton writes to the terminal, and gives it away, also from the background
    ::pthread_sigmask(SIG_BLOCK, &blocked, &original_);
    descriptor_ = ::signalfd(-1, &wanted_, SFD_CLOEXEC | SFD_NONBLOCK);
    if (descriptor_ < 0) throw std::system_error{errno, std::generic_category(), "signalfd"};
}

// The signals stay blocked: a SIGPIPE of a message without a reader may be pending.
signals::~signals() { ::close(descriptor_); }

void signals::pass_on_stops(bool pass_on) {
    if (ignored(SIGTSTP)) return;
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    pass_on ? sigaddset(&wanted_, SIGTSTP) : sigdelset(&wanted_, SIGTSTP);
    ::signalfd(descriptor_, &wanted_, SFD_CLOEXEC | SFD_NONBLOCK);
    ::pthread_sigmask(pass_on ? SIG_BLOCK : SIG_UNBLOCK, &stop, nullptr);
}

std::vector<int> signals::take() {
    std::vector<int> taken;
    signalfd_siginfo info{};
    while (::read(descriptor_, &info, sizeof info) == sizeof info) taken.push_back(static_cast<int>(info.ssi_signo));
    return taken;
}

bool stop(signal_target target, int signal) {
    // A pending SIGCONT shows afterwards that this process was stopped and continued, so remove an old one first.
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCONT);
    const timespec at_once{};
    while (::sigtimedwait(&set, nullptr, &at_once) == SIGCONT) continue;
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, signal);
    sigset_t before;
    ::pthread_sigmask(SIG_UNBLOCK, &stop, &before);
    send(target, signal);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    sigset_t waiting;
    return ::sigpending(&waiting) == 0 && sigismember(&waiting, SIGCONT) == 1;
}

void die_of(signal_target target, int signal) {
    ::prctl(PR_SET_DUMPABLE, 0);
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    send(target, signal);
    ::_exit(128 + signal);
}

}  // namespace baton::cli
