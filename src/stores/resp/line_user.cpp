#include "stores/resp/line_user.hpp"

#include <chrono>
#include <utility>

namespace baton::resp {
namespace {

/// A server is up in a moment, or not for long. Whoever makes a client waits that long, so that his first command finds
/// it up.
constexpr auto first_patience = std::chrono::seconds{1};
constexpr int most_patience = 6;  // as many times, while something is being started: a busy machine takes its time

}  // namespace

void line_user::up(lineage lineage) {
    if (const auto told = listener()) told->up(lineage);
    settle();
}

void line_user::down(std::error_code why) {
    if (const auto told = listener()) told->down({why});
}

void line_user::hopeless(std::error_code why) {
    {
        const std::lock_guard lock{mutex_};
        hopeless_ = why;
    }
    if (const auto told = listener()) told->up(0);
    settle();
}

std::error_code line_user::why_hopeless() {
    const std::lock_guard lock{mutex_};
    return hopeless_;
}

void line_user::refuse_if_hopeless(std::span<tagged_command> messages) {
    const auto why = why_hopeless();
    const auto told = listener();
    if (!why || !told) return;
    for (const tagged_command& each : messages) {
        if (const auto* close = std::get_if<protocol::close>(&each.command))
            told->replied(each.tag, 0, std::vector<protocol::event>{{{}, protocol::closed{close->session}}});
        else
            told->failed(each.tag, command_failure::rejected, {why});
    }
}

void line_user::wait_until_settled() {
    std::unique_lock lock{mutex_};
    for (int times = 0; times < most_patience; ++times)
        if (changed_.wait_for(lock, first_patience, [this] { return settled_; }) || !is_starting()) return;
}

void line_user::settle() {
    const std::lock_guard lock{mutex_};
    settled_ = true;
    changed_.notify_all();
}

connected_line::connected_line(std::shared_ptr<io_thread> thread, std::shared_ptr<line_user> user)
    : thread_{std::move(thread)},
      user_{std::move(user)},
      connection_{std::make_shared<resp::connection>(thread_->context(), user_)} {}

void connected_line::begin() {
    connection_->start();
    if (!thread_->is_this_thread()) user_->wait_until_settled();
}

}  // namespace baton::resp
