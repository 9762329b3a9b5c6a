// Our clients in one queue with those of red-turn and redturn.ts, which peers/redturn.py plays with all their faults;
// holders and waiters of both kinds die.
#include <set>

#include "redturn_test.hpp"

namespace baton::dialect_tests {
namespace {

using peer_ptr = std::unique_ptr<line_process>;

/// With this timeout, in ms, nothing expires during a test.
constexpr const char* long_timeout = "60000";

class RedturnFleet : public RedturnTest {
protected:
    void take(line_process& peer, const std::string& tag, const std::string& name,
              const std::string& options = {}) const {
        peer.tell("acquire " + tag + " " + name + " " + options);
        EXPECT_EQ(peer.hear(), "acquired " + tag);
    }
    /// The peer joins the queue at its end.
    void join_queue(line_process& peer, const std::string& tag, const std::string& name,
                    const std::string& options = {}) const {
        const std::int64_t before = ask({"LLEN", name}).number;
        peer.tell("acquire " + tag + " " + name + " " + options);
        ASSERT_TRUE(grows_to(name, before + 1));
    }
    static void give(line_process& peer, const std::string& tag) {
        peer.tell("release " + tag);
        EXPECT_EQ(peer.hear(), "released " + tag);
    }
    /// Releases to another request of the same peer, which may report the grant before the release.
    static void pass_on(line_process& peer, const std::string& tag, const std::string& next) {
        peer.tell("release " + tag);
        const std::set<std::string> heard{peer.hear(), peer.hear()};
        EXPECT_EQ(heard, (std::set<std::string>{"acquired " + next, "released " + tag}));
    }
};

/// The waiters behind it have timers for its element, and each refresh changes the element's id before its timer fires.
TEST_F(RedturnFleet, ARefreshedLeaseOutlivesTheTimersOfAllWaiters) {
    const peer_ptr ts = peer({"--timeout-ms", long_timeout});
    const peer_ptr erlang = peer({"--arguments", "erlang", "--timeout-ms", long_timeout});
    client ours = join("&timeout=500ms&refresh_interval=50ms");
    lease held = ours.acquire(exclusive("a"));
    join_queue(*ts, "x", "a");
    join_queue(*erlang, "y", "a");
    // Each waiter tries to remove the id that it knows and reads another one, twice.
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
        join_queue(*killed, "x", "a");
        pending waiting{ours, "a"};
        ASSERT_TRUE(grows_to("a", 3));
        join_queue(*next, "y", "a");
        killed->end(SIGKILL);
        held.release();  // to a dead waiter
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
        drain(ours);
        EXPECT_TRUE(held.valid());
        EXPECT_EQ(queue("a").size(), 1U);
    }
    EXPECT_TRUE(nothing_is_left());
}

/// The peer does not notice that its timeout has passed.
TEST_F(RedturnFleet, APeerThatHoldsBeyondItsTimeoutIsRemoved) {
    client ours = join("&timeout=60s");
    const peer_ptr short_lived = peer({"--timeout-ms", "100"});
    take(*short_lived, "z", "a");  // the peer also removes itself, as the originals do
    lease held = ours.acquire(exclusive("a"), {.wait = long_enough});
    EXPECT_TRUE(held.valid());
    short_lived->tell("release z");
    EXPECT_EQ(short_lived->hear(), "released z");
    EXPECT_EQ(queue("a").size(), 1U);
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(RedturnFleet, AReleaseAfterALossHasNoEffect) {
    const peer_ptr other = peer({"--timeout-ms", long_timeout});
    client ours = join("&timeout=10s&refresh_interval=50ms");
    lease held = ours.acquire(exclusive("a"));
    join_queue(*other, "x", "a");
    join_queue(*other, "y", "a");
    // A client whose clock runs fast removes our element.
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
    drain(ours);
    EXPECT_EQ(queue("a").size(), 2U);
    EXPECT_TRUE(other->silent_about("acquired"));
    pass_on(*other, "x", "y");
    give(*other, "y");
    EXPECT_TRUE(nothing_is_left());
}

/// The notification is published while neither our client nor the peer is subscribed.
TEST_F(RedturnFleet, AMissedNotificationOnlyDelaysOurWaiter) {
    const peer_ptr other = peer({"--timeout-ms", long_timeout});
    client ours = join("&timeout=60s");
    for (int i = 0; i < 5; ++i) {
        take(*other, "x", "a");
        pending waiting{ours, "a"};
        ASSERT_TRUE(grows_to("a", 2));
        join_queue(*other, "y", "a");
        EXPECT_EQ(ask({"CLIENT", "KILL", "TYPE", "pubsub"}).number, 2);
        give(*other, "x");
        lease held = waiting.held();
        EXPECT_TRUE(held.valid());
        // The peer receives notifications again when it has subscribed again.
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

/// The element names a channel of our client with an id that the client does not know, and a peer waits behind it.
TEST_F(RedturnFleet, AnUnknownElementOfOursIsRemovedForThePeerBehindIt) {
    const peer_ptr other = peer({"--timeout-ms", long_timeout});
    client ours = join("&timeout=60s");
    lease held = ours.acquire(exclusive("b"));
    const std::string channel = channel_of(head("b"));
    take(*other, "x", "a");
    EXPECT_EQ(ask({"RPUSH", "a", channel + ".987654:" + channel + ":600000"}).number, 2);
    join_queue(*other, "y", "a");
    pass_on(*other, "x", "y");
    give(*other, "y");
    EXPECT_TRUE(held.valid());
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

}  // namespace
}  // namespace baton::dialect_tests
