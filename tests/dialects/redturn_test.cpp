// The queue of red-turn and redturn.ts: the originals' own tests with our client, and each fault of their protocol that
// our client does not have. each_dialect_test.cpp has the tests that all dialects share, redturn_fleet_test.cpp those
// with peers.
#include "redturn_test.hpp"

#include <atomic>
#include <regex>

#include "../folder.hpp"
#include "../redis/proxy.hpp"

namespace baton::dialect_tests {
namespace {

using Redturn = RedturnTest;

// ---- the originals' own tests ----

TEST_F(Redturn, Original_WaitStoresOneElementWithItsOwnIdAndSignalEmptiesTheList) {
    client ours = join();
    {
        const lease held = ours.acquire(exclusive("a"));
        EXPECT_EQ(performed("evalsha"), 1U);  // the reply is enough; the notification is not needed
        EXPECT_TRUE(held.valid());
        EXPECT_NE(held.fence(), 0U);
        EXPECT_TRUE(held.abandoned().empty());
        const auto elements = queue("a");
        ASSERT_EQ(elements.size(), 1U);
        EXPECT_TRUE(std::regex_match(elements[0], std::regex{R"(([0-9a-f]{32})\.[0-9]+:\1:10000)"})) << elements[0];
        EXPECT_EQ(ask({"PUBSUB", "NUMSUB", channel_of(elements[0])}).items.at(1).number, 1);
        EXPECT_EQ(ask({"TTL", "a"}).number, -1);
    }
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, Original_TwoWaitsOfOneClientSerialise) {
    client ours = join();
    lease first = ours.acquire(exclusive("a"));
    pending second{ours, "a"};
    EXPECT_TRUE(grows_to("a", 2));
    const auto elements = queue("a");
    EXPECT_NE(id_of(elements.at(0)), id_of(elements.at(1)));
    EXPECT_EQ(channel_of(elements.at(0)), channel_of(elements.at(1)));
    drain(ours);
    EXPECT_FALSE(second.is_over());
    first.release();
    lease held = second.held();
    EXPECT_TRUE(held.valid());
    EXPECT_GT(held.fence(), first.fence());
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, Original_ADeadHolderIsClearedByAnotherClientAndTheOrderIsKept) {
    // JavaScript may write a time like this.
    ASSERT_EQ(ask({"RPUSH", "a", "dead:nobody:50.5"}).number, 1);
    client one = join(), two = join();
    pending first{one, "a"};
    EXPECT_TRUE(grows_to("a", 2));
    pending second{two, "a"};
    lease held = first.held();
    EXPECT_TRUE(held.valid());
    // Only the client that removed the dead holder knows of it, and that may be the second one.
    if (!held.abandoned().empty()) {
        EXPECT_EQ(held.abandoned().at(0).resource, "a");
        EXPECT_EQ(held.abandoned().at(0).label, "dead of nobody");
    }
    EXPECT_FALSE(second.is_over());
    held.release();
    EXPECT_TRUE(second.held().valid());
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, Original_RefreshChangesTheIdAndKeepsTheChannel) {
    client ours = join("&timeout=10s&refresh_interval=50ms");
    lease held = ours.acquire(exclusive("a"));
    const std::string before = head("a");
    EXPECT_TRUE(eventually([&] { return head("a") != before; }));
    const auto after = queue("a");
    ASSERT_EQ(after.size(), 1U);
    EXPECT_NE(id_of(after[0]), id_of(before));
    EXPECT_EQ(channel_of(after[0]), channel_of(before));
    EXPECT_TRUE(held.valid());
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, Original_AThousandOneAfterAnother) {
    client ours = join();
    std::uint64_t last = 0;
    for (int i = 0; i < 1'000; ++i) {
        const lease held = ours.acquire(exclusive("a"));
        ASSERT_GT(held.fence(), last);
        last = held.fence();
    }
    EXPECT_TRUE(nothing_is_left());
}

// ---- faults of the originals that our client does not have ----

/// The originals' script fails on an empty list, and an original that is notified of an unknown id leaves the element
/// there, where it blocks the queue.
TEST_F(Redturn, AnElementWithAnUnknownIdIsRemovedAndAnEmptyListIsNoError) {
    client ours = join("&timeout=60s");
    lease held = ours.acquire(exclusive("a"));
    const std::string channel = channel_of(head("a"));
    const std::string stranger = channel + ".777777";
    const std::string errors = ask({"INFO", "errorstats"}).text;
    for (const std::string& name : {std::string{"q"}, std::string{"q:1 x"}, std::string{"\0\xff:", 3}})
        for (const std::string& notice : {stranger + ":" + name, name + ":" + stranger}) {
            EXPECT_EQ(ask({"RPUSH", name, stranger + ":" + channel + ":600000"}).number, 1);
            EXPECT_EQ(ask({"PUBLISH", channel, notice}).number, 1);
            EXPECT_TRUE(grows_to(name, 0));
        }
    const auto times = performed("evalsha");
    EXPECT_EQ(ask({"PUBLISH", channel, stranger + ":nothing"}).number, 1);
    for (const char* senseless : {"", ":", "::", "x", "x:", ":x"})
        EXPECT_EQ(ask({"PUBLISH", channel, senseless}).number, 1);
    EXPECT_TRUE(eventually([&] { return performed("evalsha") > times; }));
    drain(ours);
    EXPECT_EQ(ask({"INFO", "errorstats"}).text, errors);
    EXPECT_TRUE(held.valid());
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, ALostNotificationOnlyDelaysAndALateOneMakesNoSecondHolder) {
    ASSERT_EQ(ask({"RPUSH", "a", "other:elsewhere:600000"}).number, 1);
    client ours = join("&timeout=60s");
    pending waiting{ours, "a", {.wait = 10s}};  // shorter than the interval of renewals, which would detect it as well
    ASSERT_TRUE(grows_to("a", 2));
    const std::string mine = queue("a").at(1);
    for (const std::string& notice : {id_of(mine) + ":a", "a:" + id_of(mine)})
        EXPECT_EQ(ask({"PUBLISH", channel_of(mine), notice}).number, 1);
    drain(ours);
    EXPECT_FALSE(waiting.is_over());
    EXPECT_EQ(head("a"), "other:elsewhere:600000");
    EXPECT_EQ(ask({"LPOP", "a"}).text, "other:elsewhere:600000");
    lease held = waiting.held();
    EXPECT_TRUE(held.valid());
    // The element has a new id, so that timers that other clients set for the old id have no effect.
    EXPECT_NE(head("a"), mine);
    EXPECT_EQ(ask({"PUBLISH", channel_of(mine), id_of(mine) + ":a"}).number, 1);
    drain(ours);
    EXPECT_TRUE(held.valid());
    EXPECT_EQ(queue("a").size(), 1U);
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

/// The waiter leaves at different moments while a notification is on the network. Its element is first by then, or was
/// deleted, and the waiter must not add it again.
TEST_F(Redturn, ANotificationDuringALeaveDoesNotAddTheElementAgain) {
    proxied slow{*server_, name_};
    client ours = slow.join("&timeout=60s");
    drain(ours);
    slow.proxy.set({.delay = 10ms});
    for (const bool vanishes : {false, true})
        for (int late = 0; late < 50; late += 7) {
            ASSERT_EQ(ask({"RPUSH", "a", "other:elsewhere:600000"}).number, 1);
            std::stop_source stop;
            auto stopped = std::async(std::launch::async, [&] {
                std::error_code error;
                static_cast<void>(ours.acquire(exclusive("a"), {}, stop.get_token(), error));
            });
            ASSERT_TRUE(grows_to("a", 2));
            const std::string mine = queue("a").at(1);
            EXPECT_FALSE(ask({vanishes ? "DEL" : "LPOP", "a"}).kind == resp::kind::error);
            EXPECT_EQ(ask({"PUBLISH", channel_of(mine), id_of(mine) + ":a"}).number, 1);
            const auto then = std::chrono::steady_clock::now() + std::chrono::milliseconds{late};
            EXPECT_TRUE(eventually([&] { return std::chrono::steady_clock::now() >= then; }));
            stop.request_stop();
            stopped.get();
            for (int i = 0; i < 2; ++i) drain(ours);  // all pending commands have had their effect
            ASSERT_TRUE(nothing_is_left()) << vanishes << late;
        }
}

// ---- leases ----

TEST_F(Redturn, LostRepliesAndLateCommandsNeitherDuplicateNorBlock) {
    proxied way{*server_, name_};
    client ours = way.join("&timeout=1s"), other = join("&timeout=60s");
    drain(ours);
    for (const bool late : {false, true}) {
        pending lost{ours, "lost"};
        lease mine = lost.held();
        EXPECT_TRUE(mine.valid());
        way.proxy.set({.drop_replies = !late, .late = late});
        pending asked{ours, "a"};
        pending gives_up{ours, "b", {.wait = 10ms}};
        EXPECT_FALSE(gives_up.held().valid());
        EXPECT_TRUE(late || grows_to("a", 1));
        way.proxy.cut({});
        lease held = asked.held();
        EXPECT_TRUE(held.valid());
        drain(ours);
        EXPECT_TRUE(grows_to("b", 0));
        held.release();
        mine.release();
        EXPECT_TRUE(nothing_is_left()) << late;
        EXPECT_TRUE(other.acquire(exclusive("a"), {.wait = 5s}).valid());
        EXPECT_TRUE(other.acquire(exclusive("lost"), {.wait = 5s}).valid());
    }
}

/// The client does not know which id the element has, because the renewal or its reply was lost.
TEST_F(Redturn, ALeaseOutlivesRenewalsWhoseRepliesAreLost) {
    proxied way{*server_, name_};
    client ours = way.join("&timeout=20s&refresh_interval=50ms");
    lease held = ours.acquire(exclusive("a"));
    for (const bool arrives : {false, true, false}) {
        const auto before = way.proxy.seen().request_bytes;
        way.proxy.set({.drop_replies = arrives, .swallow_requests = !arrives});
        EXPECT_TRUE(eventually([&] { return way.proxy.seen().request_bytes > before + 300; }));
        const std::string unheard = head("a");
        way.proxy.cut({});
        EXPECT_TRUE(eventually([&] { return head("a") != unheard; }));
        drain(ours);
        EXPECT_TRUE(held.valid());
        EXPECT_FALSE(held.lost().stop_requested());
    }
    const auto before = way.proxy.seen().request_bytes;
    way.proxy.set({.swallow_requests = true});
    EXPECT_TRUE(eventually([&] { return way.proxy.seen().request_bytes > before + 300; }));
    held.release();
    way.proxy.cut({});
    EXPECT_TRUE(nothing_is_left());
}

/// Several renewals are pending at once, and a grant is among them. Each reply is matched with its command.
TEST_F(Redturn, RenewalsMayBeSentBeforeTheRepliesToEarlierOnes) {
    proxied slow{*server_, name_};
    client ours = slow.join("&timeout=10s&refresh_interval=10ms");
    drain(ours);
    slow.proxy.set({.delay = 30ms});
    lease held = ours.acquire(exclusive("a"), {.wait = 10s});
    pending waiting{ours, "a"};
    ASSERT_TRUE(grows_to("a", 2));
    for (int i = 0; i < 10; ++i) {
        const std::string before = head("a");
        ASSERT_TRUE(eventually([&] { return head("a") != before; }));
    }
    EXPECT_TRUE(held.valid());
    EXPECT_EQ(queue("a").size(), 2U);
    held.release();
    EXPECT_TRUE(waiting.held().valid());
    slow.proxy.set({});
    EXPECT_TRUE(nothing_is_left());
}

/// By polling, each hand-off would take 0.5 s on average.
TEST_F(Redturn, AHandOffNotifiesTheWaiter) {
    client first = join("&timeout=60s"), second = join("&timeout=60s");
    const auto begun = std::chrono::steady_clock::now();
    lease held = first.acquire(exclusive("a"));
    for (int i = 0; i < 20; ++i) {
        pending next{i % 2 == 0 ? second : first, "a"};
        ASSERT_TRUE(grows_to("a", 2));
        held.release();
        held = next.held();
        ASSERT_TRUE(held.valid());
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 4s);
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

// ---- other data, and faults of the server ----

TEST_F(Redturn, ForeignDataIsRefusedOrWaitedForAndNeverChanged) {
    EXPECT_EQ(ask({"SET", "text", "x"}).text, "OK");
    const std::string huge(2U << 20U, 'x');
    EXPECT_EQ(ask({"RPUSH", "blobs", huge}).number, 1);
    EXPECT_EQ(ask({"RPUSH", "jobs", "one", "two"}).number, 2);
    client ours = join("&timeout=1s");
    lease held = ours.acquire(exclusive("a"));
    const auto connections = performed("hello");
    std::error_code error;
    EXPECT_FALSE(ours.acquire(exclusive("text"), {}, error).valid());
    EXPECT_EQ(error, errc::foreign_data);
    for (const char* name : {"blobs", "jobs"}) {
        EXPECT_FALSE(ours.acquire(exclusive(name), {.wait = 50ms}, error).valid());
        EXPECT_EQ(error, errc::timed_out);
    }
    const snapshot seen = ours.inspect();
    ASSERT_EQ(seen.resources.size(), 1U);
    EXPECT_EQ(seen.resources[0].name, "a");
    EXPECT_TRUE(ours.inspect({inspect_filter::match::exact, "text"}).resources.empty());
    EXPECT_EQ(performed("hello"), connections);  // no connection was dropped because of a long reply
    EXPECT_TRUE(held.valid());
    held.release();
    EXPECT_TRUE(eventually([&] { return keys() == std::vector<std::string>{"blobs", "jobs", "text"}; }));
    EXPECT_EQ(ask({"LLEN", "blobs"}).number, 1);
    EXPECT_EQ(ask({"LLEN", "jobs"}).number, 2);
}

/// The client reconnects fewer than 20 times in the time that three attempts and 300 ms take.
TEST_F(Redturn, AServerThatRefusesWritesIsRetriedWithBackOff) {
    client ours = join("&timeout=10s");
    lease held = ours.acquire(exclusive("held"));
    EXPECT_EQ(ask({"CONFIG", "SET", "min-replicas-to-write", "1"}).text, "OK");
    const auto before = performed("hello");
    pending waiting{ours, "a"};
    EXPECT_TRUE(eventually([&] { return performed("hello") >= before + 3; }));
    const auto then = std::chrono::steady_clock::now() + 300ms;
    EXPECT_TRUE(eventually([&] { return std::chrono::steady_clock::now() > then; }));
    EXPECT_LT(performed("hello"), before + 20);
    EXPECT_EQ(ask({"CONFIG", "SET", "min-replicas-to-write", "0"}).text, "OK");
    EXPECT_TRUE(waiting.held().valid());
    EXPECT_TRUE(held.valid());
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, AUserWithoutRightsToChannelsIsNotPermitted) {
    EXPECT_EQ(ask({"ACL", "SETUSER", "default", "resetchannels"}).text, "OK");
    std::error_code error;
    client ours = join();
    EXPECT_FALSE(ours.acquire(exclusive("a"), {.wait = 5s}, error).valid());
    EXPECT_EQ(error, errc::not_permitted);
}

}  // namespace
}  // namespace baton::dialect_tests
