// What the stores behind a connection have in common: a listener that hears of it.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "base/event_loop.hpp"
#include "base/process_wide.hpp"
#include "base/slow_work.hpp"
#include "baton/store.hpp"
#include "stores/resp/connection.hpp"

namespace baton::resp {

class line_user : public connection_user {
public:
    explicit line_user(std::weak_ptr<store_listener> listener) : listener_{std::move(listener)} {}
    line_user(const line_user&) = delete;
    line_user& operator=(const line_user&) = delete;
    virtual ~line_user() = default;

    void up(lineage lineage) override;
    void down(const store_error& why) override;
    void hopeless(const store_error& why) override;

protected:
    [[nodiscard]] std::shared_ptr<store_listener> listener() const { return listener_.lock(); }

private:
    const std::weak_ptr<store_listener> listener_;
};

/// A line whose other end is a connection: made with the line, and stopped with it. Its user wants to know the
/// connection, and does the rest.
template <typename User> class line_of final : public store_line {
public:
    line_of(std::shared_ptr<detail::event_loop> loop, std::shared_ptr<User> user)
        : loop_{std::move(loop)}, user_{std::move(user)}, connection_{std::make_shared<connection>(*loop_, user_)} {
        user_->use(connection_, *loop_);
        connection_->start();
    }
    line_of(const line_of&) = delete;
    line_of& operator=(const line_of&) = delete;
    ~line_of() override { connection_->stop(); }

    void send(std::span<tagged_command> commands) override { user_->send(commands); }
    void reset() override { connection_->reset(); }
    void inspect(const inspect_filter& filter, inspect_answer answer) override {
        user_->inspect(filter, std::move(answer));
    }

private:
    const std::shared_ptr<detail::event_loop> loop_;
    const std::shared_ptr<detail::slow_threads> slow_threads_ = detail::process_wide<detail::slow_threads>();
    const std::shared_ptr<User> user_;
    const std::shared_ptr<connection> connection_;
};

}  // namespace baton::resp
