// The end of a process: its last releases must reach the server although the connection or the functions are lost at
// that moment. Sessions here live for 10 s, so a name that is free at once was released and did not expire.
#include <future>

#include "fault_test.hpp"
#include "proxy.hpp"

namespace baton::redis_tests {
namespace {

class RedisReleaseFault : public RedisFault {
protected:
    /// A new server may have lost data, so a space on it starts with a pause unless that is switched off.
    static std::string url_of(const endpoint& where) { return "unix:" + where.path + "?pause=off"; }

    static void expect_free_and_unmarked(const endpoint& where) {
        client other{url_of(where)};
        std::error_code error;
        const auto lease = other.try_acquire(exclusive("x"), {}, error);
        ASSERT_FALSE(error) << error.message();
        ASSERT_TRUE(lease) << "x is still held";
        EXPECT_TRUE(lease->abandoned().empty()) << "x was marked as abandoned";
    }
};

TEST_F(RedisReleaseFault, AReleaseSurvivesForgottenScripts) {
    const private_server server;
    for (int time = 0; time < 10 && !HasFatalFailure(); ++time) {
        SCOPED_TRACE(time);
        {
            client ending{url_of(server.at())};
            const lease held = ending.acquire(exclusive("x"));
            EXPECT_EQ(server.ask({"FUNCTION", "FLUSH"}).text, "OK");
        }
        expect_free_and_unmarked(server.at());
    }
}

TEST_F(RedisReleaseFault, AReleaseSurvivesAKilledConnection) {
    const private_server server;
    for (int time = 0; time < 10 && !HasFatalFailure(); ++time) {
        SCOPED_TRACE(time);
        {
            client ending{url_of(server.at())};
            const lease held = ending.acquire(exclusive("x"));
            EXPECT_EQ(server.ask({"CLIENT", "KILL", "TYPE", "pubsub"}).number, 1);
        }
        expect_free_and_unmarked(server.at());
    }
}

// The connection is reset after every few bytes of the client's last messages.
TEST_F(RedisReleaseFault, AReleaseSurvivesAResetAtAnyByte) {
    const private_server server;
    const folder files;
    proxy proxy{server.at(), files.path("proxy")};
    std::size_t cut_at = 0;
    for (bool reached = true; reached && !HasFatalFailure(); cut_at += 7) {
        SCOPED_TRACE(cut_at);
        const auto resets = proxy.seen().resets;
        {
            client ending{url_of(proxy.at()), {.label = {}, .close_wait = 20s}};
            const lease held = ending.acquire(exclusive("x"));
            proxy.set({.reset_after_request = cut_at});
        }
        reached = proxy.seen().resets > resets;
        proxy.set({});
        expect_free_and_unmarked(server.at());
    }
    EXPECT_GT(cut_at, 100U) << "a leave and a close are longer than that";
}

TEST_F(RedisReleaseFault, AReleaseSurvivesARestartOfTheServer) {
    private_server server{{.keeps_data = true}};
    auto ending = std::make_unique<client>(url_of(server.at()), client_options{.label = {}, .close_wait = 60s});
    auto held = std::make_unique<lease>(ending->acquire(exclusive("x")));
    server.kill();
    const auto ended = std::async(std::launch::async, [&] {
        held.reset();
        ending.reset();
    });
    server.start();
    ended.wait();
    expect_free_and_unmarked(server.at());
}

TEST_F(RedisReleaseFault, AnAbandonedNameIsMarkedAlthoughTheConnectionWasLost) {
    const private_server server;
    {
        client ending{url_of(server.at())};
        lease held = ending.acquire(exclusive("x"));
        EXPECT_EQ(server.ask({"FUNCTION", "FLUSH"}).text, "OK");
        held.abandon();
    }
    client other{url_of(server.at())};
    const auto lease = other.try_acquire(exclusive("x"));
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease->abandoned().size(), 1U);
}

TEST_F(RedisReleaseFault, AWaiterThatEndsIsWithdrawnAlthoughTheConnectionWasLost) {
    const private_server server;
    client holder{url_of(server.at())};
    lease held = holder.acquire(exclusive("x"));
    {
        client ending{url_of(server.at())};
        ending.async_acquire(exclusive("x"), {}, {}, [](std::error_code, const lease&) {});
        ASSERT_TRUE(eventually([&] { return holder.inspect().requests.size() == 2; }));
        EXPECT_EQ(server.ask({"FUNCTION", "FLUSH"}).text, "OK");
    }
    held.release();
    EXPECT_TRUE(holder.close(10s));
    expect_free_and_unmarked(server.at());
}

TEST_F(RedisReleaseFault, CloseReturnsWhetherTheReleaseWasConfirmed) {
    private_server server;
    client confirmed{url_of(server.at())};
    client unconfirmed{url_of(server.at())};
    const lease first = confirmed.acquire(exclusive("x"));
    const lease second = unconfirmed.acquire(exclusive("y"));
    EXPECT_TRUE(confirmed.close(20s));
    EXPECT_TRUE(confirmed.close(20s)) << "again";
    server.kill();
    EXPECT_FALSE(unconfirmed.close(100ms));
}

}  // namespace
}  // namespace baton::redis_tests
