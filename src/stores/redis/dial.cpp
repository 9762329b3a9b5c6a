#include "stores/redis/dial.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <asio/connect.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>

#include "baton/error.hpp"

namespace baton::detail {
namespace {

using asio::ip::tcp;

resp::dialled dial_unix(const std::string& path) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.data(), path.size());
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket >= 0 && connect(socket, static_cast<sockaddr*>(static_cast<void*>(&name)), sizeof name) == 0)
        return {socket, {}};
    const std::error_code why{errno, std::generic_category()};
    if (socket >= 0) close(socket);
    return {-1, why == std::errc::permission_denied ? make_error_code(errc::not_permitted) : why};
}

struct tcp_attempt {
    tcp_attempt(asio::io_context& context, resp::dial_result result)
        : resolver{context}, socket{context}, done{std::move(result)} {}

    void finish(std::error_code error) {
        resp::dialled made{-1, error};
        std::error_code ignored;
        if (!error) {
            socket.set_option(tcp::no_delay{true}, ignored);
            // Silence is noticed by unanswered renewals; this is for a client that has nothing to renew.
            socket.set_option(asio::socket_base::keep_alive{true}, ignored);
            made.socket = socket.release(made.error);
        }
        done(made);
    }

    tcp::resolver resolver;
    tcp::socket socket;
    resp::dial_result done;
};

}  // namespace

void dial_redis(asio::io_context& context, const redis_address& address, resp::dial_result done) {
    if (!address.path.empty()) return done(dial_unix(address.path));
    const auto attempt = std::make_shared<tcp_attempt>(context, std::move(done));
    attempt->resolver.async_resolve(
        address.host, std::to_string(address.port),
        [attempt](std::error_code error, const tcp::resolver::results_type& found) {
            if (error) return attempt->finish(error);
            asio::async_connect(attempt->socket, found,
                                [attempt](std::error_code why, const tcp::endpoint&) { attempt->finish(why); });
        });
}

}  // namespace baton::detail
