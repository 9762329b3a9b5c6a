#include "agent/process_watch.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "agent/process_stat.hpp"

namespace baton::agent {
namespace {

#ifdef SO_PEERPIDFD
constexpr int peer_pidfd_option = SO_PEERPIDFD;
#else
constexpr int peer_pidfd_option = 77;  // Linux 6.5; older headers do not name it
#endif

constexpr std::chrono::milliseconds between_looks{20};

bool is_ready(int descriptor, short events) {
    pollfd asked{descriptor, events, 0};
    return poll(&asked, 1, 0) > 0 && asked.revents != 0;
}

/// When a process was started. None if it has ended, even if its parent has not heard of it yet.
std::optional<std::uint64_t> start_of(pid_t process) {
    const auto found = look_at(process);
    return found && !found->ended() ? std::optional<std::uint64_t>{found->started} : std::nullopt;
}

std::shared_ptr<process_watch> by_number(asio::io_context& context, pid_t process) {
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
    if (pidfd >= 0) return std::make_shared<process_watch>(context, process, pidfd);
    const bool no_such_process = errno == ESRCH || errno == EINVAL || errno == ENOENT;  // or a thread's number
    if (no_such_process) return nullptr;
    const auto started = start_of(process);
    return started ? std::make_shared<process_watch>(context, process, *started) : nullptr;
}

}  // namespace

process_watch::process_watch(asio::io_context& context, pid_t process, int pidfd)
    : process_{process}, descriptor_{context, pidfd}, timer_{context} {}

process_watch::process_watch(asio::io_context& context, pid_t process, std::uint64_t started)
    : process_{process}, descriptor_{context}, timer_{context}, started_{started} {}

std::shared_ptr<process_watch> process_watch::of_peer(asio::io_context& context, int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return nullptr;
    int pidfd = -1;
    size = sizeof pidfd;
    if (getsockopt(socket, SOL_SOCKET, peer_pidfd_option, &pidfd, &size) == 0)
        return std::make_shared<process_watch>(context, peer.pid, pidfd);
    if (peer.pid <= 0) return nullptr;
    auto found = by_number(context, peer.pid);
    // If it has ended meanwhile, its number may be another's. A socket that is still open says that it has not, unless
    // it has passed the socket on: then the ttl decides.
    return is_ready(socket, POLLRDHUP) ? nullptr : found;
}

std::shared_ptr<process_watch> process_watch::of(asio::io_context& context, std::int64_t process) {
    if (process <= 0 || !std::in_range<pid_t>(process)) return nullptr;
    return by_number(context, static_cast<pid_t>(process));
}

bool process_watch::lives() {
    return started_ ? start_of(process_) == started_ : !is_ready(descriptor_.native_handle(), POLLIN);
}

void process_watch::start(std::function<void(const std::shared_ptr<process_watch>&)> on_end) {
    on_end_ = std::move(on_end);
    look();
}

void process_watch::look() {
    const auto seen = [weak = weak_from_this()](std::error_code error) {
        const auto self = weak.lock();
        if (error || !self) return;
        if (self->lives()) return self->look();  // an event may also be that of a descriptor that was here before
        self->ended_ = true;
        std::exchange(self->on_end_, nullptr)(self);
    };
    if (!started_) return descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, seen);
    timer_.expires_after(between_looks);
    timer_.async_wait(seen);
}

}  // namespace baton::agent
