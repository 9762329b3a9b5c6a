// The proxy itself, between a raw client and a real server.
#include "proxy.hpp"

#include <gtest/gtest.h>

#include <array>

#include "private_server.hpp"

namespace baton::redis_tests {
namespace {

using namespace std::chrono_literals;

/// Each test runs over Unix sockets and over TCP.
class Proxy : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        if (!find_server()) GTEST_SKIP() << no_server;
        server = std::make_unique<private_server>(server_options{.tcp = GetParam()});
        proxy = GetParam() ? std::make_unique<redis_tests::proxy>(server->tcp(), endpoint{std::uint16_t{0}})
                           : std::make_unique<redis_tests::proxy>(server->at(), files.path("proxy"));
    }
    /// On a separate connection, without the proxy.
    [[nodiscard]] std::int64_t count() const {
        const auto answer = server->ask({"GET", "count"});
        return answer.text.empty() ? 0 : std::stoll(answer.text);
    }

    folder files;
    std::unique_ptr<private_server> server;
    std::unique_ptr<redis_tests::proxy> proxy;
    const std::string incr = resp_client::bytes_of({"INCR", "count"});
};

INSTANTIATE_TEST_SUITE_P(Both, Proxy, testing::Bool(), [](const auto& both) { return both.param ? "Tcp" : "Unix"; });

TEST_P(Proxy, PassesAllBytes) {
    resp_client client{proxy->at()};
    const std::string large(1'000'000, 'x');
    EXPECT_EQ(client.call({"ECHO", large}).value().text, large);
    EXPECT_EQ(proxy->seen().connections, 1U);
    EXPECT_GT(proxy->seen().request_bytes, large.size());
    EXPECT_GT(proxy->seen().reply_bytes, large.size());
}

TEST_P(Proxy, Delays) {
    resp_client client{proxy->at()};
    proxy->set({.delay = 30ms});
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(client.call({"PING"}));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 60ms) << "each way";
}

TEST_P(Proxy, DropsReplies) {
    resp_client client{proxy->at()};
    proxy->set({.drop_replies = true});
    ASSERT_TRUE(client.say({"INCR", "count"}));
    ASSERT_TRUE(eventually([&] { return proxy->seen().reply_bytes > 0; }));
    EXPECT_EQ(count(), 1) << "the server has acted";
    proxy->set({});
    EXPECT_EQ(client.call({"ECHO", "next"}).value().text, "next") << "the reply is lost, the connection stays open";
}

TEST_P(Proxy, SwallowsRequests) {
    resp_client client{proxy->at()};
    proxy->set({.swallow_requests = true});
    ASSERT_TRUE(client.say({"INCR", "count"}));
    ASSERT_TRUE(eventually([&] { return proxy->seen().request_bytes > 0; }));
    proxy->set({});
    EXPECT_EQ(client.call({"ECHO", "next"}).value().text, "next");
    EXPECT_EQ(count(), 0);
}

TEST_P(Proxy, SlicesToSingleBytes) {
    resp_client client{proxy->at()};
    proxy->set({.slice = true});
    ASSERT_TRUE(client.say({"ECHO", "abcdef"}));
    std::string heard;
    for (std::array<char, 64> buffer{}; !heard.ends_with("abcdef\r\n");) {
        const ssize_t size = recv(client.socket(), buffer.data(), buffer.size(), 0);
        ASSERT_GT(size, 0);
        heard.append(buffer.data(), static_cast<std::size_t>(size));
        if (!GetParam()) {
            ASSERT_EQ(size, 1) << "on a Unix socket none is sent before the last was taken";
        }
    }
    EXPECT_EQ(heard, "$6\r\nabcdef\r\n");
}

TEST_P(Proxy, ResetsAtEveryByteOfARequest) {
    for (std::size_t bytes = 0; bytes <= incr.size(); ++bytes) {
        const auto before = count();
        resp_client client{proxy->at()};
        proxy->set({.reset_after_request = bytes});
        ASSERT_TRUE(client.say_bytes(incr));
        EXPECT_FALSE(client.hear()) << "the reply to a complete request may be lost too";
        EXPECT_TRUE(client.is_over());
        EXPECT_EQ(proxy->seen().resets, bytes + 1);
        const bool whole = bytes == incr.size();
        EXPECT_TRUE(eventually([&] { return count() == before + (whole ? 1 : 0); })) << bytes;
        EXPECT_TRUE(resp_client{proxy->at()}.call({"PING"})) << "it resets once";
    }
}

TEST_P(Proxy, ResetsAtEveryByteOfAReply) {
    const std::string reply = ":1\r\n";
    for (std::size_t bytes = 0; bytes <= reply.size(); ++bytes) {
        ASSERT_EQ(server->ask({"DEL", "count"}).kind, resp::kind::number);
        resp_client client{proxy->at()};
        proxy->set({.reset_after_reply = bytes});
        ASSERT_TRUE(client.say_bytes(incr));
        EXPECT_EQ(client.hear().has_value(), bytes == reply.size()) << bytes;
        EXPECT_TRUE(client.is_over());
        EXPECT_EQ(count(), 1) << "the server has acted";
    }
}

TEST_P(Proxy, DeliversLate) {
    resp_client old{proxy->at()};
    ASSERT_TRUE(old.call({"PING"}));
    const auto before = proxy->seen().request_bytes;
    proxy->set({.late = true});
    ASSERT_TRUE(old.say({"APPEND", "story", "old"}));
    const auto bytes = resp_client::bytes_of({"APPEND", "story", "old"}).size();
    ASSERT_TRUE(eventually([&] { return proxy->seen().request_bytes == before + bytes; }));
    old.hang_up();
    resp_client next{proxy->at()};
    EXPECT_EQ(server->ask({"EXISTS", "story"}).number, 0) << "it is held back";
    ASSERT_TRUE(next.call({"APPEND", "story", "new"}));
    EXPECT_TRUE(eventually([&] { return server->ask({"GET", "story"}).text == "newold"; }));
    EXPECT_EQ(proxy->seen().late_bytes, bytes);
}

TEST_P(Proxy, DeliversLateAfterACut) {
    resp_client old{proxy->at()};
    ASSERT_TRUE(old.call({"PING"}));
    const auto before = proxy->seen().request_bytes;
    proxy->set({.late = true});
    ASSERT_TRUE(old.say({"INCR", "count"}));
    ASSERT_TRUE(eventually([&] { return proxy->seen().request_bytes > before; }));
    proxy->cut();
    EXPECT_TRUE(old.is_over()) << "its client receives no more replies";
    EXPECT_EQ(count(), 0);
    ASSERT_TRUE(resp_client{proxy->at()}.call({"PING"}));
    EXPECT_TRUE(eventually([&] { return count() == 1; }));
}

TEST_P(Proxy, CutsRefusesAndRecovers) {
    resp_client client{proxy->at()};
    ASSERT_TRUE(client.call({"PING"}));
    proxy->set({.refuse = true});
    ASSERT_TRUE(client.call({"PING"})) << "existing clients stay";
    proxy->cut();
    EXPECT_TRUE(client.is_over());
    EXPECT_TRUE(resp_client{proxy->at()}.is_over());
    proxy->set({});
    EXPECT_TRUE(resp_client{proxy->at()}.call({"PING"}));
}

TEST_P(Proxy, FindsANewServer) {
    resp_client client{proxy->at()};
    ASSERT_TRUE(client.call({"PING"}));
    server->kill();
    EXPECT_TRUE(client.is_over());
    EXPECT_TRUE(resp_client{proxy->at()}.is_over());
    server->start();
    EXPECT_TRUE(resp_client{proxy->at()}.call({"PING"}));
}

TEST_P(Proxy, MovesToAnotherServer) {
    const private_server other;
    resp_client client{proxy->at()};
    ASSERT_TRUE(client.call({"SET", "where", "here"}));
    ASSERT_EQ(other.ask({"SET", "where", "there"}).text, "OK");
    proxy->move_to(other.at());
    EXPECT_TRUE(client.is_over());
    EXPECT_EQ(resp_client{proxy->at()}.call({"GET", "where"}).value().text, "there");
    proxy->move_to(server->at());
    EXPECT_EQ(resp_client{proxy->at()}.call({"GET", "where"}).value().text, "here");
}

}  // namespace
}  // namespace baton::redis_tests
