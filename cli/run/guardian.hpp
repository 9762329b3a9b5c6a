// The guardian: a small process between baton and the command. It starts the command, is the parent of everything that
// the command leaves behind, and stops all of it: when baton says so, when baton dies, at --max-hold, and in time
// before a lease ends that baton, being stopped, does not renew.
//
//     shell ── baton ── guardian ── command ── …      each of the first two is a subreaper for what is below it
//
// So whoever of baton and the guardian is killed, the other one still has the whole tree below it.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <memory>

#include "run/link.hpp"
#include "run/shared_page.hpp"
#include "system/descriptor.hpp"

namespace baton::cli {

/// What baton passes on to the guardian by forking it.
struct guardian_setting {
    int terminal = -1;             // the controlling terminal, if there is one
    sigset_t original_mask{};      // the command's, as baton was given it
    bool ignore_children = false;  // the command's SIGCHLD, likewise
};

/// Baton's side.
class guardian {
public:
    /// Forks it. Only while there is one thread. Throws std::system_error.
    explicit guardian(const guardian_setting& setting);
    guardian(const guardian&) = delete;
    guardian& operator=(const guardian&) = delete;
    /// Lets it go, and waits until it is gone.
    ~guardian() { dismiss(); }

    [[nodiscard]] pid_t id() const { return id_; }
    /// Not open where there is none to be had.
    [[nodiscard]] const std::shared_ptr<const descriptor>& pidfd() const { return pidfd_; }
    [[nodiscard]] link_end& link() { return link_; }
    [[nodiscard]] shared_page& page() { return *page_; }
    /// True once it has ended; then it has been waited for.
    [[nodiscard]] bool gone();
    /// Closes the link, after which it ends, and waits for that.
    void dismiss();

private:
    shared_page* page_;
    link_end link_{-1};
    pid_t id_ = 0;
    std::shared_ptr<const descriptor> pidfd_;
    bool gone_ = false;
};

}  // namespace baton::cli
