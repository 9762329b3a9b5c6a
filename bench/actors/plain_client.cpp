#include "bench/actors/plain_client.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "exit_codes.hpp"
#include "failure.hpp"
#include "stores/redis/address.hpp"
#include "stores/redis/handshake.hpp"
#include "stores/redis/refusals.hpp"

namespace baton::bench {
namespace {

int connect_unix(const std::string& path) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.data(), path.size());
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0 || connect(made, static_cast<sockaddr*>(static_cast<void*>(&name)), sizeof name) == 0) return made;
    close(made);
    return -1;
}

int connect_network(const detail::redis_address& address) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found) != 0) return -1;
    int made = -1;
    for (const addrinfo* each = found; each != nullptr && made < 0; each = each->ai_next) {
        made = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (made < 0 || connect(made, each->ai_addr, each->ai_addrlen) == 0) continue;
        close(made);
        made = -1;
    }
    freeaddrinfo(found);
    const int on = 1;
    if (made >= 0) setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return made;
}

[[noreturn]] void fail(const detail::redis_address& address, const std::string& why) {
    throw cli::failure{cli::exit_code::unreachable, address.shown() + ": " + why};
}

}  // namespace

plain_client::plain_client(const std::string& url) {
    const detail::redis_address address = detail::parse_redis_address(url);
    socket_ = address.path.empty() ? connect_network(address) : connect_unix(address.path);
    if (socket_ < 0) fail(address, "cannot be reached");
    const timeval timeout{30, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    std::string ping;
    resp::encode_command(ping, {"PING"});
    redis::handshake handshake{address, redis::no_scripts, ping,
                               [&address](const resp::value& answer) -> resp::handshake_step {
                                   if (answer.kind == resp::kind::error)
                                       return redis::refused(address, {redis::origin::reply, answer.text});
                                   return {};
                               }};
    resp::handshake_step step = handshake.begin();
    while (!step.error.code && !step.send.empty()) {
        write(step.send);
        step = handshake.answered(receive());
    }
    if (step.error.code) throw cli::failure{cli::exit_code::unreachable, step.error.text};
}

plain_client::~plain_client() { close(socket_); }

resp::value plain_client::call(const std::vector<std::string>& words) {
    send(words);
    return answer();
}

void plain_client::send(const std::vector<std::string>& words) {
    std::string bytes;
    resp::encode_command(bytes, words);
    write(bytes);
}

void plain_client::write(std::string_view bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t sent = ::send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (sent <= 0) throw cli::failure{cli::exit_code::unreachable, "the server has closed the connection"};
        done += static_cast<std::size_t>(sent);
    }
}

resp::value plain_client::receive() {
    for (;;) {
        if (auto message = decoder_.next()) return std::move(*message);
        std::array<char, 16'384> buffer{};
        const ssize_t size = recv(socket_, buffer.data(), buffer.size(), 0);
        if (size <= 0) throw cli::failure{cli::exit_code::unreachable, "the server does not reply"};
        decoder_.feed({buffer.data(), static_cast<std::size_t>(size)});
    }
}

resp::value plain_client::answer() {
    for (;;) {
        resp::value received = receive();
        if (received.kind != resp::kind::push) return received;
        pushed_.push_back(std::move(received));
    }
}

std::vector<resp::value> plain_client::pushed() {
    call({"PING"});  // the reply arrives after all messages that were published before
    return std::exchange(pushed_, {});
}

}  // namespace baton::bench
