#include "stores/redis/doctor/probe.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <utility>

#include "base/event_loop.hpp"
#include "baton/error.hpp"
#include "stores/redis/connect.hpp"
#include "stores/redis/handshake.hpp"
#include "stores/redis/refusals.hpp"
#include "stores/redis/reply_class.hpp"

namespace baton::redis {
namespace {

constexpr resp::bounds reply_bounds{.bulk = 4U << 20U, .values = 1U << 18U, .message = 16U << 20U};

}  // namespace

probe::probe(detail::redis_address& address) : address_{address}, exchange_{reply_bounds} {}

store_error probe::connect() {
    const auto loop = std::make_shared<detail::event_loop>(detail::event_loop::without_thread{});
    resp::opened_socket opened;
    loop->post([&] {
        detail::connect_redis(*loop, address_, [&](resp::opened_socket made) {
            opened = std::move(made);
            loop->stop();
        });
    });
    loop->run();
    if (opened.error.code) return opened.error;
    encryption_ = opened.encryption;
    exchange_.open(descriptor{opened.socket}, std::move(opened.encryption));
    return {};
}

store_error probe::log_in(clock::time_point deadline) {
    resp::handshake_step end;
    std::string last;
    resp::encode_command(last, {"TIME"});  // Baton's user may run it; otherwise the check of rights reports it
    handshake handshake{address_, {}, last, [this](const resp::value& reply) -> resp::handshake_step {
                            const bool is_denied = detail::classify(reply.text) == detail::reply_class::denied;
                            if (reply.kind != resp::kind::error || is_denied) return {};
                            return refused(address_, {origin::reply, reply.text});
                        }};
    resp::handshake_step step = handshake.begin();
    while (!step.send.empty() && !step.error.code) {
        const std::optional<resp::value> reply = exchange_.ask(step.send, deadline);
        if (!reply) return failed();
        step = handshake.answered(*reply);
    }
    in_cluster_ = handshake.in_cluster();
    return step.error;
}

store_error probe::log_in_to_sentinel(clock::time_point deadline) {
    std::string hello;
    say_hello(hello, address_);
    const std::optional<resp::value> reply = exchange_.ask(hello, deadline);
    if (!reply) return failed();
    return reply->kind == resp::kind::error ? refused(address_, {origin::reply, reply->text}).error : store_error{};
}

store_error probe::failed() const {
    const auto& why = exchange_.failed();
    if (!why) return {};
    return why->tls.code ? why->tls : refused(address_, why->broken).error;
}

bool probe::is_on_this_machine() const {
    if (!address_.path.empty()) return true;
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    auto* const generic = static_cast<sockaddr*>(static_cast<void*>(&peer));
    if (getpeername(exchange_.socket(), generic, &size) != 0) return false;
    if (peer.ss_family == AF_INET) {
        const auto& name = *static_cast<const sockaddr_in*>(static_cast<const void*>(&peer));
        return ntohl(name.sin_addr.s_addr) >> 24U == 127;
    }
    const auto& name = *static_cast<const sockaddr_in6*>(static_cast<const void*>(&peer));
    if (IN6_IS_ADDR_LOOPBACK(&name.sin6_addr)) return true;
    return IN6_IS_ADDR_V4MAPPED(&name.sin6_addr) && name.sin6_addr.s6_addr[12] == 127;
}

std::optional<resp::encryption_details> probe::encryption() const {
    if (!encryption_) return {};
    return encryption_->details();
}

}  // namespace baton::redis
