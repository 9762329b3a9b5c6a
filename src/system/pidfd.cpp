#include "system/pidfd.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

namespace baton::detail {
namespace {

// Older headers do not name these.
constexpr int peer_pidfd_option = 77;                // SO_PEERPIDFD
constexpr auto by_pidfd = static_cast<idtype_t>(3);  // P_PIDFD

}  // namespace

descriptor pidfd_of(pid_t process) { return descriptor{static_cast<int>(syscall(SYS_pidfd_open, process, 0))}; }

descriptor pidfd_of_peer(int socket) {
    int made = -1;
    socklen_t size = sizeof made;
    if (getsockopt(socket, SOL_SOCKET, peer_pidfd_option, &made, &size) != 0) return {};
    return descriptor{made};
}

/// waitid first checks the type of the descriptor (EBADF) and then whether the process is a child (ECHILD). It needs no
/// /proc, no rights over the process and no common PID namespace. Linux 5.3 has pidfds without this check (EINVAL):
/// there a wrong descriptor harms only the sessions of the client that passed it.
bool is_pidfd(int descriptor) {
    siginfo_t ignored{};
    return waitid(by_pidfd, static_cast<id_t>(descriptor), &ignored, WEXITED | WNOHANG | WNOWAIT) == 0 ||
           errno != EBADF;
}

std::optional<pid_t> number_of(int pidfd) {
    std::ifstream lines{"/proc/self/fdinfo/" + std::to_string(pidfd)};
    for (std::string word; lines >> word;) {
        pid_t number = 0;  // the kernel writes 0 for a process of another namespace, -1 for an ended process
        if (word == "Pid:" && lines >> number && number > 0) return number;
    }
    return {};
}

}  // namespace baton::detail
