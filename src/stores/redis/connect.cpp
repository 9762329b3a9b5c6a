#include "stores/redis/connect.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/process_wide.hpp"
#include "base/slow_work.hpp"
#include "baton/error.hpp"
#include "stores/redis/credentials.hpp"
#include "stores/redis/refusals.hpp"

namespace baton::detail {
namespace {

resp::opened_socket not_opened(const redis_address& address, const redis::symptom& why) {
    return {-1, redis::refused(address, why).error};
}

resp::opened_socket connect_unix(const redis_address& address) {
    const std::string& path = address.path;
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.data(), path.size());
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket >= 0 && connect(socket, static_cast<sockaddr*>(static_cast<void*>(&name)), sizeof name) == 0)
        return {socket};
    const int why = errno;
    if (socket >= 0) close(socket);
    return not_opened(address, {redis::origin::system, {}, why});
}

using found_addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Blocks on the name service, unless the host is a numeric address.
found_addresses look_up(const std::string& host, const std::string& port, int flags, int& error) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV | flags;
    addrinfo* found = nullptr;
    error = getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
    return {found, &freeaddrinfo};
}

/// Tries the addresses of a host in order.
class tcp_connect final : public event_source, public std::enable_shared_from_this<tcp_connect> {
public:
    tcp_connect(std::shared_ptr<event_loop> loop, const redis_address& address, resp::socket_result done)
        : loop_{std::move(loop)}, address_{address}, port_{std::to_string(address.port)}, done_{std::move(done)} {}

    void start() {
        timer_.emplace(*loop_, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->fail({redis::origin::system, {}, ETIMEDOUT});
        });
        timer_->set_after(address_.connect_timeout);
        int error = 0;
        if (auto found = look_up(address_.host, port_, AI_NUMERICHOST, error)) {
            looked_up result{std::move(found)};
            return use(result);
        }
        run_slow_work(
            process_wide<slow_threads>(),
            [self = shared_from_this()] {
                looked_up result;
                result.addresses = look_up(self->address_.host, self->port_, 0, result.error);
                return std::make_shared<looked_up>(std::move(result));
            },
            [self = shared_from_this()](const std::shared_ptr<looked_up>& result) {
                self->loop_->post([self, result] { self->use(*result); });
            });
    }

private:
    struct looked_up {
        found_addresses addresses{nullptr, &freeaddrinfo};
        int error = 0;
    };

    void use(looked_up& result) {
        if (!done_) return;  // timed out
        if (result.error != 0) return fail({redis::origin::lookup, {}, result.error});
        found_ = std::move(result.addresses);
        next_ = found_.get();
        try_next({redis::origin::lookup});
    }

    void try_next(redis::symptom why) {
        for (; next_ != nullptr; next_ = next_->ai_next) {
            socket_ = descriptor{
                ::socket(next_->ai_family, next_->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, next_->ai_protocol)};
            if (socket_.is_open() && connect(socket_.get(), next_->ai_addr, next_->ai_addrlen) == 0) return succeed();
            int failed = errno;
            if (socket_.is_open() && failed == EINPROGRESS) {
                failed = loop_->watch(socket_.get(), EPOLLOUT, shared_from_this()).value();
                if (failed == 0) return;
            }
            why = {redis::origin::system, {}, failed};
        }
        fail(why);
    }

    void ready(std::uint32_t /*events*/) override {
        int error = 0;
        socklen_t size = sizeof error;
        getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        loop_->forget(socket_.get());
        if (error == 0) return succeed();
        next_ = next_->ai_next;
        try_next({redis::origin::system, {}, error});
    }

    void succeed() {
        const int on = 1;
        setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        // A client that renews notices a silent server by missing replies. Keep-alive is for the other clients.
        setsockopt(socket_.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        finish({std::exchange(socket_, descriptor{}).release()});
    }

    void finish(resp::opened_socket made) {
        if (socket_.is_open()) loop_->forget(socket_.get());
        socket_ = {};
        timer_.reset();
        if (const auto done = std::exchange(done_, nullptr)) done(std::move(made));
    }

    void fail(const redis::symptom& why) { finish(not_opened(address_, why)); }

    const std::shared_ptr<event_loop> loop_;  // first: destroyed after the members below, and `done_` owns a connection
    const redis_address address_;
    const std::string port_;
    resp::socket_result done_;
    std::optional<event_loop::timer> timer_;
    found_addresses found_{nullptr, &freeaddrinfo};
    addrinfo* next_ = nullptr;
    descriptor socket_;
};

}  // namespace

void connect_redis(event_loop& loop, redis_address& address, resp::socket_result done) {
    load_credentials(
        loop, address,
        [&loop, &address, done = std::move(done)](const store_error& error,
                                                  std::shared_ptr<resp::encryption> encryption) {
            if (error.code) return done({-1, error, error.code == errc::tls_failed || error.code == errc::unsupported});
            if (!address.path.empty()) return done(connect_unix(address));
            const auto encrypted = [done, encryption = std::move(encryption)](resp::opened_socket made) {
                made.encryption = encryption;
                done(std::move(made));
            };
            if (auto kept = loop.kept()) std::make_shared<tcp_connect>(std::move(kept), address, encrypted)->start();
        });
}

}  // namespace baton::detail
