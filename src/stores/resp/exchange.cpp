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
    while (!failed_.code) {
        if (const value* const message = stream_.next()) {
            if (message->kind != kind::push) return *message;
        } else if (stream_.fault() != fault::none) {
            fail({errc::store_unavailable, "this is not the Redis protocol"});
        } else if (!transfer(deadline)) {
            break;
        }
    }
    return {};
}

/// Sends what is to be sent, and receives once.
bool exchange::transfer(clock::time_point deadline) {
    if (stream_.flush() == sent::failed) fail({errc::store_unavailable, "the connection takes no more data"});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    pollfd ready{stream_.socket(), static_cast<short>(stream_.is_blocked() ? POLLIN | POLLOUT : POLLIN), 0};
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) == 0)
        fail({errc::store_unavailable,
              stream_.is_established()
                  ? "the server accepts connections and does not reply in time"
                  : "the server does not answer the TLS handshake; if this is not its TLS port, use redis://"});
    if (failed_.code) return false;
    if ((ready.revents & POLLOUT) != 0) stream_.unblock();
    if ((ready.revents & ~POLLOUT) == 0) return true;
    const received got = stream_.receive();
    if (got.size == 0) fail({errc::store_unavailable, "the server closed the connection"});
    if (got.size < 0 && errno != EAGAIN) fail({errc::store_unavailable, std::generic_category().message(errno)});
    if (got.error.code) fail(got.error);
    return !failed_.code;
}

void exchange::fail(store_error why) {
    if (!failed_.code) failed_ = std::move(why);
}

}  // namespace baton::resp
