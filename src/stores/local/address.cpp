#include "stores/local/address.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "baton/error.hpp"
#include "program/space_name.hpp"
#include "program/start_agent.hpp"
#include "stores/resp/socket_path.hpp"

namespace baton::detail {
namespace {

struct socket_name {
    sockaddr_un address{};
    socklen_t length = 0;
};

socket_name name_of(const local_address& address, uid_t user = geteuid()) {
    socket_name name;
    name.address.sun_family = AF_UNIX;
    // An abstract name starts with a zero byte, and has no zero byte at its end.
    const std::string text = address.is_own() ? std::string{'\0'} + "baton/" + std::to_string(user) : address.path;
    std::memcpy(name.address.sun_path, text.data(), text.size());
    name.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size() + (address.is_own() ? 0 : 1));
    return name;
}

std::error_code last_error() { return {errno, std::generic_category()}; }

const sockaddr* generic(const socket_name& name) {
    return static_cast<const sockaddr*>(static_cast<const void*>(&name.address));
}

int give_up(int socket, std::error_code why, std::error_code& error) {
    if (socket >= 0) close(socket);
    error = why;
    return -1;
}

std::filesystem::path folder_of(const local_address& address) {
    return std::filesystem::path{address.path}.parent_path();
}

/// A server sees the names that its clients lock, and could grant one lock to all of them, so clients accept only users
/// whom they trust. Any user can listen on a free abstract name, and in a folder like /tmp.
bool may_serve(const local_address& address, uid_t server) {
    if (server == geteuid()) return true;
    if (address.is_own()) return false;
    struct stat folder {};
    return server == 0 || (stat(folder_of(address).c_str(), &folder) == 0 && folder.st_uid == server);
}

std::string foreign_server(const local_address& address, const ucred& server) {
    const std::string process =
        server.pid == 0 ? "a process of another PID namespace" : "process " + std::to_string(server.pid);
    const std::string text = address.url() + " is taken by " + process + " of user " + std::to_string(server.uid);
    if (address.is_own()) return text;
    return text + ", which is neither this user nor root nor the owner of " + folder_of(address).string();
}

std::string closed_socket(const local_address& address) {
    struct stat found {};
    if (stat(address.path.c_str(), &found) != 0) return {};
    return "the socket " + address.path + " of user " + std::to_string(found.st_uid) + " is closed to user " +
           std::to_string(geteuid());
}

}  // namespace

local_address parse_local_address(std::string_view text) {
    local_address address;
    const std::size_t query = text.find('?');
    const std::string_view path = text.substr(0, query);
    if (query != std::string_view::npos) {
        constexpr std::string_view key = "space=";
        const std::string_view parameter = text.substr(query + 1);
        if (!parameter.starts_with(key))
            throw error{errc::bad_url, {}, "after the ? of a local: address only space=NAME may follow"};
        address.space = parameter.substr(key.size());
    }
    if (!valid_space(address.space)) throw error{errc::bad_url, {}, space_rule};
    if (path.empty()) return address;
    if (path.find('\0') != std::string_view::npos) throw error{errc::bad_url, {}, "a zero byte in the path of local:"};
    address.path = resp::socket_path(path);
    if (!resp::fits_socket(address.path))
        throw error{errc::bad_url, {}, "the path of local: is too long for a socket: at most 107 bytes"};
    return address;
}

int connect_local(const local_address& address, std::error_code& error, std::string& why) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return give_up(socket, last_error(), error);
    const socket_name name = name_of(address);
    if (connect(socket, generic(name), name.length) != 0) {
        const std::error_code failed = last_error();
        if (failed != std::errc::permission_denied) return give_up(socket, failed, error);
        why = closed_socket(address);
        return give_up(socket, errc::not_permitted, error);
    }
    ucred server{};
    socklen_t size = sizeof server;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &server, &size) != 0) return give_up(socket, last_error(), error);
    if (may_serve(address, server.uid)) return socket;
    why = foreign_server(address, server);
    return give_up(socket, errc::not_permitted, error);
}

std::error_code reach_agent(const local_address& address, std::string& why) {
    std::error_code error;
    if (const int socket = connect_local(address, error, why); socket >= 0) close(socket);
    return error;
}

std::optional<pid_t> listener_at(const local_address& address, uid_t user, std::error_code& error) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const socket_name name = name_of(address, user);
    ucred peer{};
    socklen_t size = sizeof peer;
    const bool known = socket >= 0 && connect(socket, generic(name), name.length) == 0 &&
                       getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    give_up(socket, known ? std::error_code{} : last_error(), error);
    return known ? std::optional{peer.pid} : std::nullopt;
}

int listen_local(const local_address& address, mode_t mode, std::error_code& error) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return give_up(socket, last_error(), error);
    const socket_name name = name_of(address);
    if (!address.is_own()) {
        struct stat found {};
        if (lstat(address.path.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode))
            return give_up(socket, std::make_error_code(std::errc::file_exists), error);
        // An agent of this user would hold the lock that the caller has taken. Other processes may listen here.
        std::string ignored;
        const int other = connect_local(address, error, ignored);
        if (other >= 0) close(other);
        if (other >= 0 || error == std::errc::resource_unavailable_try_again || error == errc::not_permitted)
            return give_up(socket, std::make_error_code(std::errc::address_in_use), error);
        error.clear();
        unlink(address.path.c_str());
        // umask sets the mode before any client can connect.
        const mode_t before = umask(0777 & ~mode);
        const int bound = bind(socket, generic(name), name.length);
        const std::error_code why = last_error();
        umask(before);
        if (bound != 0) return give_up(socket, why, error);
    } else if (bind(socket, generic(name), name.length) != 0) {
        return give_up(socket, last_error(), error);
    }
    if (listen(socket, SOMAXCONN) != 0) return give_up(socket, last_error(), error);
    return socket;
}

}  // namespace baton::detail
