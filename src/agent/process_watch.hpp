// Tells when a process ends, in that instant, and never of another that got its number.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

namespace baton::agent {

class process_watch : public std::enable_shared_from_this<process_watch> {
public:
    /// The process at the other end of a Unix socket. Null if the kernel does not say who that is.
    [[nodiscard]] static std::shared_ptr<process_watch> of_peer(asio::io_context& context, int socket);
    /// By its number, said by somebody who knows that it lives.
    [[nodiscard]] static std::shared_ptr<process_watch> of(asio::io_context& context, std::int64_t process);

    process_watch(asio::io_context& context, int pidfd, pid_t process)
        : descriptor_{context, pidfd}, process_{process} {}

    [[nodiscard]] pid_t process() const { return process_; }
    [[nodiscard]] bool ended() const { return ended_; }
    /// Calls once.
    void start(std::function<void(const std::shared_ptr<process_watch>&)> on_end);

private:
    asio::posix::stream_descriptor descriptor_;
    pid_t process_;
    bool ended_ = false;
};

}  // namespace baton::agent
