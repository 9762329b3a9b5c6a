// What a client may do to an agent, by mistake or on purpose. Others must not notice.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <random>

#include "raw_client.hpp"

namespace baton::local_tests {
namespace {

class AgentBounds : public testing::Test {
protected:
    void TearDown() override {
        raw_client other{place.path()};
        EXPECT_EQ(other.ask({"PING"}), "PONG") << "the agent does not serve others any more";
    }
    workplace place;
    agent_process agent{place};
};

TEST_F(AgentBounds, WhatIsNotTheProtocolEndsTheConnection) {
    raw_client client{place.path()};
    client.say_bytes("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(client.hear().value_or(resp::value{}).text, "ERR not the Redis protocol");
    EXPECT_TRUE(client.is_over());
}

TEST_F(AgentBounds, GarbageIsSurvived) {
    std::mt19937 dice{1};
    for (int round = 0; round < 200; ++round) {
        raw_client client{place.path()};
        std::string bytes = round % 2 == 0 ? "*2\r\n$11\r\nBATON.RENEW\r\n" : "";
        for (auto i = dice() % 300; i > 0; --i)
            bytes += dice() % 2 == 0 ? "\r\n$*:0123"[dice() % 8] : static_cast<char>(dice());
        client.say_bytes(bytes);
    }
}

TEST_F(AgentBounds, DeepOrLargeMessagesAreRefused) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += "*1\r\n";
    raw_client nested{place.path()};
    nested.say_bytes(deep);
    EXPECT_EQ(nested.hear().value_or(resp::value{}).text, "ERR a message is nested too deeply");
    for (const std::string_view announced : {"*1000000000\r\n", "*1\r\n$1000000000\r\n"}) {
        raw_client client{place.path()};
        client.say_bytes(announced);
        EXPECT_EQ(client.hear().value_or(resp::value{}).text, "ERR a message is too large");
        EXPECT_TRUE(client.is_over());
    }
}

TEST_F(AgentBounds, UnknownCommandsAndWrongArgumentsAreErrorsAndNoMore) {
    raw_client client{place.path()};
    EXPECT_EQ(client.ask({"GET", "a"}), "ERR unknown command");
    EXPECT_EQ(client.ask({"BATON.RENEW"}), "ERR wrong arguments for BATON.RENEW");
    EXPECT_EQ(client.ask({"BATON.HELLO", "1", "no such name!"}), "ERR wrong arguments for BATON.HELLO");
    EXPECT_EQ(client.ask({"ping"}), "PONG");
}

TEST_F(AgentBounds, HalfAMessageHoldsNobodyUp) {
    raw_client half{place.path()};
    half.say_bytes("*3\r\n$11\r\nBATON.EN");
    raw_client other{place.path()};
    EXPECT_EQ(other.ask({"PING"}), "PONG");
    half.hang_up();
    // One that is shut half: what it said is answered, then it is over.
    raw_client shut{place.path()};
    shut.say({"PING"});
    shutdown(shut.socket(), SHUT_WR);
    EXPECT_EQ(shut.hear().value_or(resp::value{}).text, "PONG");
    EXPECT_TRUE(shut.is_over());
}

TEST_F(AgentBounds, ASessionHasAtMostTenThousandRequests) {
    raw_client client{place.path()};
    const std::string session = session_named('a');
    ASSERT_EQ(client.ask(open_words(session)), "alive");
    constexpr int most = 10'000;
    for (int batch = 0; batch < most; batch += 500) {
        std::string bytes;
        for (int i = 1; i <= 500; ++i) bytes += raw_client::bytes_of(enter_words(session, batch + i, "ledger"));
        ASSERT_TRUE(client.say_bytes(bytes));
        for (int i = 0; i < 500; ++i) ASSERT_TRUE(client.hear());
    }
    EXPECT_EQ(client.ask(enter_words(session, most + 1, "ledger")), "LIMIT a session has at most 10000 requests");
    EXPECT_EQ(client.ask({"BATON.LEAVE", session, "5", "clean"}), "ended");
    EXPECT_EQ(client.ask(enter_words(session, most + 1, "ledger")), "queued");
}

TEST_F(AgentBounds, AClientThatDoesNotReadIsNotReadFromEither) {
    raw_client greedy{place.path()};
    timeval little{0, 200'000};
    setsockopt(greedy.socket(), SOL_SOCKET, SO_SNDTIMEO, &little, sizeof little);
    const std::string ask = raw_client::bytes_of({"BATON.INSPECT"});
    std::string many;
    for (int i = 0; i < 10'000; ++i) many += ask;
    bool taken = true;
    for (int i = 0; taken && i < 100; ++i) taken = greedy.say_bytes(many);
    EXPECT_FALSE(taken) << "the agent took a million questions and nobody takes its answers";
    raw_client other{place.path()};
    EXPECT_EQ(other.ask({"PING"}), "PONG");
}

TEST(AgentLimits, ClientsBeyondTheLimitAreToldSo) {
    const workplace place;
    // As many as there are descriptors for: 64 for itself, three a client.
    const agent_process agent{place, {}, [] {
                                  const rlimit few{64 + 3 * 4, 64 + 3 * 4};
                                  setrlimit(RLIMIT_NOFILE, &few);
                              }};
    std::vector<std::unique_ptr<raw_client>> clients;
    for (int i = 0; i < 4; ++i) {
        clients.push_back(std::make_unique<raw_client>(place.path()));
        ASSERT_TRUE(eventually([&] {
            if (clients.back()->ask({"PING"}) == "PONG") return true;
            clients.back() = std::make_unique<raw_client>(place.path());
            return false;
        }));
    }
    raw_client last{place.path()};
    EXPECT_EQ(last.hear().value_or(resp::value{}).text, "LIMIT this agent serves at most 4 clients at a time");
    EXPECT_TRUE(last.is_over());
    clients.pop_back();
    EXPECT_TRUE(eventually([&] { return raw_client{place.path()}.ask({"PING"}) == "PONG"; }));
}

}  // namespace
}  // namespace baton::local_tests
