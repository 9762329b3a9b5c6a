// Deaths of processes: clients that hold names, and the agent.
#include <gtest/gtest.h>

#include "actor_process.hpp"
#include "baton/baton.hpp"
#include "raw_client.hpp"
#include "sandbox.hpp"
#include "system/pidfd.hpp"

namespace baton::local_tests {
namespace {

std::string fence_in(const std::string& line) { return line.substr(5, line.find(' ', 5) - 5); }

TEST(LocalDeath, TheNamesOfAKilledProcessPassOnAtOnceAndAreMarked) {
    const workplace place;
    const agent_process agent{place};
    actor_process holder{place.url(), "ledger"};
    ASSERT_NE(holder.hear("held"), "");
    actor_process heir{place.url(), "ledger"};
    ASSERT_EQ(heir.hear("queued"), "queued");
    const auto start = std::chrono::steady_clock::now();
    holder.end(SIGKILL);
    const std::string held = heir.hear("held");
    EXPECT_TRUE(held.ends_with(" 1")) << "no mark in: " << held;
    EXPECT_LT(std::chrono::steady_clock::now() - start, 3s) << "its ttl is 10 s; no waiter may wait for that";
}

TEST(LocalDeath, AProcessThatReleasesAndExitsLeavesNoMark) {
    // The release and the end of the process arrive together; the release was first.
    const workplace place;
    const agent_process agent{place};
    for (int round = 0; round < 20; ++round) {
        actor_process holder{place.url(), "ledger"};
        const std::string held = holder.hear("held");
        ASSERT_TRUE(held.ends_with(" 0")) << held << " in round " << round;
        holder.tell("vanish");
        holder.wait();
    }
}

TEST(LocalDeath, ABrokenConnectionOfALivingProcessOnlyStartsTheTtl) {
    const workplace place;
    const agent_process agent{place};
    raw_client watcher{place.path()};
    {
        raw_client holder{place.path()};
        ASSERT_EQ(holder.ask(open_words(session_named('a'), 500)), "alive");
        ASSERT_EQ(holder.ask(enter_words(session_named('a'), 1, "ledger")), "granted");
    }
    ASSERT_EQ(watcher.ask(open_words(session_named('b'))), "alive");
    EXPECT_EQ(watcher.ask(enter_words(session_named('b'), 1, "ledger")), "queued");
    const auto notice = watcher.hear();
    ASSERT_TRUE(notice && resp::decode_notice(*notice)) << "it passes on when the ttl has passed";
}

TEST(LocalDeath, ASessionOfTwoProcessesEndsWithBoth) {
    const workplace place;
    const agent_process agent{place};
    actor_process guardian{{"/bin/cat"}};
    actor_process holder{place.url(), "ledger", 10s, {std::to_string(guardian.process())}};
    ASSERT_NE(holder.hear("held"), "");
    holder.end(SIGKILL);
    // The agent has processed it once it replies to a later command.
    raw_client heir{place.path()};
    ASSERT_EQ(heir.ask(open_words(session_named('a'))), "alive");
    ASSERT_EQ(heir.ask(enter_words(session_named('a'), 1, "ledger")), "queued");
    const auto start = std::chrono::steady_clock::now();
    guardian.end(SIGKILL);
    const auto notice = heir.hear();
    EXPECT_TRUE(notice && resp::decode_notice(*notice));
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s) << "its ttl is 10 s; no waiter may wait for that";
}

// The agent runs on an old kernel, or in a sandbox. Clients pass pidfds of their own.
TEST(LocalDeath, AnAgentThatCannotOpenPidfdsDetectsDeathsAtOnce) {
    const workplace place;
    const agent_process agent{place, {}, [] { deny({SYS_pidfd_open}, peer_pidfd_option); }};
    actor_process guardian{{"/bin/cat"}};
    actor_process holder{place.url(), "ledger", 10s, {std::to_string(guardian.process())}};
    ASSERT_NE(holder.hear("held"), "");
    actor_process heir{place.url(), "ledger"};
    ASSERT_EQ(heir.hear("queued"), "queued");
    const auto start = std::chrono::steady_clock::now();
    holder.end(SIGKILL);
    guardian.signal(SIGKILL);  // a zombie counts as ended
    EXPECT_NE(heir.hear("held"), "");
    EXPECT_LT(std::chrono::steady_clock::now() - start, 3s) << "its ttl is 10 s; no waiter may wait for that";
}

// A client in a sandbox: the agent asks the kernel for the peer of the socket.
TEST(LocalDeath, AClientThatCannotPassAPidfdIsIdentifiedByItsSocket) {
    const workplace place;
    const agent_process agent{place};
    actor_process holder{place.url(), "ledger", 10s, {}, [] { deny({SYS_pidfd_open}); }};
    ASSERT_NE(holder.hear("held"), "");
    actor_process heir{place.url(), "ledger"};
    ASSERT_EQ(heir.hear("queued"), "queued");
    const auto start = std::chrono::steady_clock::now();
    holder.end(SIGKILL);
    EXPECT_NE(heir.hear("held"), "");
    EXPECT_LT(std::chrono::steady_clock::now() - start, 3s) << "its ttl is 10 s; no waiter may wait for that";
}

TEST(LocalDeath, WithoutAnyPidfdTheTtlAloneCounts) {
    const workplace place;
    const agent_process agent{place, {}, [] { deny({SYS_pidfd_open}, peer_pidfd_option); }};
    actor_process holder{place.url(), "ledger", 1s, {}, [] { deny({SYS_pidfd_open}); }};
    ASSERT_NE(holder.hear("held"), "");
    actor_process heir{place.url(), "ledger"};
    ASSERT_EQ(heir.hear("queued"), "queued");
    holder.end(SIGKILL);
    EXPECT_NE(heir.hear("held"), "");
}

// The second process may outlive the first, and the agent cannot see that: it must not treat it as dead.
TEST(LocalDeath, WithoutAPidfdOfTheSecondProcessTheTtlAloneCounts) {
    const workplace place;
    const agent_process agent{place, {"--max-ttl-ms", "600000"}};
    actor_process guardian{{"/bin/cat"}};
    actor_process holder{
        place.url(), "ledger", 300s, {std::to_string(guardian.process())}, [] { deny({SYS_pidfd_open}); }};
    ASSERT_NE(holder.hear("held"), "");
    holder.end(SIGKILL);
    raw_client other{place.path()};
    ASSERT_EQ(other.ask(open_words(session_named('a'))), "alive");
    EXPECT_EQ(other.ask(enter_words(session_named('a'), 1, "ledger")), "queued");
}

// A client that reconnects passes pidfds again: a session belongs to the latest ones, two at most.
TEST(LocalDeath, ASessionBelongsToTheProcessesOfItsLastConnection) {
    const workplace place;
    const agent_process agent{place};
    actor_process one{{"/bin/cat"}};
    actor_process two{{"/bin/cat"}};
    const descriptor first = detail::pidfd_of(one.process());
    const descriptor second = detail::pidfd_of(two.process());
    const std::string session = session_named('a');
    raw_client before{place.path()};
    ASSERT_EQ(before.ask(hello_words(2), {first.get(), first.get()}), "accepted");
    ASSERT_EQ(before.ask(open_words(session)), "alive");
    raw_client after{place.path()};
    ASSERT_EQ(after.ask(hello_words(1), {second.get()}), "accepted");
    ASSERT_EQ(after.ask({"BATON.OPEN", session, "10000", "raw", "2", "0", "0"}), "alive");
    one.end(SIGKILL);
    raw_client other{place.path()};
    ASSERT_EQ(other.ask({"PING"}), "PONG");
    EXPECT_EQ(other.ask({"BATON.RENEW", session}), "alive");
    two.end(SIGKILL);
    EXPECT_TRUE(eventually([&] { return other.ask({"BATON.RENEW", session}) != "alive"; }));
}

// A process that died before the agent read its handshake: its session ends as soon as it is open.
TEST(LocalDeath, AProcessThatDiedBeforeTheAgentReadItsHandshakeHoldsNothing) {
    const workplace place;
    const agent_process agent{place, {"--max-ttl-ms", "600000"}};
    kill(agent.process(), SIGSTOP);
    actor_process dead{{"/bin/cat"}};
    const descriptor pidfd = detail::pidfd_of(dead.process());
    dead.end(SIGKILL);
    raw_client client{place.path()};
    const std::string session = session_named('a');
    ASSERT_TRUE(client.pass(hello_words(1), {pidfd.get()}));
    ASSERT_TRUE(client.say(open_words(session, 300'000)));
    ASSERT_TRUE(client.say(enter_words(session, 1, "ledger")));
    kill(agent.process(), SIGCONT);
    raw_client other{place.path()};
    ASSERT_EQ(other.ask(open_words(session_named('b'))), "alive");
    ASSERT_TRUE(other.say(enter_words(session_named('b'), 1, "ledger")));
    EXPECT_TRUE(eventually([&] { return other.ask({"BATON.RENEW", session}) != "alive"; }));
}

// The agent is killed with a holder and two waiters. A new client connects to the next agent before they do.
TEST(LocalDeath, AfterTheDeathOfTheAgentHoldersKeepTheirLeasesAndWaitersTheirOrder) {
    constexpr auto ttl = 6s;
    const workplace place;
    agent_process agent{place, {"--max-ttl-ms", "6000"}};
    actor_process holder{place.url(), "ledger", ttl};
    const std::string held = holder.hear("held");
    ASSERT_NE(held, "");
    actor_process first{place.url(), "ledger", ttl};
    ASSERT_EQ(first.hear("queued"), "queued");
    actor_process second{place.url(), "ledger", ttl};
    ASSERT_EQ(second.hear("queued"), "queued");

    for (const actor_process* each : {&holder, &first, &second}) each->signal(SIGSTOP);
    agent.end(SIGKILL);
    agent.start();
    actor_process newcomer{place.url(), "ledger", ttl};
    ASSERT_EQ(newcomer.hear("queued"), "queued");
    for (const actor_process* each : {&second, &first, &holder}) each->signal(SIGCONT);

    ASSERT_EQ(holder.hear("reconnected"), "reconnected");
    holder.tell("valid?");
    EXPECT_EQ(holder.hear("valid"), "valid") << "the holder lost its lease";
    for (actor_process* each : {&first, &second}) ASSERT_EQ(each->hear("reconnected"), "reconnected");
    for (actor_process* each : {&first, &second, &newcomer}) EXPECT_TRUE(each->silent_about("held"));
    holder.tell("release");
    std::string before = fence_in(held);
    for (actor_process* next : {&first, &second, &newcomer}) {
        const std::string now = next->hear("held");
        ASSERT_NE(now, "") << "the order was lost";
        EXPECT_TRUE(now.ends_with(" 0"));
        EXPECT_LT(before, fence_in(now));
        before = fence_in(now);
        next->tell("release");
    }
}

TEST(LocalDeath, ClientsStartAnotherAgentAndKeepTheirLeases) {
    const workplace place;
    actor_process holder{place.url(), "ledger"};
    ASSERT_NE(holder.hear("held"), "");
    const auto agents = place.agents();
    ASSERT_EQ(agents.size(), 1U);
    kill(agents.front(), SIGKILL);
    ASSERT_EQ(holder.hear("reconnected"), "reconnected");
    const auto others = place.agents();
    ASSERT_EQ(others.size(), 1U);
    EXPECT_NE(others, agents);
    holder.tell("valid?");
    EXPECT_EQ(holder.hear("valid"), "valid");
    actor_process newcomer{place.url(), "ledger"};
    EXPECT_EQ(newcomer.hear("queued"), "queued");
}

TEST(LocalDeath, ASuccessorHasTheLongestTtlOfItsPredecessor) {
    // A client starts the successor without the longest ttl of the dead agent: the successor reads it from the record.
    const workplace place;
    agent_process agent{place, {"--max-ttl-ms", "40000"}};
    raw_client holder{place.path()};
    ASSERT_EQ(holder.ask(open_words(session_named('a'), 40'000)), "alive");
    agent.end(SIGKILL);
    const agent_process next{place};
    raw_client newcomer{place.path()};
    EXPECT_EQ(newcomer.ask(open_words(session_named('b'), 40'000)), "alive") << "the longest ttl of the dead agent";
    client viewer{place.url()};
    const snapshot seen = viewer.inspect();
    ASSERT_TRUE(seen.paused_until);
    EXPECT_GT(*seen.paused_until - seen.at, 20s) << "a client with a ttl of 40 s may return as late as that";
}

}  // namespace
}  // namespace baton::local_tests
