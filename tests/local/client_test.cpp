// What a program meets that uses local: through the library.
#include <gtest/gtest.h>

#include "actor_process.hpp"
#include "baton/baton.hpp"
#include "stores/local/local_store.hpp"
#include "stores/local/start_agent.hpp"

namespace baton::local_tests {
namespace {

class Local : public testing::Test {
protected:
    void SetUp() override { detail::use_agent_program(BATON_PROGRAM); }
    void TearDown() override { detail::use_agent_program({}); }
    workplace place;
};

template <typename Function> std::error_code error_of(Function function) {
    try {
        function();
    } catch (const error& caught) {
        return caught.code();
    }
    return {};
}

TEST_F(Local, TheFirstUseStartsAnAgent) {
    client client{place.url()};
    const lease lease = client.acquire(exclusive("ledger"));
    EXPECT_TRUE(lease.valid());
    EXPECT_GT(lease.fence(), 0U);
    EXPECT_EQ(place.agents().size(), 1U);
}

TEST_F(Local, OperatorsCommandsWorkAsTheFirstWord) {
    client client{place.url()};
    EXPECT_TRUE(client.inspect().resources.empty());
    client.resize("gpu", 2);
    EXPECT_EQ(client.inspect().resources.size(), 1U);
}

TEST_F(Local, ProgramsMeet) {
    client mine{place.url()};
    lease held = mine.acquire(exclusive("ledger"));
    actor_process other{place.url(), "ledger"};
    EXPECT_EQ(other.hear("queued"), "queued");
    EXPECT_EQ(mine.inspect().requests.size(), 2U);
    held.release();
    EXPECT_NE(other.hear("held"), "");
    EXPECT_FALSE(mine.try_acquire(exclusive("ledger")));
}

TEST_F(Local, WithoutAnAgentAndAProgramTheErrorSaysSo) {
    detail::use_agent_program("/nonexistent/baton");
    client client{place.url()};
    std::error_code error;
    static_cast<void>(client.acquire(exclusive("ledger"), {}, error));
    EXPECT_EQ(error, errc::no_agent);
    EXPECT_EQ(error_of([&] { static_cast<void>(client.inspect()); }), errc::no_agent);
    EXPECT_EQ(error_of([&] { client.mend("ledger"); }), errc::no_agent);
}

TEST_F(Local, WhereNoAgentCanBeTheErrorSaysSo) {
    client client{"local:" + place.path("no/such/folder")};
    std::error_code error;
    static_cast<void>(client.acquire(exclusive("ledger"), {}, error));
    EXPECT_EQ(error, errc::no_agent);
}

TEST_F(Local, AClientThatMayNotStartOneDoesNot) {
    client client{detail::local_store(detail::parse_local_address(place.path()), {.companion = {}, .start = false})};
    std::error_code error;
    static_cast<void>(client.acquire(exclusive("ledger"), {}, error));
    EXPECT_EQ(error, errc::no_agent);
    EXPECT_TRUE(place.agents().empty());
}

TEST_F(Local, AddressesThatCannotBeAreRefused) {
    for (const std::string& url :
         {"local:" + std::string(200, 'x'), std::string{"local:?space="}, std::string{"local:?space=a b"},
          std::string{"local:?colour=red"}, "local:?space=" + std::string(65, 'x')})
        EXPECT_EQ(error_of([&] { static_cast<void>(make_store(url)); }), errc::bad_url) << url;
    EXPECT_EQ(detail::parse_local_address("sock").path, std::filesystem::current_path() / "sock");
    EXPECT_EQ(detail::parse_local_address("/a/../b?space=jobs").path, "/b");
    EXPECT_EQ(detail::parse_local_address("?space=jobs").space, "jobs");
}

TEST_F(Local, AnAgentThatStandsStillForAWhileCostsNothing) {
    agent_process agent{place};
    client client{place.url()};
    const lease held = client.acquire(exclusive("ledger"));
    kill(agent.process(), SIGSTOP);
    std::error_code error;
    static_cast<void>(client.acquire(exclusive("other"), {.wait = 100ms}, error));
    EXPECT_EQ(error, errc::timed_out);
    EXPECT_TRUE(held.valid());
    kill(agent.process(), SIGCONT);
    EXPECT_TRUE(client.acquire(exclusive("other")).valid());
    EXPECT_TRUE(held.valid());
}

TEST_F(Local, AForkedChildLeavesWhatItsParentHolds) {
    client client{place.url()};
    const lease held = client.acquire(exclusive("ledger"));
    const pid_t child = fork();
    if (child == 0) {
        std::error_code error;
        static_cast<void>(client.acquire(exclusive("other"), {}, error));
        _exit(error == errc::forked ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(held.valid());
    actor_process other{place.url(), "ledger"};
    EXPECT_EQ(other.hear("queued"), "queued");
}

TEST_F(Local, TheStartOfAnAgentIsNoChildOfTheProgram) {
    client client{place.url()};
    EXPECT_TRUE(client.acquire(exclusive("ledger")).valid());
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

TEST_F(Local, ManyThreadsShareOneConnection) {
    client client{place.url()};
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&] {
                for (int round = 0; round < 100; ++round) {
                    const lease lease = client.acquire(exclusive("ledger"));
                    most = std::max(most.load(), ++inside);
                    --inside;
                }
            });
    }
    EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace baton::local_tests
