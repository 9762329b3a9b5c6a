// The queue of red-turn and redturn.ts: their own tests, held to our client; each fault of their protocol that is
// cured; and that a lease of it is a lease as any other. Beside the originals: redturn_fleet_test.cpp.
#include "redturn_test.hpp"

#include <atomic>
#include <regex>

#include "../folder.hpp"
#include "../redis/proxy.hpp"

namespace baton::dialect_tests {
namespace {

using redis_tests::proxy;

class Redturn : public RedturnTest {
protected:
    /// A way to the server that can be cut.
    struct way {
        explicit way(const redis_tests::private_server& server) : proxy{server.at(), place.path("proxy")} {}
        [[nodiscard]] client join(const std::string& options) const {
            return client{"unix:" + proxy.at().path + "?dialect=redturn" + options};
        }
        folder place;
        redis_tests::proxy proxy;
    };

    static bool ends_as(const lease& lease, loss reason) {
        return eventually([&] { return lease.lost().stop_requested(); }) && !lease.valid() &&
               lease.lost_reason() == reason;
    }
};

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
    auto second = acquire_aside(ours, "a");
    EXPECT_TRUE(grows_to("a", 2));
    const auto elements = queue("a");
    EXPECT_NE(id_of(elements.at(0)), id_of(elements.at(1)));
    EXPECT_EQ(channel_of(elements.at(0)), channel_of(elements.at(1)));
    hear_all(ours);
    EXPECT_FALSE(is_ready(second));
    first.release();
    lease held = second.get();
    EXPECT_TRUE(held.valid());
    EXPECT_GT(held.fence(), first.fence());
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, Original_AsyncWait) {
    client ours = join();
    std::promise<std::pair<std::error_code, lease>> told;
    ours.async_acquire(exclusive("a"), {}, {}, [&](std::error_code error, lease granted) {
        told.set_value({error, std::move(granted)});
    });
    auto [error, held] = told.get_future().get();
    EXPECT_FALSE(error);
    EXPECT_TRUE(held.valid());
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, Original_TwoClientsHandOver) {
    client first = join(), second = join();
    lease held = first.acquire(exclusive("a"));
    EXPECT_FALSE(second.try_acquire(exclusive("a")));
    held.release();
    EXPECT_TRUE(second.acquire(exclusive("a"), {.wait = 5s}).valid());
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, Original_ADeadHolderIsClearedByAnotherClientAndTheOrderIsKept) {
    // As JavaScript may write a time.
    ASSERT_EQ(ask({"RPUSH", "a", "dead:nobody:50.5"}).number, 1);
    client one = join(), two = join();
    auto first = acquire_aside(one, "a");
    EXPECT_TRUE(grows_to("a", 2));
    auto second = acquire_aside(two, "a");
    lease held = first.get();
    EXPECT_TRUE(held.valid());
    // Known to whoever removes it in time; the other may be quicker.
    if (!held.abandoned().empty()) {
        EXPECT_EQ(held.abandoned().at(0).resource, "a");
        EXPECT_EQ(held.abandoned().at(0).label, "dead of nobody");
    }
    EXPECT_FALSE(is_ready(second));
    held.release();
    EXPECT_TRUE(second.get().valid());
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

/// And all that may befall the first element without us: the lease is lost, and only that one.
TEST_F(Redturn, Original_RefreshWithAWrongIdFailsAndLeavesTheHead) {
    client ours = join("&timeout=10s&refresh_interval=50ms");
    lease given = ours.acquire(exclusive("given")), gone = ours.acquire(exclusive("gone")),
          overwritten = ours.acquire(exclusive("overwritten")), kept = ours.acquire(exclusive("kept"));
    EXPECT_EQ(ask({"LSET", "given", "0", "x:y:60000"}).text, "OK");
    EXPECT_EQ(ask({"DEL", "gone"}).number, 1);
    EXPECT_EQ(ask({"SET", "overwritten", "text"}).text, "OK");
    for (const lease* each : {&given, &gone, &overwritten}) EXPECT_TRUE(ends_as(*each, loss::state_lost));
    for (lease* each : {&given, &gone, &overwritten}) each->release();
    const std::string renewed = head("kept");
    EXPECT_TRUE(eventually([&] { return head("kept") != renewed; }));
    hear_all(ours);
    EXPECT_EQ(queue("given"), std::vector<std::string>{"x:y:60000"});
    EXPECT_EQ(ask({"GET", "overwritten"}).text, "text");
    EXPECT_TRUE(kept.valid());
    EXPECT_FALSE(kept.lost().stop_requested());
    kept.release();
    EXPECT_TRUE(eventually([&] { return keys() == std::vector<std::string>{"given", "overwritten"}; }));
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

TEST_F(Redturn, Original_AThousandAtOnce) {
    constexpr int many = 1'000;
    client ours = join();
    std::atomic<int> inside = 0, granted = 0, together = 0;
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < many; ++i)
        ours.async_acquire(exclusive("a"), {}, {}, [&](std::error_code error, lease held) {
            if (error || ++inside != 1 || !held.valid()) ++together;
            --inside;
            held.release();
            ++granted;
        });
    EXPECT_TRUE(eventually([&] { return granted == many; }));
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
    EXPECT_EQ(together, 0);
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
    auto waiting = acquire_aside(ours, "a", {.wait = 10s});  // before the next renewal, which would look as well
    ASSERT_TRUE(grows_to("a", 2));
    const std::string mine = queue("a").at(1);
    for (const std::string& notice : {id_of(mine) + ":a", "a:" + id_of(mine)})
        EXPECT_EQ(ask({"PUBLISH", channel_of(mine), notice}).number, 1);
    hear_all(ours);
    EXPECT_FALSE(is_ready(waiting));
    EXPECT_EQ(head("a"), "other:elsewhere:600000");
    EXPECT_EQ(ask({"LPOP", "a"}).text, "other:elsewhere:600000");
    lease held = waiting.get();
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

TEST_F(Redturn, WhoGivesUpLeavesNothingBehind) {
    client holder = join(), ours = join("&timeout=60s");
    lease held = holder.acquire(exclusive("a"));
    auto timed_out = acquire_aside(ours, "a", {.wait = 50ms});
    EXPECT_FALSE(timed_out.get().valid());
    EXPECT_TRUE(grows_to("a", 1));
    std::stop_source stop;
    auto stopped = std::async(std::launch::async, [&] {
        std::error_code error;
        EXPECT_FALSE(ours.acquire(exclusive("a"), {}, stop.get_token(), error).valid());
        return error;
    });
    EXPECT_TRUE(grows_to("a", 2));
    stop.request_stop();
    EXPECT_EQ(stopped.get(), std::errc::operation_canceled);
    EXPECT_TRUE(grows_to("a", 1));
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

/// The notice is on its way while the waiter gives up, at every moment of the way: the turn is its own by now, or its
/// element has vanished, which it would add again.
TEST_F(Redturn, WhatIsHeardWhileARequestLeavesBringsNothingBack) {
    way slow{*server_};
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

TEST_F(Redturn, TheServerMayForgetTheScriptsAtAnyTime) {
    client first = join("&timeout=10s&refresh_interval=50ms"), second = join("&timeout=10s&refresh_interval=50ms");
    lease held = first.acquire(exclusive("a"));
    auto waiting = acquire_aside(second, "a");
    ASSERT_TRUE(grows_to("a", 2));
    for (int i = 0; i < 5; ++i) {
        const std::string before = head("a");
        EXPECT_EQ(ask({"SCRIPT", "FLUSH"}).text, "OK");
        EXPECT_TRUE(eventually([&] { return head("a") != before; }));
    }
    EXPECT_TRUE(held.valid());
    EXPECT_FALSE(held.lost().stop_requested());
    EXPECT_FALSE(is_ready(waiting));
    EXPECT_EQ(queue("a").size(), 2U);
    EXPECT_EQ(ask({"SCRIPT", "FLUSH"}).text, "OK");
    held.release();
    EXPECT_TRUE(waiting.get().valid());
    EXPECT_TRUE(nothing_is_left());
}

/// What was asked behind what is not answered any more must not get its answers.
TEST_F(Redturn, ManyLeasesSurviveThatTheScriptsAreForgotten) {
    client ours = join("&timeout=10s&refresh_interval=20ms");
    std::vector<lease> held;
    for (int i = 0; i < 50; ++i) held.push_back(ours.acquire(exclusive("n" + std::to_string(i))));
    for (int i = 0; i < 10; ++i) {
        const std::string before = head("n49");
        EXPECT_EQ(ask({"SCRIPT", "FLUSH"}).text, "OK");
        EXPECT_TRUE(eventually([&] { return head("n49") != before; }));
    }
    hear_all(ours);
    for (const lease& each : held) EXPECT_TRUE(each.valid());
    held.clear();
    EXPECT_TRUE(nothing_is_left());
}

// ---- as all leases ----

/// The holder stops believing before the timers of others give it away.
TEST_F(Redturn, ACutOffHolderKnowsThatItIsLostBeforeTheNextHasIt) {
    way way{*server_};
    client ours = way.join("&timeout=600ms"), other = join("&timeout=600ms");
    lease held = ours.acquire(exclusive("a"));
    const std::string channel = channel_of(head("a"));
    std::atomic<bool> both = false;
    std::promise<std::vector<abandoned>> next;
    lease taken;
    other.async_acquire(exclusive("a"), {}, {}, [&](std::error_code, lease granted) {
        both = held.valid();
        taken = std::move(granted);
        next.set_value(taken.abandoned());
    });
    ASSERT_TRUE(grows_to("a", 2));
    way.proxy.cut({.refuse = true});
    const auto marks = next.get_future().get();
    EXPECT_FALSE(both);
    EXPECT_TRUE(ends_as(held, loss::expired));
    ASSERT_EQ(marks.size(), 1U);
    EXPECT_EQ(marks[0].resource, "a");
    EXPECT_TRUE(marks[0].label.ends_with(" of " + channel)) << marks[0].label;
    way.proxy.set({});
    held.release();
    hear_all(ours);
    EXPECT_TRUE(taken.valid());
    EXPECT_EQ(queue("a").size(), 1U);
    taken.release();
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, AHoldLimitEndsALeaseThatIsRenewed) {
    client ours = join("&timeout=10s&refresh_interval=50ms");
    const lease held = ours.acquire(exclusive("a"), {.max_hold = 300ms});
    EXPECT_TRUE(ends_as(held, loss::hold_limit));
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, AWaiterThatIsCutOffKeepsItsTurnAndAHolderItsLease) {
    way way{*server_};
    client ours = way.join("&timeout=10s"), other = join("&timeout=10s");
    lease held = ours.acquire(exclusive("held"));
    lease before = other.acquire(exclusive("a"));
    auto first = acquire_aside(ours, "a");
    ASSERT_TRUE(grows_to("a", 2));
    auto second = acquire_aside(other, "a");
    ASSERT_TRUE(grows_to("a", 3));
    const std::string renewed = head("held");
    way.proxy.cut();
    EXPECT_TRUE(eventually([&] { return head("held") != renewed; }));  // connected again
    EXPECT_EQ(queue("a").size(), 3U);
    before.release();
    lease taken = first.get();
    EXPECT_TRUE(taken.valid());
    EXPECT_FALSE(is_ready(second));
    EXPECT_TRUE(held.valid());
    taken.release();
    EXPECT_TRUE(second.get().valid());
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

/// Replies that never come, and requests that come when nobody expects them any more.
TEST_F(Redturn, WhatIsLostOrLateOnTheWayNeitherDuplicatesNorBlocks) {
    way way{*server_};
    client ours = way.join("&timeout=1s"), other = join("&timeout=60s");
    hear_all(ours);
    for (const bool late : {false, true}) {
        auto lost = acquire_aside(ours, "lost");
        lease mine = lost.get();
        EXPECT_TRUE(mine.valid());
        way.proxy.set({.drop_replies = !late, .late = late});
        auto asked = acquire_aside(ours, "a");
        auto gives_up = acquire_aside(ours, "b", {.wait = 10ms});
        EXPECT_FALSE(gives_up.get().valid());
        EXPECT_TRUE(late || grows_to("a", 1));
        way.proxy.cut({});
        lease held = asked.get();
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
    way way{*server_};
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
    way slow{*server_};
    client ours = slow.join("&timeout=10s&refresh_interval=10ms");
    hear_all(ours);
    slow.proxy.set({.delay = 30ms});
    lease held = ours.acquire(exclusive("a"), {.wait = 10s});
    auto waiting = acquire_aside(ours, "a");
    ASSERT_TRUE(grows_to("a", 2));
    for (int i = 0; i < 10; ++i) {
        const std::string before = head("a");
        ASSERT_TRUE(eventually([&] { return head("a") != before; }));
    }
    EXPECT_TRUE(held.valid());
    EXPECT_EQ(queue("a").size(), 2U);
    held.release();
    EXPECT_TRUE(waiting.get().valid());
    slow.proxy.set({});
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, AServerThatForgotEverythingLosesWhatIsHeldAndKeepsWhatWaits) {
    client ours = join("&timeout=10s"), other = join("&timeout=10s");
    lease held = ours.acquire(exclusive("a"));
    auto waiting = acquire_aside(other, "a");
    ASSERT_TRUE(grows_to("a", 2));
    server_->kill();
    server_->forget();
    server_->start();
    EXPECT_TRUE(ends_as(held, loss::state_lost));
    lease next = waiting.get();
    EXPECT_TRUE(next.valid());
    held.release();
    EXPECT_EQ(queue("a").size(), 1U);
    next.release();
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(Redturn, AServerThatKeptEverythingLosesNothing) {
    server_.reset();
    server_.emplace(redis_tests::server_options{.keeps_data = true});
    client ours = join("&timeout=10s"), other = join("&timeout=10s");
    lease held = ours.acquire(exclusive("a"));
    auto waiting = acquire_aside(other, "a");
    ASSERT_TRUE(grows_to("a", 2));
    const std::string before = head("a");
    server_->kill();
    server_->start();
    EXPECT_TRUE(eventually([&] { return head("a") != before; }));
    hear_all(other);
    EXPECT_TRUE(held.valid());
    EXPECT_FALSE(is_ready(waiting));
    held.release();
    EXPECT_TRUE(waiting.get().valid());
    EXPECT_TRUE(nothing_is_left());
}

/// Were it not by notice, each would take half a second on average.
TEST_F(Redturn, HandOverIsByNotice) {
    client first = join("&timeout=60s"), second = join("&timeout=60s");
    const auto begun = std::chrono::steady_clock::now();
    lease held = first.acquire(exclusive("a"));
    for (int i = 0; i < 20; ++i) {
        auto next = acquire_aside(i % 2 == 0 ? second : first, "a");
        ASSERT_TRUE(grows_to("a", 2));
        held.release();
        held = next.get();
        ASSERT_TRUE(held.valid());
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 4s);
    held.release();
    EXPECT_TRUE(nothing_is_left());
}

// ---- what else stands in the server ----

TEST_F(Redturn, AnyNameCanBeLockedInBothWaysOfWritingNotices) {
    for (const std::string options : {"&timeout=60s&notices=new", "&timeout=60s&notices=old"}) {
        client first = join(options), second = join(options);
        for (const std::string& name : {std::string{"a:b::c:"}, std::string{":"}, std::string{"with spaces {x}"},
                                        std::string{"\r\n\0\xff%s", 6}, std::string(200, 'n')}) {
            lease held = first.acquire(exclusive(name));
            auto next = acquire_aside(second, name);
            ASSERT_TRUE(grows_to(name, 2));
            const auto begun = std::chrono::steady_clock::now();
            held.release();
            EXPECT_TRUE(next.get().valid());
            EXPECT_LT(std::chrono::steady_clock::now() - begun, 900ms);
        }
    }
    EXPECT_TRUE(nothing_is_left());
}

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
    auto waiting = acquire_aside(ours, "a");
    EXPECT_TRUE(eventually([&] { return performed("hello") >= before + 3; }));
    const auto then = std::chrono::steady_clock::now() + 300ms;
    EXPECT_TRUE(eventually([&] { return std::chrono::steady_clock::now() > then; }));
    EXPECT_LT(performed("hello"), before + 20);
    EXPECT_EQ(ask({"CONFIG", "SET", "min-replicas-to-write", "0"}).text, "OK");
    EXPECT_TRUE(waiting.get().valid());
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

/// A look that is not answered any more ends.
TEST_F(Redturn, InspectEndsWithTheConnection) {
    way way{*server_};
    client ours = way.join("&timeout=500ms");
    hear_all(ours);
    way.proxy.set({.drop_replies = true});
    EXPECT_THROW(static_cast<void>(ours.inspect()), error);
}

}  // namespace
}  // namespace baton::dialect_tests
