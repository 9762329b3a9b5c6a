// A connection over a pair of sockets; the test is the peer.
#include "stores/resp/connection.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <condition_variable>
#include <optional>

#include "base/process_wide.hpp"

namespace baton::resp {
namespace {

using namespace std::chrono_literals;

constexpr std::array<command_tag, 1> seven{7};

/// Connects once; the test can wait for its events.
class heard final : public connection {
public:
    heard(detail::event_loop& loop, int socket) : connection{loop, {}}, socket_{socket} {}

    void open_socket(socket_result done) override { done({std::exchange(socket_, -1), {}, false}); }
    handshake_step begin_handshake() override { return {.send = "hello\r\n"}; }
    handshake_step continue_handshake(const value&) override { return {.epoch = 1}; }
    void up(epoch) override { set(up_); }
    void down(const store_error&) override { set(down_); }
    void permanent(const store_error&) override {}
    void answered(command_tag tag, const value&) override { set(answered_, tag); }
    void pushed(const value&) override {}

    bool wait_for_up() { return wait(up_); }
    bool wait_for_down() { return wait(down_); }
    bool wait_for_answer() { return wait(answered_); }

private:
    void set(std::optional<command_tag>& what, command_tag tag = 0) {
        const std::lock_guard lock{mutex_};
        what = tag;
        changed_.notify_all();
    }
    bool wait(const std::optional<command_tag>& what) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, 10s, [&] { return what.has_value(); });
    }

    int socket_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<command_tag> up_;
    std::optional<command_tag> down_;
    std::optional<command_tag> answered_;
};

class RespConnection : public testing::Test {
protected:
    /// Messages of a sequenced packet socket have a maximum size, so a larger send fails without a disconnect.
    void connect(int type) {
        std::array<int, 2> ends{};
        ASSERT_EQ(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()), 0);
        other_end_ = ends[1];
        connection_ = std::make_shared<heard>(*loop_, ends[0]);
        connection_->start();
        say("+welcome\r\n");
        ASSERT_TRUE(connection_->wait_for_up());
    }
    void TearDown() override {
        if (connection_) connection_->stop();
        close(other_end_);
    }
    void say(std::string_view bytes) {
        ASSERT_EQ(::send(other_end_, bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
    }

    const std::shared_ptr<detail::event_loop> loop_ = detail::process_wide<detail::event_loop>();  // destroyed last
    int other_end_ = -1;
    std::shared_ptr<heard> connection_;
};

TEST_F(RespConnection, RepliesAreMatchedToTheirCommands) {
    connect(SOCK_STREAM);
    ASSERT_TRUE(connection_->send("*1\r\n$4\r\nPING\r\n", seven));
    say("+PONG\r\n");
    EXPECT_TRUE(connection_->wait_for_answer());
}

// The rest of the message would be parsed as the beginning of the next one.
TEST_F(RespConnection, ASendThatFailsEndsIt) {
    connect(SOCK_SEQPACKET);
    EXPECT_TRUE(connection_->send(std::string(8U << 20U, 'x'), seven));
    EXPECT_TRUE(connection_->wait_for_down());
    EXPECT_FALSE(connection_->send("more", seven));
}

// The data kept for a server that does not read are bounded.
TEST_F(RespConnection, AServerThatDoesNotReadEndsIt) {
    connect(SOCK_STREAM);
    const std::string bytes(1U << 20U, 'x');
    std::size_t sent = 0;
    while (connection_->send(bytes, seven) && sent <= 2 * most_unsent) sent += bytes.size();
    EXPECT_GE(sent, most_unsent);
    EXPECT_LE(sent, 2 * most_unsent);
    EXPECT_TRUE(connection_->wait_for_down());
}

TEST_F(RespConnection, ADisconnectEndsIt) {
    connect(SOCK_STREAM);
    close(std::exchange(other_end_, -1));
    EXPECT_TRUE(connection_->wait_for_down());
}

TEST_F(RespConnection, AnUnexpectedReplyEndsIt) {
    connect(SOCK_STREAM);
    say("+PONG\r\n");
    EXPECT_TRUE(connection_->wait_for_down());
}

}  // namespace
}  // namespace baton::resp
