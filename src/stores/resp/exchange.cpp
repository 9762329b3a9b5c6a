#include "stores/resp/exchange.hpp"

#include <poll.h>

#include <cerrno>
#include <utility>

#include "baton/error.hpp"

namespace baton::resp {

std::optional<value> exchange::ask(const std::string& bytes, clock::time_point deadline) {
    stream_.out() += bytes;
    return next(deadline);
}

std::vector<value> exchange::ask(const std::vector<command>& commands, clock::time_point deadline) {
    std::vector<value> replies;
    for (const command& each : commands) encode_command(stream_.out(), each);
    while (replies.size() < commands.size()) {
        std::optional<value> reply = next(deadline);
        if (!reply) break;
        replies.push_back(std::move(*reply));
    }
    return replies;
}

std::optional<value> exchange::next(clock::time_point deadline) {
    while (!failed_) {
        if (const value* const message = stream_.next()) {
            was_answered_ = true;
            if (message->kind != kind::push) return *message;
        } else if (stream_.fault() != fault::none) {
            fail(breakage::other_protocol);
        } else if (!transfer(deadline)) {
            break;
        }
    }
    return {};
}

/// Sends what is to be sent, and receives once.
bool exchange::transfer(clock::time_point deadline) {
    if (stream_.flush() == sent::failed) fail(breakage::failed, std::make_error_code(std::errc::no_buffer_space));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    pollfd ready{stream_.socket(), static_cast<short>(stream_.is_blocked() ? POLLIN | POLLOUT : POLLIN), 0};
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) == 0)
        fail(stream_.is_established() ? breakage::silent : breakage::tls_silent);
    if (failed_) return false;
    if ((ready.revents & POLLOUT) != 0) stream_.unblock();
    if ((ready.revents & ~POLLOUT) == 0) return true;
    const received got = stream_.receive();
    if (got.size == 0) fail(breakage::closed);
    if (got.size < 0 && errno != EAGAIN) fail(breakage::failed, {errno, std::generic_category()});
    if (got.error.code && !failed_) failed_ = failure{{breakage::closed}, got.error};
    return !failed_;
}

void exchange::fail(breakage how, std::error_code system) {
    if (!failed_) failed_ = failure{{how, was_answered_, system, stream_.first_bytes()}};
}

}  // namespace baton::resp
