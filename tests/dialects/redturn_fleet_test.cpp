// Our clients among those of red-turn and redturn.ts, which peers/redturn.py plays with all their faults: one queue,
// whoever stands in it, and whoever dies in it.
#include <set>

#include "redturn_test.hpp"

namespace baton::dialect_tests {
namespace {

using peer_ptr = std::unique_ptr<line_process>;

/// Long enough that nothing ends by itself, on a machine that is busy.
constexpr const char* long_timeout = "60000";

class RedturnFleet : public RedturnTest {
protected:
    void take(line_process& peer, const std::string& tag, const std::string& name,
              const std::string& options = {}) const {
        peer.tell("acquire " + tag + " " + name + " " + options);
        EXPECT_EQ(peer.hear(), "acquired " + tag);
    }
    /// Waits behind those who are there.
    void connection_up(line_process& peer, const std::string& tag, const std::string& name,
                       const std::string& options = {}) const {
        const std::int64_t before = ask({"LLEN", name}).number;
        peer.tell("acquire " + tag + " " + name + " " + options);
        ASSERT_TRUE(grows_to(name, before + 1));
    }
    static void give(line_process& peer, const std::string& tag) {
        peer.tell("release " + tag);
        EXPECT_EQ(peer.hear(), "released " + tag);
    }
    /// To another of its own, of which it may hear first.
    static void pass_on(line_process& peer, const std::string& tag, const std::string& next) {
        peer.tell("release " + tag);
        const std::set<std::string> heard{peer.hear(), peer.hear()};
        EXPECT_EQ(heard, (std::set<std::string>{"acquired " + next, "released " + tag}));
    }
};

/// Those who wait behind it have timers for it; each of its ids is gone when its time is over.
TEST_F(RedturnFleet, ARefreshedLeaseOutlivesTheTimersOfAllWhoWait) {
    const peer_ptr ts = peer({"--timeout-ms", long_timeout});
    const peer_ptr erlang = peer({"--arguments", "erlang", "--timeout-ms", long_timeout});
    client ours = join("&timeout=500ms&refresh_interval=50ms");
    lease held = ours.acquire(exclusive("a"));
    connection_up(*ts, "x", "a");
    connection_up(*erlang, "y", "a");
    // Whoever expires it calls for the id that it knew, and hears of another: twice each.
    const auto begun = performed("eval");
    EXPECT_TRUE(eventually([&] { return performed("eval") >= begun + 4; }));
    EXPECT_TRUE(held.valid());
    EXPECT_TRUE(ts->silent_about("acquired"));
    EXPECT_TRUE(erlang->silent_about("acquired"));
    held.release();
    EXPECT_EQ(ts->hear(), "acquired x");
    ts->tell("refresh x");
    EXPECT_EQ(ts->hear(), "refreshed x");
    give(*ts, "x");
    EXPECT_EQ(erlang->hear(), "acquired y");
    give(*erlang, "y");
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(RedturnFleet, APeerThatDiesOrHangsIsPassedOver) {
    client ours = join("&timeout=60s&refresh_interval=200ms");
    {
        const peer_ptr killed = peer({"--timeout-ms", "200"});
        take(*killed, "x", "a");
        killed->end(SIGKILL);
        const lease held = ours.acquire(exclusive("a"), {.wait = long_enough});
        EXPECT_TRUE(held.valid());
        ASSERT_EQ(held.abandoned().size(), 1U);
    }
    {
        const peer_ptr killed = peer({"--timeout-ms", "200"}), next = peer({"--timeout-ms", long_timeout});
        lease held = ours.acquire(exclusive("a"));
        connection_up(*killed, "x", "a");
        pending waiting{ours, "a"};
        ASSERT_TRUE(grows_to("a", 3));
        connection_up(*next, "y", "a");
        killed->end(SIGKILL);
        held.release();  // to one that is dead
        lease after = waiting.held();
        EXPECT_TRUE(after.valid());
        after.release();
        EXPECT_EQ(next->hear(), "acquired y");
        give(*next, "y");
    }
    {
        const peer_ptr silent = peer({"--timeout-ms", "200"});
        take(*silent, "x", "a");
        silent->tell("silence x");
        EXPECT_EQ(silent->hear(), "silenced x");
        lease held = ours.acquire(exclusive("a"), {.wait = long_enough});
        EXPECT_TRUE(held.valid());
        silent->tell("release x");  // too late
        EXPECT_EQ(silent->hear(), "released x");
        hear_all(ours);
        EXPECT_TRUE(held.valid());
        EXPECT_EQ(queue("a").size(), 1U);
    }
    EXPECT_TRUE(nothing_is_left());
}

/// The time of what a peer holds is over, and it does not know.
TEST_F(RedturnFleet, APeerIsGivenUpAfterItsTime) {
    client ours = join("&timeout=60s");
    const peer_ptr short_lived = peer({"--timeout-ms", "100"});
    take(*short_lived, "z", "a");  // it expires itself, too, as the originals do
    lease held = ours.acquire(exclusive("a"), {.wait = long_enough});
    EXPECT_TRUE(held.valid());
    short_lived->tell("release z");
    EXPECT_EQ(short_lived->hear(), "released z");
    EXPECT_EQ(queue("a").size(), 1U);
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(RedturnFleet, OurReleaseAfterALossHarmsNobody) {
    const peer_ptr other = peer({"--timeout-ms", long_timeout});
    client ours = join("&timeout=10s&refresh_interval=50ms");
    lease held = ours.acquire(exclusive("a"));
    connection_up(*other, "x", "a");
    connection_up(*other, "y", "a");
    // Somebody takes it from us, as a client does whose clock runs fast.
    EXPECT_TRUE(eventually([&] {
        const std::string mine = head("a");
        const std::string remove = R"(
            if redis.call('LINDEX', KEYS[1], 0) ~= ARGV[1] then return 0 end
            redis.call('LPOP', KEYS[1])
            local id, channel = redis.call('LINDEX', KEYS[1], 0):match('^([^:]*):([^:]*):')
            redis.call('PUBLISH', channel, id .. ':' .. KEYS[1])
            return 1)";
        return ask({"EVAL", remove, "1", "a", mine}).number == 1;
    }));
    EXPECT_EQ(other->hear(), "acquired x");
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(held.lost_reason(), loss::state_lost);
    held.release();
    hear_all(ours);
    EXPECT_EQ(queue("a").size(), 2U);
    EXPECT_TRUE(other->silent_about("acquired"));
    pass_on(*other, "x", "y");
    give(*other, "y");
    EXPECT_TRUE(nothing_is_left());
}

/// The notice is published while neither ours nor the peer listens.
TEST_F(RedturnFleet, ANoticeThatOursDidNotHearIsMadeUpFor) {
    const peer_ptr other = peer({"--timeout-ms", long_timeout});
    client ours = join("&timeout=60s");
    for (int i = 0; i < 5; ++i) {
        take(*other, "x", "a");
        pending waiting{ours, "a"};
        ASSERT_TRUE(grows_to("a", 2));
        connection_up(*other, "y", "a");
        EXPECT_EQ(ask({"CLIENT", "KILL", "TYPE", "pubsub"}).number, 2);
        give(*other, "x");
        lease held = waiting.held();
        EXPECT_TRUE(held.valid());
        // The peer hears again of what happens after it has subscribed again.
        EXPECT_TRUE(eventually([&] {
            return ask({"PUBSUB", "NUMSUB", channel_of(queue("a").at(1))}).items.at(1).number == 1;
        }));
        EXPECT_TRUE(other->silent_about("acquired"));
        held.release();
        EXPECT_EQ(other->hear(), "acquired y");
        give(*other, "y");
    }
    EXPECT_TRUE(nothing_is_left());
}

/// What stands in the list for one of ours that is no more is in the way of a peer that waits.
TEST_F(RedturnFleet, AnElementOfOursThatNobodyKnowsIsRemovedForThePeerBehindIt) {
    const peer_ptr other = peer({"--timeout-ms", long_timeout});
    client ours = join("&timeout=60s");
    lease held = ours.acquire(exclusive("b"));
    const std::string channel = channel_of(head("b"));
    take(*other, "x", "a");
    EXPECT_EQ(ask({"RPUSH", "a", channel + ".987654:" + channel + ":600000"}).number, 2);
    connection_up(*other, "y", "a");
    pass_on(*other, "x", "y");
    give(*other, "y");
    EXPECT_TRUE(held.valid());
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

}  // namespace
}  // namespace baton::dialect_tests
