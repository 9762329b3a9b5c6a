// Stream sockets for tests: at a path, or at a port of this machine.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace baton {

struct endpoint {
    std::string path;        // of a Unix socket; empty: use the port
    std::uint16_t port = 0;  // of 127.0.0.1; 0 to listen at any free port

    endpoint(std::string path) : path{std::move(path)} {}
    endpoint(const char* path) : path{path} {}
    explicit endpoint(std::uint16_t port) : port{port} {}
};

namespace sockets {

/// Calls a function of sockets with the address.
template <typename Function> int with_address(const endpoint& where, Function function) {
    if (where.path.empty()) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(where.port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return function(static_cast<sockaddr*>(static_cast<void*>(&address)), socklen_t{sizeof address});
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (where.path.size() >= sizeof address.sun_path) throw std::runtime_error{"too long for a socket: " + where.path};
    std::memcpy(address.sun_path, where.path.data(), where.path.size());
    return function(static_cast<sockaddr*>(static_cast<void*>(&address)), socklen_t{sizeof address});
}

inline int make(const endpoint& where) {
    const int made = socket(where.path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) throw std::runtime_error{"no socket"};
    return made;
}

/// Disables Nagle's algorithm, so that slices stay slices and replies are sent at once.
inline void send_at_once(int socket) {
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);  // fails on a Unix socket, which does anyway
}

}  // namespace sockets

/// -1 if nothing listens there.
inline int connect_to(const endpoint& where) {
    const int made = sockets::make(where);
    const auto call = [made](const sockaddr* address, socklen_t size) { return connect(made, address, size); };
    if (sockets::with_address(where, call) == 0) {
        sockets::send_at_once(made);
        return made;
    }
    close(made);
    return -1;
}

/// A listening socket; sets the port if it was 0.
inline int listen_at(endpoint& where) {
    const int made = sockets::make(where);
    const int yes = 1;
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const auto call = [made](const sockaddr* address, socklen_t size) { return bind(made, address, size); };
    if (sockets::with_address(where, call) != 0 || listen(made, SOMAXCONN) != 0) {
        close(made);
        throw std::runtime_error{"cannot listen at " + where.path + std::to_string(where.port)};
    }
    if (where.path.empty()) {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        getsockname(made, static_cast<sockaddr*>(static_cast<void*>(&address)), &size);
        where.port = ntohs(address.sin_port);
    }
    return made;
}

inline bool answers(const endpoint& where) {
    const int socket = connect_to(where);
    if (socket >= 0) close(socket);
    return socket >= 0;
}

}  // namespace baton
