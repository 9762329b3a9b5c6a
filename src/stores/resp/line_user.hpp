// What the stores behind a connection have in common: a listener that hears of it, whoever waits until it is up for the
// first time, and what is said where there is nobody to talk to and will not be.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "baton/store.hpp"
#include "stores/resp/connection.hpp"
#include "stores/resp/io_thread.hpp"

namespace baton::resp {

using look_answer = inspect_answer;

class line_user : public connection_user {
public:
    explicit line_user(std::weak_ptr<store_listener> listener) : listener_{std::move(listener)} {}
    line_user(const line_user&) = delete;
    line_user& operator=(const line_user&) = delete;
    virtual ~line_user() = default;

    void up(lineage lineage) override;
    void down(std::error_code why) override;
    /// The client hears so as soon as it says something.
    void hopeless(std::error_code why) override;

    [[nodiscard]] std::error_code why_hopeless();
    /// What could not be sent, if that is for good.
    void refuse_if_hopeless(std::span<tagged_command> messages);
    void wait_until_settled();

protected:
    /// What is being started may take longer than what is there.
    [[nodiscard]] virtual bool is_starting() const { return false; }
    [[nodiscard]] std::shared_ptr<store_listener> listener() const { return listener_.lock(); }

private:
    void settle();

    const std::weak_ptr<store_listener> listener_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool settled_ = false;
    std::error_code hopeless_;
};

/// A line whose other end is a connection: made up with the line, and stopped with it.
class connected_line : public store_line {
public:
    connected_line(std::shared_ptr<io_thread> thread, std::shared_ptr<line_user> user);
    connected_line(const connected_line&) = delete;
    connected_line& operator=(const connected_line&) = delete;
    ~connected_line() override { connection_->stop(); }

    void reset() override { connection_->reset(); }

protected:
    [[nodiscard]] const std::shared_ptr<resp::connection>& connection() const { return connection_; }
    /// What the user needs before the connection begins, is done in between.
    void begin();

private:
    std::shared_ptr<io_thread> thread_;
    std::shared_ptr<line_user> user_;
    std::shared_ptr<resp::connection> connection_;
};

/// A line that leaves everything to its user, who wants to know the connection.
template <typename User> class line_of final : public connected_line {
public:
    line_of(std::shared_ptr<io_thread> thread, std::shared_ptr<User> user)
        : connected_line{std::move(thread), user}, user_{std::move(user)} {
        user_->use(connection());
        begin();
    }

    void send(std::span<tagged_command> commands) override { user_->send(commands); }
    void inspect(const inspect_filter& filter, inspect_answer answer) override {
        user_->inspect(filter, std::move(answer));
    }

private:
    std::shared_ptr<User> user_;
};

}  // namespace baton::resp
