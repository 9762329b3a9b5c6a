#include "proxy.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace baton::redis_tests {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct chunk {
    clock::time_point due;
    std::string bytes;
};

/// One direction of a connection.
struct channel {
    int from;
    int to;
    std::deque<chunk> waiting = {};
    bool ended = false;  // the source has ended
    bool last = false;   // reset the connection once the waiting bytes are delivered
};

struct connection {
    channel request;
    channel reply;
    bool held = false;       // its requests are held back
    bool abandoned = false;  // its client is gone; the held requests are still to be delivered
};

void close_with_reset(int socket) {
    const linger now{1, 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);  // on a Unix socket every close is as abrupt
    close(socket);
}

/// The bytes that were sent and not yet read.
bool is_clear(int socket) {
    int bytes = 0;
    return ioctl(socket, SIOCOUTQ, &bytes) != 0 || bytes == 0;
}

}  // namespace

class proxy::loop {
public:
    loop(endpoint server, endpoint here)
        : here_{std::move(here)},
          listener_{listen_at(here_)},
          wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
          server_{std::move(server)} {
        fcntl(listener_, F_SETFL, O_NONBLOCK);
        thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
    }
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;
    ~loop() {
        thread_.request_stop();
        wake();
        thread_.join();
        for (connection& each : connections_) drop(each);
        close(listener_);
        close(wake_);
    }

    [[nodiscard]] const endpoint& at() const { return here_; }
    void set(const proxy_rules& rules) {
        const std::lock_guard guard{mutex_};
        rules_ = rules;
        for (connection& each : connections_) each.held = rules.late;
        wake();
    }
    void cut(const std::optional<proxy_rules>& from_now_on) {
        const std::lock_guard guard{mutex_};
        if (from_now_on) rules_ = *from_now_on;
        for (connection& each : connections_) lose_client(each);
        sweep();
        wake();
    }
    void move_to(endpoint server) {
        const std::lock_guard guard{mutex_};
        server_ = std::move(server);
        for (connection& each : connections_) lose_client(each);
        sweep();
        wake();
    }
    [[nodiscard]] counts seen() const {
        const std::lock_guard guard{mutex_};
        return counts_;
    }

private:
    void run(const std::stop_token& stop) {
        std::vector<pollfd> ready;
        while (!stop.stop_requested()) {
            const timespec timeout = prepare(ready);
            ppoll(ready.data(), ready.size(), &timeout, nullptr);
            std::uint64_t ignored = 0;
            [[maybe_unused]] const ssize_t woken = read(wake_, &ignored, sizeof ignored);
            const std::lock_guard guard{mutex_};
            accept_all();
            for (connection& each : connections_) {
                receive(each, each.request, true);
                receive(each, each.reply, false);
                deliver(each, each.request);
                deliver(each, each.reply);
                finish(each);
            }
            sweep();
        }
    }

    /// The descriptors to poll, and the timeout.
    timespec prepare(std::vector<pollfd>& ready) {
        const std::lock_guard guard{mutex_};
        ready.assign({{wake_, POLLIN, 0}, {listener_, POLLIN, 0}});
        clock::duration wait = 900ms;
        const auto now = clock::now();
        for (const connection& each : connections_)
            for (const channel* channel : {&each.request, &each.reply}) {
                if (channel->from >= 0 && !channel->ended && !channel->last)
                    ready.push_back({channel->from, POLLIN, 0});
                if (channel->waiting.empty() || (channel == &each.request && each.held)) continue;
                const auto due = channel->waiting.front().due;
                if (due > now)
                    wait = std::min(wait, due - now);
                else if (rules_.slice)
                    wait = std::min<clock::duration>(wait, 50us);  // no event reports that a byte was read
                else
                    ready.push_back({channel->to, POLLOUT, 0});
            }
        return {0, static_cast<long>(std::chrono::nanoseconds{wait}.count())};
    }

    void accept_all() {
        for (;;) {
            const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (client < 0) return;
            const int server = rules_.refuse ? -1 : connect_to(server_);
            if (server < 0) {
                close_with_reset(client);
                continue;
            }
            fcntl(server, F_SETFL, O_NONBLOCK);
            if (here_.path.empty()) sockets::send_at_once(client);
            ++counts_.connections;
            connections_.push_back({{client, server}, {server, client}});
        }
    }

    void receive(connection& connection, channel& channel, bool is_request) {
        if (channel.from < 0 || channel.ended || channel.last) return;
        std::array<char, 16'384> buffer{};
        for (;;) {
            const ssize_t size = recv(channel.from, buffer.data(), buffer.size(), 0);
            if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
            if (size <= 0) {
                channel.ended = true;
                return;
            }
            std::string bytes{buffer.data(), static_cast<std::size_t>(size)};
            (is_request ? counts_.request_bytes : counts_.reply_bytes) += bytes.size();
            if (is_request ? rules_.swallow_requests : rules_.drop_replies || connection.abandoned) continue;
            auto& left = is_request ? rules_.reset_after_request : rules_.reset_after_reply;
            if (left && *left <= bytes.size()) {
                bytes.resize(*left);
                left.reset();
                channel.last = true;
                ++counts_.resets;
            } else if (left) {
                *left -= bytes.size();
            }
            if (!bytes.empty()) channel.waiting.push_back({clock::now() + rules_.delay, std::move(bytes)});
            if (channel.last) return;
        }
    }

    void deliver(connection& connection, channel& channel) {
        const bool is_request = &channel == &connection.request;
        while (!channel.waiting.empty() && !(is_request && connection.held)) {
            chunk& next = channel.waiting.front();
            if (next.due > clock::now() || (rules_.slice && !is_clear(channel.to))) return;
            const std::size_t most = rules_.slice ? 1 : next.bytes.size();
            const ssize_t sent = send(channel.to, next.bytes.data(), most, MSG_NOSIGNAL);
            if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
            if (sent < 0) {
                channel.waiting.clear();
                return;
            }
            next.bytes.erase(0, static_cast<std::size_t>(sent));
            if (next.bytes.empty()) channel.waiting.pop_front();
            if (!is_request && rules_.late && !connection.held) let_go();
        }
    }

    /// A newer connection has received a reply: delivers the held requests now.
    void let_go() {
        rules_.late = false;
        for (connection& each : connections_) {
            if (!each.held) continue;
            each.held = false;
            for (const chunk& chunk : each.request.waiting) counts_.late_bytes += chunk.bytes.size();
        }
        wake();
    }

    /// Closes a connection whose end is gone, or which is to be reset, once all its bytes are delivered.
    void finish(connection& connection) {
        for (const channel* channel : {&connection.request, &connection.reply}) {
            if (!channel->last || !channel->waiting.empty()) continue;
            close(channel->to);  // all bytes are delivered
            close_with_reset(channel->from);
            forget(connection);
            return;
        }
        if (connection.request.ended) {
            if (connection.held && !connection.request.waiting.empty()) return lose_client(connection);
            if (connection.request.waiting.empty()) drop(connection);
        } else if (connection.reply.ended && connection.reply.waiting.empty()) {
            drop(connection);
        }
    }

    void lose_client(connection& connection) {
        if (!connection.held || connection.request.waiting.empty()) return drop(connection);
        if (connection.abandoned) return;
        connection.abandoned = true;
        connection.request.ended = true;
        connection.reply.waiting.clear();
        close_with_reset(connection.request.from);
        connection.request.from = -1;
        connection.reply.to = -1;
    }

    static void drop(connection& connection) {
        if (connection.request.from >= 0) close_with_reset(connection.request.from);
        if (connection.request.to >= 0) close(connection.request.to);
        forget(connection);
    }
    static void forget(connection& connection) {
        connection.request.from = connection.request.to = connection.reply.from = connection.reply.to = -1;
    }
    void sweep() {
        std::erase_if(connections_, [](const connection& each) { return each.request.to < 0; });
    }

    void wake() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
    }

    endpoint here_;
    const int listener_;
    const int wake_;
    mutable std::mutex mutex_;
    endpoint server_;
    proxy_rules rules_;
    counts counts_;
    std::list<connection> connections_;
    std::jthread thread_;
};

proxy::proxy(endpoint server, endpoint here) : loop_{std::make_unique<loop>(std::move(server), std::move(here))} {}
proxy::~proxy() = default;
const endpoint& proxy::at() const { return loop_->at(); }
void proxy::set(const proxy_rules& rules) { loop_->set(rules); }
void proxy::cut() { loop_->cut(std::nullopt); }
void proxy::cut(const proxy_rules& from_now_on) { loop_->cut(from_now_on); }
void proxy::move_to(endpoint server) { loop_->move_to(std::move(server)); }
proxy::counts proxy::seen() const { return loop_->seen(); }

}  // namespace baton::redis_tests
