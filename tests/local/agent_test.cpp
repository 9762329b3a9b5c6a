// How an agent starts, runs and ends.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <fstream>
#include <set>

#include "actor_process.hpp"
#include "baton/baton.hpp"
#include "raw_client.hpp"

namespace baton::local_tests {
namespace {

TEST(Agent, TwentyConcurrentProcessesStartOne) {
    const workplace place;
    std::vector<std::unique_ptr<actor_process>> actors;
    for (int i = 0; i < 20; ++i) actors.push_back(std::make_unique<actor_process>(place.url(), std::to_string(i)));
    std::set<std::string> fences;
    for (const auto& actor : actors) {
        const std::string held = actor->hear("held");
        EXPECT_NE(held, "");
        fences.insert(held);
    }
    EXPECT_EQ(fences.size(), 20U) << "two agents would count from different numbers, or from the same ones";
    EXPECT_TRUE(eventually([&] { return place.agents().size() == 1; })) << place.agents().size();
}

TEST(Agent, IsDetachedFromTheProcessThatStartedIt) {
    const workplace place;
    actor_process starter{place.url(), "ledger"};
    ASSERT_NE(starter.hear("held"), "");
    const auto agents = place.agents();
    ASSERT_EQ(agents.size(), 1U);
    const std::string process = "/proc/" + std::to_string(agents[0]);
    EXPECT_EQ(getsid(agents[0]), agents[0]);
    EXPECT_EQ(std::filesystem::read_symlink(process + "/cwd"), "/");
    const auto descriptors = [](const std::string& of) {
        std::set<std::string> targets;
        for (const auto& entry : std::filesystem::directory_iterator{of + "/fd"}) {
            const std::string target = std::filesystem::read_symlink(entry.path());
            if (target.starts_with("pipe:") || target.starts_with("socket:")) targets.insert(target);
        }
        return targets;
    };
    const auto inherited = descriptors("/proc/" + std::to_string(starter.process()));
    EXPECT_FALSE(inherited.empty());
    for (const std::string& each : descriptors(process)) EXPECT_FALSE(inherited.contains(each)) << each;
    EXPECT_EQ(contents(process + "/environ").find("HOME="), std::string::npos);
    // The agent does not keep the starter's output open.
    starter.tell("quit");
    EXPECT_EQ(starter.hear("nothing of this kind"), "");
    starter.wait();
    EXPECT_EQ(kill(agents[0], 0), 0);
}

TEST(Agent, EndsWhenItIsIdleAndLeavesACleanState) {
    const workplace place;
    actor_process agent{{BATON_PROGRAM, "agent", "--detached-start", "--idle-ms", "50", "--address", place.url()}};
    EXPECT_EQ(agent.hear(), "ready");
    EXPECT_EQ(agent.hear(), "") << "its output is closed when it is ready";
    EXPECT_EQ(agent.wait(), 0);
    EXPECT_FALSE(std::filesystem::exists(place.path()));
    EXPECT_NE(contents(place.path() + ".state").find(" clean "), std::string::npos);
}

TEST(Agent, StaysWhileItHasState) {
    const workplace place;
    const workplace other;
    const std::vector<std::string> words{BATON_PROGRAM, "agent", "--detached-start", "--idle-ms", "50", "--address"};
    auto with = [&](const std::string& url) {
        auto all = words;
        all.push_back(url);
        return all;
    };
    actor_process agent{with(place.url())};
    EXPECT_EQ(agent.hear(), "ready");
    {
        raw_client client{place.path()};
        ASSERT_EQ(client.ask({"BATON.RESIZE", "gpu", "4"}), "resized");
    }
    // An agent without state that starts later ends earlier.
    actor_process idle{with(other.url())};
    EXPECT_EQ(idle.wait(), 0);
    raw_client client{place.path()};
    ASSERT_EQ(client.ask({"BATON.RESIZE", "gpu", "auto"}), "resized");
    client.hang_up();
    EXPECT_EQ(agent.wait(), 0);
}

TEST(Agent, NotifiesASupervisorWhenItIsReadyAndEndsOnTerm) {
    const workplace place;
    const int listening = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = place.path("notify");
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(bind(listening, static_cast<sockaddr*>(static_cast<void*>(&address)), sizeof address), 0);
    agent_process agent{place, {}, [&] { setenv("NOTIFY_SOCKET", path.c_str(), 1); }};
    std::array<char, 100> message{};
    pollfd ready{listening, POLLIN, 0};
    ASSERT_EQ(poll(&ready, 1, 20'000), 1);
    EXPECT_GT(recv(listening, message.data(), message.size() - 1, 0), 0);
    EXPECT_TRUE(std::string{message.data()}.starts_with("READY=1\n")) << message.data();
    close(listening);
    EXPECT_EQ(agent.end(SIGTERM), 0);
    EXPECT_FALSE(std::filesystem::exists(place.path()));
}

TEST(Agent, RecordsThatItHasSessionsOnlyWhileItHasSome) {
    const workplace place;
    const agent_process agent{place};
    raw_client client{place.path()};
    const auto state = [&] { return contents(place.path() + ".state"); };
    EXPECT_NE(state().find(" clean "), std::string::npos);
    ASSERT_EQ(client.ask(open_words(session_named('a'))), "alive");
    EXPECT_NE(state().find(" serving "), std::string::npos);
    ASSERT_EQ(client.ask({"BATON.CLOSE", session_named('a'), "left"}), "closed");
    EXPECT_NE(state().find(" clean "), std::string::npos);
}

TEST(Agent, StartsPausedOnlyIfItsPredecessorHadSessions) {
    const workplace place;
    agent_process agent{place};
    const auto paused = [&] {
        raw_client client{place.path()};
        client.say({"BATON.INSPECT"});
        const auto seen = resp::decode_snapshot(client.hear().value_or(resp::value{}));
        return seen && seen->paused_until.has_value();
    };
    agent.end(SIGKILL);
    agent.start();
    EXPECT_FALSE(paused()) << "the first one had no lease";
    {
        raw_client client{place.path()};
        ASSERT_EQ(client.ask(open_words(session_named('a'))), "alive");
        agent.end(SIGKILL);
    }
    agent.start();
    EXPECT_TRUE(paused());
    agent.end(SIGKILL);
    agent.start();
    EXPECT_TRUE(paused()) << "the clients of the first may still come";
    agent.end(SIGKILL);
    std::ofstream{place.path() + ".state"} << "baton 2 another-boot serving 1 1 15000\n";
    agent.start();
    EXPECT_FALSE(paused()) << "no client survives a boot";
    agent.end(SIGKILL);
    for (const char* unreadable :
         {"", "???", "baton 2 another-boot clean 1 1 150", "baton 2 another-boot clean 1 1\n"}) {
        std::ofstream{place.path() + ".state"} << unreadable;
        agent.start();
        EXPECT_TRUE(paused()) << "with the record «" << unreadable << "»";
        agent.end(SIGKILL);
    }
}

// The record gets its name when it is complete. A successor that found an incomplete one would have to pause.
TEST(Agent, LeavesNoIncompleteRecord) {
    const workplace place;
    const pid_t agent = launch({BATON_PROGRAM, "agent", "--foreground", "--address", place.url()}, [] {
        const rlimit none{0, 0};
        setrlimit(RLIMIT_FSIZE, &none);
    });
    int status = 0;
    waitpid(agent, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 69) << status;
    EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path{place.path()}.parent_path()));
}

TEST(Agent, OpensNoSessionThatItCannotRecord) {
    const workplace place;
    const agent_process agent{place};
    raw_client client{place.path()};
    const std::string first = session_named('a');
    // The file has its space, but a write into it fails, as on a full copy-on-write file system.
    const rlimit none{0, RLIM_INFINITY};
    ASSERT_EQ(prlimit(agent.process(), RLIMIT_FSIZE, &none, nullptr), 0);
    EXPECT_EQ(client.ask(open_words(first)),
              "UNRECORDED the agent cannot record in " + place.path() + ".state that it has clients: File too large");
    EXPECT_EQ(client.ask({"BATON.RENEW", first}), "session_lost") << "nothing was opened";
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    ASSERT_EQ(prlimit(agent.process(), RLIMIT_FSIZE, &all, nullptr), 0);
    EXPECT_EQ(client.ask(open_words(first)), "alive");
    EXPECT_NE(contents(place.path() + ".state").find(" serving "), std::string::npos);
    // After the agent has recorded that it has sessions, it does not write again.
    ASSERT_EQ(prlimit(agent.process(), RLIMIT_FSIZE, &none, nullptr), 0);
    EXPECT_EQ(client.ask(open_words(session_named('b'))), "alive");
}

TEST(Agent, AnUnrecordedSessionIsRefusedWithItsReason) {
    const workplace place;
    const agent_process agent{place};
    const rlimit none{0, RLIM_INFINITY};
    ASSERT_EQ(prlimit(agent.process(), RLIMIT_FSIZE, &none, nullptr), 0);
    actor_process actor{place.url(), "ledger"};
    EXPECT_EQ(actor.hear(), "failed the store has no room for one more");
    client client{place.url()};
    try {
        static_cast<void>(client.acquire(exclusive("ledger")));
        ADD_FAILURE() << "granted";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::store_full);
        EXPECT_NE(std::string{refused.what()}.find("File too large"), std::string::npos) << refused.what();
    }
}

TEST(Agent, EpochsGrowEvenIfTheClockDoesNot) {
    const workplace place;
    std::ofstream{place.path() + ".state"} << "baton 2 another-boot clean 4000000000000000 0 15000\n";
    agent_process agent{place};
    raw_client client{place.path()};
    client.say(hello_words());
    const auto handshake = resp::decode_hello_reply(client.hear().value_or(resp::value{}));
    ASSERT_TRUE(handshake);
    EXPECT_GT(handshake->epoch, 4'000'000'000'000'000U);
}

TEST(Agent, OfAnotherVersionEndsIfItIsIdle) {
    const workplace place;
    agent_process agent{place};
    raw_client client{place.path()};
    EXPECT_TRUE(client.ask({"BATON.HELLO", "999", "default"}).starts_with("RETIRING "));
    EXPECT_TRUE(client.is_over());
    EXPECT_FALSE(answers(place.path()));
}

TEST(Agent, OfAnotherVersionReportsThatItIsInUse) {
    const workplace place;
    const agent_process agent{place};
    raw_client user{place.path()};
    ASSERT_EQ(user.ask(open_words(session_named('a'))), "alive");
    raw_client client{place.path()};
    EXPECT_TRUE(client.ask({"BATON.HELLO", "999", "default"}).starts_with("VERSION "));
    EXPECT_TRUE(client.is_over());
    EXPECT_EQ(user.ask({"BATON.RENEW", session_named('a')}), "alive");
}

TEST(Agent, ASecondOneAtTheSameAddressIsRefused) {
    const workplace place;
    const agent_process agent{place};
    actor_process second{{BATON_PROGRAM, "agent", "--foreground", "--address", place.url()}};
    const int status = second.wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 69) << status;
    EXPECT_TRUE(answers(place.path()));
}

TEST(Agent, ReplacesOnlyAStaleSocketFile) {
    const workplace place;
    {
        agent_process agent{place};
        agent.end(SIGKILL);
    }
    ASSERT_TRUE(std::filesystem::exists(place.path()));
    { const agent_process agent{place}; }
    std::filesystem::remove(place.path());
    std::ofstream{place.path()} << "data of another program";
    actor_process second{{BATON_PROGRAM, "agent", "--foreground", "--address", place.url()}};
    EXPECT_NE(second.wait(), 0);
    EXPECT_EQ(contents(place.path()), "data of another program");
}

TEST(Agent, DoesNotTakeTheSocketOfAnotherProgram) {
    const workplace place;
    const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, place.path().c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(bind(listening, static_cast<sockaddr*>(static_cast<void*>(&address)), sizeof address), 0);
    ASSERT_EQ(listen(listening, 8), 0);
    actor_process agent{{BATON_PROGRAM, "agent", "--foreground", "--address", place.url()}};
    const int status = agent.wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 69) << status;
    EXPECT_TRUE(answers(place.path()));
    close(listening);
}

// The agent drops a space without sessions when a client disconnects, but not while a late message could start a
// session again.
TEST(Agent, ASpaceRemembersItsEndedSessionsAfterItsClientsDisconnect) {
    const workplace place;
    const agent_process agent{place};
    raw_client client{place.path()};
    const std::string session = session_named('a');
    ASSERT_EQ(client.ask(open_words(session)), "alive");
    ASSERT_EQ(client.ask({"BATON.CLOSE", session, "left"}), "closed");
    const std::size_t before = descriptors_of(agent);
    {
        raw_client other{place.path()};
        ASSERT_EQ(other.ask({"PING"}), "PONG");
    }
    ASSERT_TRUE(eventually([&] { return descriptors_of(agent) == before; }))
        << "the agent has seen the other client disconnect";
    EXPECT_EQ(client.ask(open_words(session)), "refused");
}

TEST(Agent, SpacesAreSeparate) {
    const workplace place;
    const agent_process agent{place};
    actor_process one{place.url() + "?space=one", "ledger"};
    EXPECT_NE(one.hear("held"), "");
    actor_process two{place.url() + "?space=two", "ledger"};
    EXPECT_NE(two.hear("held"), "");
}

}  // namespace
}  // namespace baton::local_tests
