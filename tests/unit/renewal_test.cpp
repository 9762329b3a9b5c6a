// A renewal costs the same for any number of requests: it reports their count and digest and repeats notices, and
// `list` reports the requests (rule 5).
#include "world.hpp"

namespace baton::core::test {
namespace {

class Renewal : public world {
protected:
    std::uint64_t digest_of(const std::string& session) {
        std::uint64_t digest = 0;
        for (const request_state& each : requests(session)) digest += request_digest(each);
        return digest;
    }
    // Enters requests with the numbers 1 to `count`, each on a name of its own.
    void hold(const std::string& session, std::uint64_t count) {
        for (std::uint64_t i = 1; i <= count; ++i)
            enter(session + "." + std::to_string(i), {exclusive(session + std::to_string(i))});
    }
};

TEST(RequestDigest, EqualsTheDigestThatLuaComputes) {
    static_assert(request_digest(1, 0, std::uint64_t{0}) == 1);
    static_assert(request_digest(2, 0, std::uint64_t{0}) == 4);
    static_assert(request_digest(67'108'859, 0, std::uint64_t{0}) == 0);
    EXPECT_EQ(request_digest(1, 1, std::uint64_t{1}), 81U);
    // Every product stays below 2^53.
    EXPECT_EQ(request_digest(67'108'858, 0, std::uint64_t{0}), 67'108'858ULL * 67'108'858 % 4'294'967'291);
    EXPECT_EQ(request_digest(7, 1'700'000'000'000'001, std::uint64_t{1'700'000'010'000'000}),
              request_digest({7, 1, 1'700'000'000'000'001, instant{duration{1'700'000'010'000'000}}}));
}

TEST_F(Renewal, ReportsTheCountAndTheDigestOfTheLiveRequests) {  // rule 5
    enter("B", {exclusive("y")});
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("y")});
    renew("A");
    EXPECT_EQ(the<alive>().count, 2U);
    const std::uint64_t waiting = request_digest(1, fence("A"), std::nullopt) + request_digest(2, 0, std::nullopt);
    EXPECT_EQ(the<alive>().digest, waiting);
    leave("B");
    renew("A");
    EXPECT_EQ(the<alive>().digest, digest_of("A")) << "after a grant";
    EXPECT_NE(the<alive>().digest, waiting);
    revoke("x", "A");
    renew("A");
    EXPECT_EQ(the<alive>().digest, digest_of("A")) << "after a revocation";
    leave("A");
    leave("A.2");
    renew("A");
    EXPECT_EQ(the<alive>(), (alive{session("A"), now + 10s, 0, 0}));
}

TEST_F(Renewal, TheDigestIsCompleteInAPause) {  // rule 11
    enter("A", {exclusive("x")});
    renew("A");
    const std::uint64_t before = the<alive>().digest;
    pause(5s);
    EXPECT_EQ(renew("A"), "alive A: A waits");
    EXPECT_EQ(the<alive>().digest, before);
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
    EXPECT_EQ(the<alive>().digest, before);
}

TEST_F(Renewal, RepeatsEndsAndRevocationsThatWereOnlyNotified) {  // rule 5
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("y")}, hold_limit(1s));
    enter("B", {exclusive("z")});
    enter("A.3", {exclusive("z")});
    revoke("x", "A", "deploy");
    advance(1s);
    EXPECT_EQ(revoke("z", "A.3"), "ended A.3: revoked");
    EXPECT_EQ(renew("A"), "revoking A: deploy; ended A.2: hold limit; ended A.3: revoked; alive A: A holds");
    EXPECT_EQ(the<revoking>(), (revoking{id("A"), "deploy", start + 10s}));
    EXPECT_EQ(renew("A"), "alive A: A holds") << "events are repeated once";
}

TEST_F(Renewal, DoesNotRepeatEventsOfTheSessionsOwnReplies) {  // rule 5
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("y")}, hold_limit(1s));
    leave("A");
    now += 1s;
    EXPECT_EQ(enter("A.3", {exclusive("z")}), "ended A.2: hold limit; granted A.3");
    EXPECT_EQ(renew("A"), "alive A: A.3 holds");
    now += 1s;
    enter("A.4", {exclusive("v")}, hold_limit(1s));
    now += 1s;
    EXPECT_EQ(renew("A"), "ended A.4: hold limit; alive A: A.3 holds") << "the event of this step only";
    EXPECT_EQ(renew("A"), "alive A: A.3 holds");
}

TEST_F(Renewal, RepeatsNothingAfterAnOpen) {  // rule 5
    enter("A", {exclusive("x")});
    revoke("x", "A");
    const core::open opened = open_command("A", {live("A")});
    EXPECT_EQ(apply(opened), "alive A: A holds");
    EXPECT_EQ(renew("A"), "alive A: A holds");
    enter("A.2", {exclusive("y")});
    revoke("y", "A.2");
    EXPECT_EQ(apply(opened), "alive A: A holds, A.2 holds") << "the same message arrives again";
    EXPECT_EQ(renew("A"), "alive A: A holds, A.2 holds");
    revoke("y", "A.2");
    core::open late = opened;
    late.connection_number = 0;
    EXPECT_EQ(apply(late), "refused: stale connection");
    EXPECT_EQ(renew("A"), "revoking A.2; alive A: A holds, A.2 holds") << "a refused command changes nothing";
}

TEST_F(Renewal, RepeatsTheFirstSixteen) {  // rule 5
    hold("A", 17);
    std::string expected;
    for (int i = 1; i <= 17; ++i) {
        const std::string number = std::to_string(i);
        revoke("A" + number, i == 1 ? "A" : "A." + number, "", true);
        if (i <= 16) expected += "ended A" + (i == 1 ? "" : "." + number) + ": revoked; ";
    }
    EXPECT_EQ(renew("A"), expected + "alive A");
    EXPECT_EQ(renew("A"), "alive A");
}

TEST_F(Renewal, AListGoesInPagesByNumber) {  // rule 5
    hold("A", 600);
    EXPECT_EQ(requests("A").size(), 600U);
    std::uint64_t after = 0;
    for (const std::size_t expected : {256U, 256U, 88U}) {
        list("A", after);
        const listed page = the<listed>();
        EXPECT_EQ(page.after, after);
        ASSERT_EQ(page.requests.size(), expected);
        for (std::size_t i = 0; i < expected; ++i) EXPECT_EQ(page.requests[i].number, after + 1 + i);
        after = page.requests.back().number;
        EXPECT_EQ(page.more, after < 600);
    }
    EXPECT_EQ(list("A", 600), "listed A");
    EXPECT_EQ(list("A", UINT64_MAX), "listed A");
}

TEST_F(Renewal, AFullLastPageReportsThatNoMoreFollow) {  // rule 5
    hold("A", bounds::page);
    list("A");
    EXPECT_EQ(the<listed>().requests.size(), bounds::page);
    EXPECT_FALSE(the<listed>().more);
}

TEST_F(Renewal, AListShowsTicketFenceAndRevocation) {  // rule 5
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    enter("A.5", {exclusive("y")});
    revoke("x", "A");
    EXPECT_EQ(list("A"), "listed A: A holds, A.2 waits, A.5 holds");
    EXPECT_EQ(
        the<listed>(),
        (listed{session("A"),
                0,
                {{1, ticket("A"), fence("A"), start + 10s}, {2, ticket("A.2"), 0}, {5, ticket("A.5"), fence("A.5")}},
                false}));
    EXPECT_EQ(list("A", 2), "listed A: A.5 holds");
}

TEST_F(Renewal, AListProlongsNothing) {  // rule 5
    enter("A", {exclusive("x")});
    now += 10s - 1us;
    EXPECT_EQ(list("A"), "listed A: A holds");
    now += 1us;
    EXPECT_EQ(list("A"), "ended A: expired; lost A; lost A");
    EXPECT_EQ(list("B"), "lost B") << "B was never opened";
}

TEST_F(Renewal, AListHidesGrantsThatWereNotPresentedInAPause) {  // rule 11
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("y")});
    pause(5s);
    open("A", {live("A"), as_waiter("A.2")});
    pause(5s);
    EXPECT_EQ(list("A"), "listed A: A waits, A.2 waits");
    open("A", {live("A"), as_waiter("A.2")});
    EXPECT_EQ(list("A"), "listed A: A holds, A.2 waits");
}

}  // namespace
}  // namespace baton::core::test
