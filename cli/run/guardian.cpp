#include "run/guardian.hpp"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <new>
#include <system_error>

#include "run/guardian_loop.hpp"
#include "system/pidfd.hpp"

namespace baton::cli {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error{errno, std::generic_category(), what}; }

shared_page* share_page() {
    void* const memory =
        ::mmap(nullptr, sizeof(shared_page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("mmap");
    return new (memory) shared_page;
}

}  // namespace

guardian::guardian(const guardian_setting& setting) : page_{share_page()} {
    process_tree tree;  // for the guardian; reserves its descriptors before there are processes to find
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("socketpair");
    // If the guardian is killed, its children become children of baton.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t baton = ::getpid();
    id_ = ::fork();
    if (id_ < 0) fail("fork");
    if (id_ == 0) {
        ::close(ends[0]);
        guardian_loop loop{ends[1], baton, *page_, setting, tree};
        ::_exit(loop.run());  // without baton's destructors and exit handlers
    }
    ::close(ends[1]);
    channel_.adopt(ends[0]);
    // No thread has waited for this child yet, so its process id has not been reused.
    pidfd_ = std::make_shared<descriptor>(detail::pidfd_of(id_));
}

bool guardian::gone() {
    if (!gone_) gone_ = ::waitpid(id_, nullptr, WNOHANG) == id_;
    return gone_;
}

void guardian::dismiss() {
    channel_.close();
    while (!gone_ && (::waitpid(id_, nullptr, 0) == id_ || errno != EINTR)) gone_ = true;
}

}  // namespace baton::cli
