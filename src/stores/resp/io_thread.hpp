// The thread that serves the sockets of a store, for all its lines.
#pragma once

#include <unistd.h>

#include <memory>
#include <thread>

#include <asio/io_context.hpp>

namespace baton::resp {

/// Whoever is told something by the thread may let go of the store there and then: so the thread has a share in the
/// context, and is not waited for by itself.
class io_thread {
public:
    io_thread();
    io_thread(const io_thread&) = delete;
    io_thread& operator=(const io_thread&) = delete;
    ~io_thread();

    [[nodiscard]] asio::io_context& context() { return *context_; }
    [[nodiscard]] bool is_this_thread() const { return thread_.get_id() == std::this_thread::get_id(); }

private:
    std::shared_ptr<asio::io_context> context_;
    pid_t made_in_ = getpid();
    std::thread thread_;
};

}  // namespace baton::resp
