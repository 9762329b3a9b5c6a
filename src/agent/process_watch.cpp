#include "agent/process_watch.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace baton::agent {
namespace {

#ifdef SO_PEERPIDFD
constexpr int peer_pidfd_option = SO_PEERPIDFD;
#else
constexpr int peer_pidfd_option = 77;  // Linux 6.5; older headers do not name it
#endif

int open_pidfd(pid_t process) { return static_cast<int>(syscall(SYS_pidfd_open, process, 0)); }

}  // namespace

std::shared_ptr<process_watch> process_watch::of_peer(asio::io_context& context, int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return nullptr;
    int pidfd = -1;
    size = sizeof pidfd;
    if (getsockopt(socket, SOL_SOCKET, peer_pidfd_option, &pidfd, &size) != 0) {
        if (peer.pid <= 0) return nullptr;
        pidfd = open_pidfd(peer.pid);
        // If it has ended meanwhile, its number may be another's. A socket that is still open says that it has not,
        // unless it has passed the socket on: then the ttl decides.
        pollfd hung_up{socket, POLLRDHUP, 0};
        if (pidfd >= 0 && poll(&hung_up, 1, 0) > 0 && (hung_up.revents & (POLLHUP | POLLRDHUP)) != 0) {
            close(pidfd);
            return nullptr;
        }
    }
    return pidfd < 0 ? nullptr : std::make_shared<process_watch>(context, pidfd, peer.pid);
}

std::shared_ptr<process_watch> process_watch::of(asio::io_context& context, std::int64_t process) {
    if (process <= 0 || !std::in_range<pid_t>(process)) return nullptr;
    const auto number = static_cast<pid_t>(process);
    const int pidfd = open_pidfd(number);
    return pidfd < 0 ? nullptr : std::make_shared<process_watch>(context, pidfd, number);
}

void process_watch::start(std::function<void(const std::shared_ptr<process_watch>&)> on_end) {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                           [weak = weak_from_this(), on_end = std::move(on_end)](std::error_code error) {
                               const auto self = weak.lock();
                               if (error || !self) return;
                               self->ended_ = true;
                               on_end(self);
                           });
}

}  // namespace baton::agent
