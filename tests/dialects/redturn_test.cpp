// The queue of red-turn and redturn.ts: their own tests, held to our client, and each fault of their protocol that is
// cured. What it has in common with the other dialects: each_dialect_test.cpp. Beside the originals:
// redturn_fleet_test.cpp.
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
        EXPECT_EQ(performed("evalsha"), 1U);  // what the server answers is believed, with or without its notice
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
    hear_all(ours);
    EXPECT_FALSE(second.is_over());
    first.release();
    lease held = second.held();
    EXPECT_TRUE(held.valid());
    EXPECT_GT(held.fence(), first.fence());
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, Original_ADeadHolderIsClearedByAnotherClientAndTheOrderIsKept) {
    // As JavaScript may write a time.
    ASSERT_EQ(ask({"RPUSH", "a", "dead:nobody:50.5"}).number, 1);
    client one = join(), two = join();
    pending first{one, "a"};
    EXPECT_TRUE(grows_to("a", 2));
    pending second{two, "a"};
    lease held = first.held();
    EXPECT_TRUE(held.valid());
    // Known to whoever removes it in time; the other may be quicker.
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

// ---- the faults of their protocol ----

/// Where nobody is left in the list, their script fails; and whoever is told of an id that it does not know leaves it
/// there, in everybody's way.
TEST_F(Redturn, ANoticeOfAnUnknownIdIsRemovedAtOnceAndAnEmptyListIsNoError) {
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
    hear_all(ours);
    EXPECT_EQ(ask({"INFO", "errorstats"}).text, errors);
    EXPECT_TRUE(held.valid());
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, ALostNoticeDelaysAndALateOneMakesNoSecondOwner) {
    ASSERT_EQ(ask({"RPUSH", "a", "other:elsewhere:600000"}).number, 1);
    client ours = join("&timeout=60s");
    pending waiting{ours, "a", {.wait = 10s}};  // before the next renewal, which would look as well
    ASSERT_TRUE(grows_to("a", 2));
    const std::string mine = queue("a").at(1);
    for (const std::string& notice : {id_of(mine) + ":a", "a:" + id_of(mine)})
        EXPECT_EQ(ask({"PUBLISH", channel_of(mine), notice}).number, 1);
    hear_all(ours);
    EXPECT_FALSE(waiting.is_over());
    EXPECT_EQ(head("a"), "other:elsewhere:600000");
    EXPECT_EQ(ask({"LPOP", "a"}).text, "other:elsewhere:600000");
    lease held = waiting.held();
    EXPECT_TRUE(held.valid());
    // Others may have known for long that it is first: their timers are for another id.
    EXPECT_NE(head("a"), mine);
    EXPECT_EQ(ask({"PUBLISH", channel_of(mine), id_of(mine) + ":a"}).number, 1);
    hear_all(ours);
    EXPECT_TRUE(held.valid());
    EXPECT_EQ(queue("a").size(), 1U);
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

/// The notice is on its way while the waiter gives up, at every moment of the way: the turn is its own by now, or its
/// element has vanished, which it would add again.
TEST_F(Redturn, WhatIsHeardWhileARequestLeavesBringsNothingBack) {
    proxied slow{*server_, name_};
    client ours = slow.join("&timeout=60s");
    hear_all(ours);
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
            for (int i = 0; i < 2; ++i) hear_all(ours);  // all that it may still have to say
            ASSERT_TRUE(nothing_is_left()) << vanishes << late;
        }
}

// ---- as all leases ----

/// Replies that never come, and requests that come when nobody expects them any more.
TEST_F(Redturn, WhatIsLostOrLateOnTheWayNeitherDuplicatesNorBlocks) {
    proxied way{*server_, name_};
    client ours = way.join("&timeout=1s"), other = join("&timeout=60s");
    hear_all(ours);
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
        hear_all(ours);
        EXPECT_TRUE(grows_to("b", 0));
        held.release();
        mine.release();
        EXPECT_TRUE(nothing_is_left()) << late;
        EXPECT_TRUE(other.acquire(exclusive("a"), {.wait = 5s}).valid());
        EXPECT_TRUE(other.acquire(exclusive("lost"), {.wait = 5s}).valid());
    }
}

/// It is not known which of its ids the element has: that of a renewal that never came, or of one that did.
TEST_F(Redturn, ALeaseOutlivesRenewalsOfWhichNothingWasHeard) {
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
        hear_all(ours);
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

/// More renewals are under way than answers: each must be told from the others, and a grant in between is one.
TEST_F(Redturn, RenewalsMayOvertakeTheirAnswers) {
    proxied slow{*server_, name_};
    client ours = slow.join("&timeout=10s&refresh_interval=10ms");
    hear_all(ours);
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

/// Were it not by notice, each would take half a second on average.
TEST_F(Redturn, HandOverIsByNotice) {
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

// ---- what else stands in the server ----

TEST_F(Redturn, WhatIsNoQueueIsRefusedOrWaitedForAndNeverTouched) {
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
    EXPECT_EQ(performed("hello"), connections);  // none was given up for an answer that is too long
    EXPECT_TRUE(held.valid());
    held.release();
    EXPECT_TRUE(eventually([&] { return keys() == std::vector<std::string>{"blobs", "jobs", "text"}; }));
    EXPECT_EQ(ask({"LLEN", "blobs"}).number, 1);
    EXPECT_EQ(ask({"LLEN", "jobs"}).number, 2);
}

/// It is asked again, but not as fast as it says no.
TEST_F(Redturn, AServerThatCannotWriteIsWaitedFor) {
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

TEST_F(Redturn, WhoMayNotSubscribeIsToldSo) {
    EXPECT_EQ(ask({"ACL", "SETUSER", "default", "resetchannels"}).text, "OK");
    std::error_code error;
    client ours = join();
    EXPECT_FALSE(ours.acquire(exclusive("a"), {.wait = 5s}, error).valid());
    EXPECT_EQ(error, errc::not_permitted);
}

}  // namespace
}  // namespace baton::dialect_tests
