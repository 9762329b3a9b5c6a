// What a client may do to an agent, by mistake or on purpose. Others must not notice.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <memory>
#include <random>

#include "actor_process.hpp"
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
    EXPECT_EQ(client.ask({"get\n", "a"}),
              "ERR unknown command 'GET?': this is Baton's agent, not Redis; to look inside, say BATON.INSPECT");
    EXPECT_EQ(client.ask({"HELLO", "2"}), "NOPROTO this agent speaks RESP3 only");
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
    const timeval little{0, 200'000};
    setsockopt(greedy.socket(), SOL_SOCKET, SO_SNDTIMEO, &little, sizeof little);
    const std::string ask = raw_client::bytes_of({"BATON.INSPECT"});
    std::string many;
    for (int i = 0; i < 1'000'000; ++i) many += ask;
    std::size_t taken = 0;
    while (taken < many.size()) {
        const ssize_t sent = send(greedy.socket(), many.data() + taken, many.size() - taken, MSG_NOSIGNAL);
        if (sent <= 0) break;
        taken += static_cast<std::size_t>(sent);
    }
    ASSERT_LT(taken, many.size()) << "the agent took a million questions and nobody takes its answers";
    ASSERT_EQ(errno, EAGAIN) << "it hung up instead of waiting";
    raw_client other{place.path()};
    EXPECT_EQ(other.ask({"PING"}), "PONG");
    // As soon as it reads it is read from, and every question that was taken is answered. The last one may be cut.
    const std::size_t questions = taken / ask.size();
    for (std::size_t i = 0; i < questions; ++i) ASSERT_TRUE(greedy.hear()) << i << " of " << questions;
    if (taken % ask.size() != 0) {
        ASSERT_TRUE(greedy.say_bytes(ask.substr(taken % ask.size())));
        ASSERT_TRUE(greedy.hear());
    }
    EXPECT_EQ(greedy.ask({"PING"}), "PONG");
}

// More answers than are kept for one that reads slowly, to questions that came in one go: none is forgotten meanwhile.
TEST_F(AgentBounds, QuestionsThatCameInOneGoAreAllAnswered) {
    raw_client client{place.path()};
    const std::string session = session_named('a');
    ASSERT_EQ(client.ask(open_words(session)), "alive");
    std::string bytes;
    for (int i = 1; i <= 1'000; ++i) bytes += raw_client::bytes_of(enter_words(session, i, "ledger"));
    ASSERT_TRUE(client.say_bytes(bytes));
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(client.hear());
    constexpr int questions = 100;  // each answer names all thousand
    bytes.clear();
    for (int i = 0; i < questions; ++i) bytes += raw_client::bytes_of({"BATON.RENEW", session});
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(client.say_bytes(bytes));
    for (int i = 0; i < questions; ++i) ASSERT_TRUE(client.hear()) << i << " of " << questions;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{5}) << "nothing else had to happen first";
}

// The agent's descriptors are for all: no client may make it watch as many processes as it likes.
TEST_F(AgentBounds, AClientNamesOneProcessAndASessionIsOfTwo) {
    actor_process one{{"/bin/cat"}};
    actor_process two{{"/bin/cat"}};
    raw_client client{place.path()};
    const auto hello = [](const actor_process& process) {
        return std::vector<std::string>{"BATON.HELLO", "1", "default", std::to_string(process.process())};
    };
    EXPECT_FALSE(client.ask(hello(one)).starts_with("LIMIT"));
    EXPECT_EQ(client.ask(hello(two)), "LIMIT a connection names one process");
    raw_client other{place.path()};
    const std::string session = session_named('a');
    ASSERT_EQ(other.ask(open_words(session)), "alive");
    EXPECT_EQ(other.ask({"BATON.BIND", session, std::to_string(one.process())}), "OK");
    EXPECT_EQ(other.ask({"BATON.BIND", session, std::to_string(one.process())}), "OK") << "said twice";
    EXPECT_EQ(other.ask({"BATON.BIND", session, std::to_string(two.process())}), "LIMIT a session is of two processes");
}

// Asio's reactor may pass an event of a descriptor that was closed to the next one in its place. Taken at its word,
// that made a living process dead, and its claims somebody else's.
TEST_F(AgentBounds, TheEndOfAConnectionIsNotTakenForTheEndOfAProcess) {
    actor_process second{{"/bin/cat"}};
    actor_process third{{"/bin/cat"}};
    for (int round = 0; round < 100; ++round) {
        ASSERT_TRUE(answers(place.path()));  // a connection that comes and goes
        raw_client client{place.path()};
        const std::string session = session_named("0123456789abcdef"[round % 16]);
        ASSERT_EQ(client.ask(open_words(session)), "alive");
        ASSERT_EQ(client.ask({"BATON.BIND", session, std::to_string(second.process())}), "OK");
        ASSERT_EQ(client.ask({"BATON.BIND", session, std::to_string(third.process())}),
                  "LIMIT a session is of two processes")
            << "it has forgotten one of them, in round " << round;
        ASSERT_EQ(client.ask({"BATON.CLOSE", session, "left"}), "closed");
    }
}

// With a watch for each, the end of a process with n connections would be heard of n times, and each time all n would
// be looked through.
TEST_F(AgentBounds, ManyConnectionsOfAProcessAreWatchedOnce) {
    std::vector<std::unique_ptr<raw_client>> clients;
    for (int i = 0; i < 100; ++i) {
        clients.push_back(std::make_unique<raw_client>(place.path()));
        ASSERT_EQ(clients.back()->ask({"PING"}), "PONG");
    }
    int watches = 0;
    const std::string descriptors = "/proc/" + std::to_string(agent.process()) + "/fd";
    for (const auto& each : std::filesystem::directory_iterator{descriptors})
        watches += std::filesystem::read_symlink(each.path()).string().find("pidfd") != std::string::npos;
    EXPECT_LE(watches, 2);
}

TEST(AgentLimits, ClientsBeyondTheLimitAreToldSo) {
    const workplace place;
    // The agent keeps 20 descriptors for itself, and three for each client.
    constexpr int most = 8;
    const agent_process agent{place, {}, [] {
                                  const rlimit few{20 + 3 * most, 20 + 3 * most};
                                  setrlimit(RLIMIT_NOFILE, &few);
                              }};
    std::vector<std::unique_ptr<raw_client>> clients;
    for (int i = 0; i < most; ++i) {
        clients.push_back(std::make_unique<raw_client>(place.path()));
        ASSERT_TRUE(eventually([&] {
            if (clients.back()->ask({"PING"}) == "PONG") return true;
            clients.back() = std::make_unique<raw_client>(place.path());
            return false;
        }));
    }
    raw_client last{place.path()};
    EXPECT_EQ(last.hear().value_or(resp::value{}).text,
              "LIMIT this agent, process " + std::to_string(agent.process()) +
                  ", serves at most 8 clients at a time, as it may have 44 open files (ulimit -Hn)");
    EXPECT_TRUE(last.is_over());
    clients.pop_back();
    EXPECT_TRUE(eventually([&] { return raw_client{place.path()}.ask({"PING"}) == "PONG"; }));
}

}  // namespace
}  // namespace baton::local_tests
