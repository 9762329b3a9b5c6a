// The thread that serves the sockets of a store, for all its lines, unless a caller does.
#pragma once

#include <unistd.h>

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "stores/resp/io_turns.hpp"

namespace baton::resp {

/// Whoever is told something by the thread may let go of the store there and then: so the thread has a share in what it
/// serves, and is not waited for by itself.
class io_thread {
public:
    io_thread();
    io_thread(const io_thread&) = delete;
    io_thread& operator=(const io_thread&) = delete;
    ~io_thread();

    [[nodiscard]] asio::io_context& context() { return turns_->context(); }
    [[nodiscard]] bool is_this_thread() const { return thread_.get_id() == std::this_thread::get_id(); }
    void perform(std::function<void()> task) { turns_->leave_to_thread(std::move(task)); }

    void wait(sleeper& who) { turns_->wait(who); }
    void wake(sleeper& who) { turns_->wake(who); }

private:
    std::shared_ptr<io_turns> turns_ = std::make_shared<io_turns>();
    pid_t made_in_ = getpid();
    std::thread thread_;
};

}  // namespace baton::resp
