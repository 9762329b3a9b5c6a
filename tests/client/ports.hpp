// Ports of this machine on which no server replies.
#pragma once

#include <string>

#include "../sockets.hpp"

namespace baton::client_tests {

/// Refuses connections: the socket is bound, so that no other program gets the port, but does not listen.
class refusing_port {
public:
    refusing_port() : socket_{sockets::make(endpoint{std::uint16_t{0}})} {
        const auto call = [this](const sockaddr* at, socklen_t size) { return bind(socket_, at, size); };
        sockets::with_address(endpoint{std::uint16_t{0}}, call);
        sockaddr_in bound{};
        socklen_t size = sizeof bound;
        getsockname(socket_, static_cast<sockaddr*>(static_cast<void*>(&bound)), &size);
        number_ = ntohs(bound.sin_port);
    }
    refusing_port(const refusing_port&) = delete;
    refusing_port& operator=(const refusing_port&) = delete;
    ~refusing_port() { close(socket_); }

    [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(number_); }

private:
    int socket_;
    std::uint16_t number_ = 0;
};

/// Accepts connections, as the kernel does for every listening socket, and never replies.
class silent_port {
public:
    silent_port() : socket_{listen_at(where_)} {}
    silent_port(const silent_port&) = delete;
    silent_port& operator=(const silent_port&) = delete;
    ~silent_port() { close(socket_); }

    [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(where_.port); }

private:
    endpoint where_{std::uint16_t{0}};
    int socket_;
};

}  // namespace baton::client_tests
