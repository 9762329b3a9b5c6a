// Tells when a process ends, and never of another that got its number: in that instant by a pidfd, or, where the kernel
// or a sandbox has none to give, by looking now and then.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

namespace baton::agent {

class process_watch : public std::enable_shared_from_this<process_watch> {
public:
    /// The process at the other end of a Unix socket. Null if the kernel does not say who that is.
    [[nodiscard]] static std::shared_ptr<process_watch> of_peer(asio::io_context& context, int socket);
    /// By its number, said by somebody who knows that it lives.
    [[nodiscard]] static std::shared_ptr<process_watch> of(asio::io_context& context, std::int64_t process);

    /// By a pidfd; or without one, by when the process was started.
    process_watch(asio::io_context& context, pid_t process, int pidfd);
    process_watch(asio::io_context& context, pid_t process, std::uint64_t started);

    [[nodiscard]] pid_t process() const { return process_; }
    /// It was told of.
    [[nodiscard]] bool ended() const { return ended_; }
    /// It has not ended, whether or not that was told.
    [[nodiscard]] bool lives();
    /// Calls once.
    void start(std::function<void(const std::shared_ptr<process_watch>&)> on_end);

private:
    void look();

    pid_t process_;
    asio::posix::stream_descriptor descriptor_;
    asio::steady_timer timer_;
    std::optional<std::uint64_t> started_;
    std::function<void(const std::shared_ptr<process_watch>&)> on_end_;
    bool ended_ = false;
};

}  // namespace baton::agent
