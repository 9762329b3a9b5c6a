// How often a connection reconnects: the back-off by itself, and with servers that accept, reply and disconnect.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <thread>

#include "../eventually.hpp"
#include "../folder.hpp"
#include "../sockets.hpp"
#include "base/process_wide.hpp"
#include "baton/error.hpp"
#include "stores/resp/backoff.hpp"
#include "stores/resp/connection.hpp"

namespace baton::resp {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST(Backoff, DoublesTheDelayWithEachFailureUpToOneSecond) {
    backoff backoff;
    for (const auto delay : {1ms, 2ms, 4ms, 8ms, 16ms, 32ms, 64ms, 128ms, 256ms, 512ms, 1'000ms, 1'000ms})
        EXPECT_EQ(backoff.delay_after({.up = {}, .answered = false}, 512), delay);
}

TEST(Backoff, SpreadsDelaysByHalf) {
    EXPECT_EQ(backoff{}.delay_after({.up = {}, .answered = false}, 0), 500us);
    EXPECT_GT(backoff{}.delay_after({.up = {}, .answered = false}, 1'023), 1'490us);
}

TEST(Backoff, IsNotResetByAHandshakeAlone) {
    backoff backoff;
    for (const auto delay : {1ms, 2ms, 4ms})
        EXPECT_EQ(backoff.delay_after({.up = 1h, .answered = false}, 512), delay) << "for any uptime";
}

TEST(Backoff, IsResetByAUsefulConnection) {
    backoff backoff;
    for (int i = 0; i < 5; ++i) static_cast<void>(backoff.delay_after({.up = {}, .answered = false}, 512));
    EXPECT_EQ(backoff.delay_after({.up = 1s, .answered = true}, 512), 0ms) << "the first attempt is made at once";
    EXPECT_EQ(backoff.delay_after({.up = {}, .answered = false}, 512), 1ms);
}

TEST(Backoff, AlsoDelaysAfterAConnectionThatRepliedAndBrokeSoon) {
    backoff backoff;
    for (const auto delay : {5ms, 10ms, 20ms, 40ms, 50ms, 50ms})
        EXPECT_EQ(backoff.delay_after({.up = 999ms, .answered = true}, 512), delay);
    EXPECT_EQ(backoff.delay_after({.up = {}, .answered = false}, 512), 50ms) << "nor does a failure help";
    EXPECT_EQ(backoff.delay_after({.up = 999ms, .answered = true}, 512), 50ms);
    EXPECT_EQ(backoff.delay_after({.up = 1s, .answered = true}, 512), 0ms);
    EXPECT_EQ(backoff.delay_after({.up = 999ms, .answered = true}, 512), 5ms);
}

/// Completes every handshake, replies to that many requests, and disconnects.
class hasty_server {
public:
    hasty_server(endpoint here, int answers) : listening_{listen_at(here)}, answers_{answers} {
        thread_ = std::thread{[this] { serve(); }};
    }
    hasty_server(const hasty_server&) = delete;
    hasty_server& operator=(const hasty_server&) = delete;
    ~hasty_server() {
        stopped_ = true;
        thread_.join();
        close(listening_);
    }
    [[nodiscard]] int connections() const { return connections_; }

private:
    void serve() {
        while (!stopped_) {
            pollfd ready{listening_, POLLIN, 0};
            if (poll(&ready, 1, 10) != 1) continue;
            const int peer = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
            if (peer < 0) continue;
            for (int i = 0; i <= answers_; ++i) {
                std::array<char, 64> words{};
                if (recv(peer, words.data(), words.size(), 0) <= 0) break;
                if (send(peer, "+yes\r\n", 6, MSG_NOSIGNAL) != 6) break;
            }
            close(peer);
            ++connections_;
        }
    }

    const int listening_;
    const int answers_;
    std::atomic<int> connections_{0};
    std::atomic<bool> stopped_{false};
    std::thread thread_;
};

/// Connects once, and then has a server that cannot be reached, always for the same reason. Counts the calls of `down`.
class lonely_connection final : public connection {
public:
    lonely_connection(detail::event_loop& loop, endpoint server) : connection{loop, {}}, server_{std::move(server)} {}

    void open_socket(socket_result done) override {
        if (attempts_++ == 0) return done({connect_to(server_), {}, false});
        done({-1, {errc::store_unavailable, "the server closed the connection"}});
    }
    handshake_step begin_handshake() override { return {.send = "hello\r\n"}; }
    handshake_step continue_handshake(const value&) override { return {.epoch = 1}; }
    void up(epoch) override { send("question\r\n", std::array{command_tag{7}}); }
    void down(const store_error&) override { ++downs_; }
    void permanent(const store_error&) override {}
    void answered(command_tag, const value&) override {}
    void pushed(const value&) override {}

    [[nodiscard]] int attempts() const { return attempts_; }
    [[nodiscard]] int downs() const { return downs_; }

private:
    const endpoint server_;
    std::atomic<int> attempts_{0};
    std::atomic<int> downs_{0};
};

// The first failed attempt to reconnect is an event of its own; later ones with the same reason are not.
TEST(Reconnect, ReportsTheLossAndTheFirstFailedAttempt) {
    const folder folder;
    const endpoint here{folder.path("server")};
    const hasty_server server{here, 0};
    const auto loop = detail::process_wide<detail::event_loop>();
    const auto connection = std::make_shared<lonely_connection>(*loop, here);
    connection->start();
    EXPECT_TRUE(eventually([&] { return connection->attempts() >= 5; }));
    connection->stop();
    EXPECT_EQ(connection->downs(), 2);
}

/// Sends one command on each connection, or resets it a given number of times.
class asking_connection final : public connection {
public:
    asking_connection(detail::event_loop& loop, endpoint server, int resets)
        : connection{loop, {}}, server_{std::move(server)}, resets_{resets} {}

    void open_socket(socket_result done) override { done({connect_to(server_), {}, false}); }
    handshake_step begin_handshake() override { return {.send = "hello\r\n"}; }
    handshake_step continue_handshake(const value&) override { return {.epoch = 1}; }
    void up(epoch) override {
        if (resets_ == 0) send("question\r\n", std::array{command_tag{7}});
        for (int i = 0; i < resets_; ++i) reset();
    }
    void down(const store_error&) override {}
    void permanent(const store_error&) override {}
    void answered(command_tag, const value&) override {}
    void pushed(const value&) override {}

private:
    const endpoint server_;
    const int resets_;
};

/// The time until that many connections have been made.
steady_clock::duration time_for(int connections, int answers, int resets = 0) {
    const folder place;
    const endpoint here{place.path("server")};
    const hasty_server server{here, answers};
    const auto loop = detail::process_wide<detail::event_loop>();
    const auto made = std::make_shared<asking_connection>(*loop, here, resets);
    const auto begun = steady_clock::now();
    made->start();
    EXPECT_TRUE(eventually([&] { return server.connections() >= connections; }));
    const auto taken = steady_clock::now() - begun;
    made->stop();
    return taken;
}

// Ten delays of 1 ms to 512 ms lie between the connections, each shortened by half at most.
TEST(Reconnect, BacksOffFromAServerThatDisconnectsAfterTheHandshake) { EXPECT_GE(time_for(11, 0), 500ms); }

// The delays are 5, 10, 20 and 40 ms and then 50 ms, each shortened by half at most.
TEST(Reconnect, BacksOffFromAServerThatRepliesOnceAndDisconnects) { EXPECT_GE(time_for(41, 1), 900ms); }

// The replies to several requests may each cause a reset of the same connection.
TEST(Reconnect, BacksOffIfItsUserResetsItSeveralTimes) { EXPECT_GE(time_for(11, 1, 3), 500ms); }

}  // namespace
}  // namespace baton::resp
