#include "server_connection.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace baton::redis {
namespace {

[[noreturn]] void fail(const char* call, int error) { throw std::system_error(error, std::generic_category(), call); }

}  // namespace

server_connection::server_connection(const std::string& socket) {
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const int error = errno;
        ::close(socket_);
        fail("connect", error);
    }
    ask({"HELLO", "3"});
}

server_connection::~server_connection() { ::close(socket_); }

void server_connection::send(const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
        const auto count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail("send", errno);
        sent += static_cast<std::size_t>(count);
    }
}

resp::value server_connection::next() {
    std::array<char, 65536> buffer{};
    for (;;) {
        if (auto value = decoder_.next()) return std::move(*value);
        if (decoder_.fault() != resp::fault::none) fail("decode", EBADMSG);
        const auto count = ::recv(socket_, buffer.data(), buffer.size(), 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) fail("recv", count < 0 ? errno : ECONNRESET);
        decoder_.feed({buffer.data(), static_cast<std::size_t>(count)});
    }
}

resp::value server_connection::answer() {
    for (;;) {
        resp::value value = next();
        if (value.kind != resp::kind::push) return value;
        pushed_.push_back(std::move(value));
    }
}

resp::value server_connection::ask(const std::vector<std::string>& words) {
    std::string out;
    resp::encode_command(out, words);
    send(out);
    return answer();
}

// Messages that the server has published so far arrive before the reply to a ping.
std::vector<resp::value> server_connection::pushed() {
    ask({"PING"});
    return std::exchange(pushed_, {});
}

}  // namespace baton::redis
