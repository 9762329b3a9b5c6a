// The guardian: a small process between baton and the command. It starts the command, is the parent of all processes
// that the command leaves behind, and stops all of them: on baton's order, when baton dies, at --max-hold, and before
// the lease ends while baton is stopped and cannot renew.
//
//     shell ── baton ── guardian ── command ── …      each of the first two is a subreaper for what is below it
//
// If either baton or the guardian is killed, the other one still has the whole tree below it.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <memory>

#include "run/link.hpp"
#include "run/shared_page.hpp"
#include "system/descriptor.hpp"

namespace baton::cli {

/// What the guardian inherits from baton by the fork.
struct guardian_setting {
    int terminal = -1;             // the controlling terminal, if there is one
    sigset_t original_mask{};      // the signal mask that baton inherited, for the command
    bool ignore_children = false;  // baton inherited an ignored SIGCHLD, which the command inherits too
};

/// Baton's side.
class guardian {
public:
    /// Forks the guardian. Call it while there is one thread. Throws std::system_error.
    explicit guardian(const guardian_setting& setting);
    guardian(const guardian&) = delete;
    guardian& operator=(const guardian&) = delete;
    /// Dismisses the guardian and waits for its end.
    ~guardian() { dismiss(); }

    [[nodiscard]] pid_t id() const { return id_; }
    /// Not open if the kernel gives no pidfd.
    [[nodiscard]] const std::shared_ptr<const descriptor>& pidfd() const { return pidfd_; }
    [[nodiscard]] channel_end& channel() { return channel_; }
    [[nodiscard]] shared_page& page() { return *page_; }
    /// True once the guardian has ended and has been reaped.
    [[nodiscard]] bool gone();
    /// Closes the channel, at which the guardian ends, and waits for its end.
    void dismiss();

private:
    shared_page* page_;
    channel_end channel_{-1};
    pid_t id_ = 0;
    std::shared_ptr<const descriptor> pidfd_;
    bool gone_ = false;
};

}  // namespace baton::cli
