// Faulty and hostile clients of an agent. They must not affect other clients.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <cerrno>
#include <memory>
#include <random>

#include "actor_process.hpp"
#include "raw_client.hpp"
#include "system/pidfd.hpp"

namespace baton::local_tests {
namespace {

class AgentBounds : public testing::Test {
protected:
    void TearDown() override {
        raw_client other{place.path()};
        EXPECT_EQ(other.ask({"PING"}), "PONG") << "the agent no longer serves other clients";
    }
    workplace place;
    agent_process agent{place};
};

TEST_F(AgentBounds, InvalidInputEndsTheConnection) {
    raw_client client{place.path()};
    client.say_bytes("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(client.hear().value_or(resp::value{}).text, "ERR not the Redis protocol");
    EXPECT_TRUE(client.is_over());
}

TEST_F(AgentBounds, TheAgentSurvivesGarbage) {
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

TEST_F(AgentBounds, UnknownCommandsAndWrongArgumentsOnlyReturnErrors) {
    raw_client client{place.path()};
    EXPECT_EQ(client.ask({"get\n", "a"}),
              "ERR unknown command 'GET?': this is Baton's agent, not Redis; BATON.INSPECT shows its state");
    EXPECT_EQ(client.ask({"HELLO", "2"}), "NOPROTO this agent speaks RESP3 only");
    EXPECT_EQ(client.ask({"BATON.RENEW"}), "ERR wrong arguments for BATON.RENEW");
    EXPECT_EQ(client.ask({"BATON.HELLO", "2", "no such name!"}), "ERR wrong arguments for BATON.HELLO");
    EXPECT_EQ(client.ask({"ping"}), "PONG");
}

TEST_F(AgentBounds, AnIncompleteMessageDelaysNoOtherClient) {
    raw_client half{place.path()};
    half.say_bytes("*3\r\n$11\r\nBATON.EN");
    raw_client other{place.path()};
    EXPECT_EQ(other.ask({"PING"}), "PONG");
    half.hang_up();
    // A connection that the client has shut down for writing: the agent replies to its commands, then closes it.
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

TEST_F(AgentBounds, TheAgentDoesNotReadFromAClientThatDoesNotRead) {
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
    ASSERT_LT(taken, many.size()) << "the agent accepted a million commands from a client that reads no replies";
    ASSERT_EQ(errno, EAGAIN) << "it disconnected instead of waiting";
    raw_client other{place.path()};
    EXPECT_EQ(other.ask({"PING"}), "PONG");
    // When the client reads again, the agent reads from it again, and replies to all commands that it received. The
    // last command may be truncated.
    const std::size_t questions = taken / ask.size();
    for (std::size_t i = 0; i < questions; ++i) ASSERT_TRUE(greedy.hear()) << i << " of " << questions;
    if (taken % ask.size() != 0) {
        ASSERT_TRUE(greedy.say_bytes(ask.substr(taken % ask.size())));
        ASSERT_TRUE(greedy.hear());
    }
    EXPECT_EQ(greedy.ask({"PING"}), "PONG");
}

// More replies to pipelined commands than the agent keeps for a slow reader: it loses none of the commands meanwhile.
TEST_F(AgentBounds, PipelinedCommandsAllGetReplies) {
    raw_client client{place.path()};
    const std::string session = session_named('a');
    ASSERT_EQ(client.ask(open_words(session)), "alive");
    std::string bytes;
    for (int i = 1; i <= 1'000; ++i) bytes += raw_client::bytes_of(enter_words(session, i, "ledger"));
    ASSERT_TRUE(client.say_bytes(bytes));
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(client.hear());
    constexpr int questions = 100;  // each reply names all thousand
    bytes.clear();
    for (int i = 0; i < questions; ++i) bytes += raw_client::bytes_of({"BATON.RENEW", session});
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(client.say_bytes(bytes));
    for (int i = 0; i < questions; ++i) ASSERT_TRUE(client.hear()) << i << " of " << questions;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{5}) << "nothing else had to happen first";
}

TEST_F(AgentBounds, OnlyPidfdsAreAccepted) {
    const descriptor self = detail::pidfd_of(getpid());
    ASSERT_TRUE(self.is_open());
    const descriptor file{open("/dev/zero", O_RDONLY | O_CLOEXEC)};
    const descriptor folder{open("/proc/self", O_RDONLY | O_CLOEXEC | O_DIRECTORY)};
    const descriptor event{eventfd(1, EFD_CLOEXEC)};
    const std::string refused = "ERR a descriptor that came with BATON.HELLO is not a pidfd";
    for (const auto* wrong : {&file, &folder, &event}) {
        raw_client client{place.path()};
        EXPECT_EQ(client.ask(hello_words(1), {wrong->get()}), refused);
        EXPECT_EQ(client.ask(hello_words(2), {self.get(), wrong->get()}), refused);
        EXPECT_EQ(client.ask(hello_words(1), {self.get()}), "accepted") << "the next attempt succeeds";
    }
}

TEST_F(AgentBounds, AConnectionNamesItsProcessesOnceAndAtMostTwo) {
    const descriptor self = detail::pidfd_of(getpid());
    const int one = self.get();
    raw_client client{place.path()};
    EXPECT_EQ(client.ask(hello_words(3), {one, one, one}), "LIMIT a session is of at most two processes");
    EXPECT_EQ(client.ask(hello_words(1), {one, one}), "ERR more pidfds came with BATON.HELLO than it names processes");
    EXPECT_EQ(client.ask(hello_words(2), {one, one}), "accepted");
    const std::string again = "ERR a connection names its processes once, before it opens a session";
    EXPECT_EQ(client.ask(hello_words(1), {one}), again);
    EXPECT_EQ(client.ask(hello_words()), "accepted") << "it may choose another space";
    raw_client late{place.path()};
    ASSERT_EQ(late.ask(open_words(session_named('a'))), "alive");
    EXPECT_EQ(late.ask(hello_words(1), {one}), again);
}

// All clients share the agent's descriptors, so no client may fill its table.
TEST_F(AgentBounds, UnexpectedDescriptorsAreClosed) {
    const descriptor self = detail::pidfd_of(getpid());
    const std::vector<int> many(100, self.get());
    raw_client client{place.path()};
    ASSERT_EQ(client.ask({"PING"}), "PONG");
    const std::size_t before = descriptors_of(agent);
    for (int round = 0; round < 20; ++round) EXPECT_EQ(client.ask({"PING"}, many), "PONG");
    EXPECT_LE(descriptors_of(agent), before + 2) << "as many as a handshake may need";
    EXPECT_EQ(client.ask(hello_words(2)), "accepted") << "the requests that arrived first";
    for (int round = 0; round < 20; ++round) EXPECT_EQ(client.ask({"PING"}, many), "PONG");
    EXPECT_LE(descriptors_of(agent), before + 2);
    client.hang_up();
    EXPECT_TRUE(eventually([&] { return descriptors_of(agent) < before; })) << descriptors_of(agent);
}

// A reactor may deliver an event of a closed descriptor to the next one with its number. The agent once took that for
// the death of a living process, and passed its claims on.
TEST_F(AgentBounds, TheEndOfAConnectionIsNotTheEndOfAProcess) {
    const descriptor self = detail::pidfd_of(getpid());
    for (int round = 0; round < 100; ++round) {
        ASSERT_TRUE(answers(place.path()));  // a connection that opens and closes
        raw_client client{place.path()};
        const std::string session = numbered_session(round);
        ASSERT_EQ(client.ask(hello_words(1), {self.get()}), "accepted");
        ASSERT_EQ(client.ask(open_words(session)), "alive");
        raw_client other{place.path()};
        ASSERT_EQ(other.ask({"PING"}), "PONG");
        ASSERT_EQ(other.ask({"BATON.RENEW", session}), "alive") << "its process counts as dead, in round " << round;
        ASSERT_EQ(client.ask({"BATON.CLOSE", session, "left"}), "closed");
    }
}

/// The smallest number of clients that an agent serves.
constexpr int few_clients = 8;
/// The descriptors for them: 20 that the agent keeps for itself, and three for each client.
constexpr std::size_t few_descriptors = 20 + 3 * few_clients;

void leave_few_clients() {
    const rlimit few{few_descriptors, few_descriptors};
    setrlimit(RLIMIT_NOFILE, &few);
}

/// Opens a session that belongs to the processes and outlives its connection.
void leave_session(const workplace& place, int number, const std::vector<int>& pidfds) {
    ASSERT_TRUE(eventually([&] {
        raw_client client{place.path()};  // too many until the agent has seen that others disconnected
        return client.ask(hello_words(static_cast<int>(pidfds.size())), pidfds) == "accepted" &&
               client.ask(open_words(numbered_session(number))) == "alive";
    }));
}

TEST(AgentLimits, PidfdsOfSessionsWithoutAConnectionAreBounded) {
    const workplace place;
    const agent_process agent{place, {}, leave_few_clients};
    const descriptor self = detail::pidfd_of(getpid());
    for (int i = 0; i < 100; ++i) leave_session(place, i, {self.get(), self.get()});
    EXPECT_LE(descriptors_of(agent), few_descriptors);
    EXPECT_TRUE(eventually([&] { return raw_client{place.path()}.ask({"PING"}) == "PONG"; }));
}

// The agent can accept only one of two pidfds. The session must not end with the known process, because the other one
// may still live.
TEST(AgentLimits, ASessionOfTwoProcessesIsNotBoundToOneOfThem) {
    const workplace place;
    const agent_process agent{place, {}, leave_few_clients};
    const descriptor self = detail::pidfd_of(getpid());
    // The agent keeps two pidfds for each client that may connect. These are all but one of them.
    for (int i = 0; i < few_clients - 1; ++i) leave_session(place, i, {self.get(), self.get()});
    leave_session(place, few_clients - 1, {self.get()});
    actor_process mortal{{"/bin/cat"}};
    const descriptor other = detail::pidfd_of(mortal.process());
    leave_session(place, few_clients, {other.get(), self.get()});
    mortal.end(SIGKILL);
    const auto ask = [&](const std::vector<std::string>& words) {
        std::string answer;
        EXPECT_TRUE(eventually([&] { return !(answer = raw_client{place.path()}.ask(words)).starts_with("LIMIT"); }));
        return answer;
    };
    EXPECT_EQ(ask({"PING"}), "PONG");
    EXPECT_EQ(ask({"BATON.RENEW", numbered_session(few_clients)}), "alive");
}

TEST(AgentLimits, ClientsBeyondTheLimitGetAnError) {
    const workplace place;
    const agent_process agent{place, {}, leave_few_clients};
    constexpr int most = few_clients;
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
