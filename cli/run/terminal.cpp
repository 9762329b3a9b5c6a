#include "run/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace baton::cli {

// SIGTTOU is blocked from the start of `run`; otherwise these calls would stop a baton in the background.

terminal::terminal() : descriptor_{::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)} {
    if (descriptor_ < 0) return;
    const bool own_job = ::getpgrp() == ::getpid();
    at_once_ = own_job && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
    termios modes{};
    if (ours() && ::tcgetattr(descriptor_, &modes) == 0) modes_ = modes;
}

terminal::~terminal() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

bool terminal::ours() const { return descriptor_ >= 0 && ::tcgetpgrp(descriptor_) == ::getpgrp(); }

bool terminal::give_at_once() { return given_ = wanted_ = at_once_ && ours(); }

void terminal::started(pid_t group) { group_ = group; }

void terminal::give() {
    if (!ours() || group_ == 0) return;
    given_ = wanted_ = ::tcsetpgrp(descriptor_, group_) == 0;
}

void terminal::after_continue() {
    given_ = false;
    if (wanted_ || at_once_) give();
}

void terminal::take_back() {
    if (!given_) return;
    given_ = false;
    ::tcsetpgrp(descriptor_, ::getpgrp());
}

void terminal::restore_modes() {
    if (modes_ && ours()) ::tcsetattr(descriptor_, TCSADRAIN, &*modes_);
}

}  // namespace baton::cli
