// State that was succeeded comes back: databases are swapped twice, older keys are restored, an earlier primary serves
// again. The first client that calls afterwards missed all of it: it knows the epoch of the state that came back.
#include <functional>

#include "server_clock.hpp"
#include "state_test.hpp"

namespace baton::redis_tests {
namespace {

class RedisReturningState : public RedisState {
protected:
    /// A client with a connection that the test cuts.
    class guest {
    public:
        explicit guest(const endpoint& server) : way_{server, place_.path("way")}, client_{client_to(way_.at())} {
            warm_up(client_);
        }
        void leave() { way_.cut({.refuse = true}); }
        void come_back() { way_.set({}); }
        void move_to(const endpoint& server) { way_.move_to(server); }
        [[nodiscard]] client& who() { return client_; }

    private:
        folder place_;
        proxy way_;
        client client_;
    };

    /// `lose` takes the state away, and `bring_back` restores it exactly. Between them another state is used.
    static void play(const private_server& server, const std::function<void()>& lose,
                     const std::function<void()>& bring_back) {
        guest absent{server.at()};
        guest present{server.at()};
        lone_holder lone{server.at()};
        wait_until_long_up(server);
        absent.leave();
        lose();
        warm_up(present.who());
        lone.acquire();
        present.leave();
        lone.cut_off();
        bring_back();
        absent.come_back();
        expect_passes_on(absent.who(), lone);
    }
};

TEST_F(RedisReturningState, DatabasesAreSwappedAndSwappedBack) {
    const private_server server;
    const auto swap = [&] { EXPECT_EQ(server.ask({"SWAPDB", "0", "1"}).text, "OK"); };
    play(server, swap, swap);
}

TEST_F(RedisReturningState, KeysAreFlushedAndRestoredAsTheyWere) {
    const private_server server;
    std::vector<std::vector<std::string>> commands{{"FLUSHALL"}};
    play(
        server,
        [&] {
            for (const resp::value& key : server.ask({"KEYS", "baton:*"}).items)
                commands.push_back({"RESTORE", key.text, "0", server.ask({"DUMP", key.text}).text});
            EXPECT_EQ(server.ask({"FLUSHALL"}).text, "OK");
        },
        [&] {
            for (const auto& command : commands) EXPECT_EQ(server.ask(command).text, "OK");
        });
}

/// The state is lost twice in a row. A holder that missed both losses and comes back in the second pause keeps its
/// lease.
TEST_F(RedisReturningState, AHolderMissesTwoLosses) {
    constexpr std::chrono::seconds ttl{4};
    const terms terms{.max_ttl = ttl};
    const private_server server;
    const folder files;
    proxy way{server.at(), files.path("way")};
    client holder = client_to(way.at(), terms, ttl);
    client other = client_to(server.at(), terms, ttl);
    warm_up(other);
    const lease held = holder.acquire(exclusive("x"), patiently);
    const auto fence = held.fence();
    ASSERT_TRUE(eventually([&] { return is_fresh(held, ttl); }));
    way.cut({.refuse = true});
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(server.ask({"FLUSHALL"}).text, "OK");
        static_cast<void>(other.inspect());  // detects the loss
    }
    EXPECT_EQ(server.ask({"HGET", "baton:{default}:i", "pauses"}).text, "1") << "of a space that was made anew";
    way.set({});
    std::error_code error;
    const lease next = other.acquire(exclusive("x"), {.wait = terms.pause() + 400ms}, error);
    EXPECT_FALSE(next.valid()) << (held.valid() ? "two believers" : "the holder has lost its lease");
    EXPECT_TRUE(held.valid()) << to_string(held.lost_reason());
    EXPECT_EQ(held.fence(), fence);
}

/// Two servers succeed one epoch. Their clock was set back since it began, so neither takes the new epoch from the
/// clock. A grant of the second server is not known to the first, although the first has assigned larger numbers.
TEST_F(RedisReturningState, TwoServersSucceedOneEpochUnderAClockThatIsBehind) {
    const folder files;
    server_clock clock{files.path("clock")};
    clock.jump(1h);
    private_server first{{.keeps_data = true, .clock = &clock}};
    const private_server second{{.clock = &clock}};
    guest moves{first.at()};
    guest stays{first.at()};
    moves.leave();
    clock.jump(-1h);
    first.kill();
    first.start();
    for (int i = 0; i < 20; ++i) warm_up(stays.who());
    stays.leave();
    moves.move_to(second.at());
    moves.come_back();
    warm_up(moves.who());
    lone_holder lone{second.at()};
    lone.acquire();
    lone.cut_off();
    moves.move_to(first.at());
    expect_passes_on(moves.who(), lone);
}

}  // namespace
}  // namespace baton::redis_tests
