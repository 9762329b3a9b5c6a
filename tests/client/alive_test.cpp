// How count and digest in the reply to a renewal, and the pages of a list, prolong the client's leases, as scripts.
#include "baton/error.hpp"
#include "script.hpp"

namespace baton::detail {

using states = std::vector<protocol::request_state>;

class Alive : public Script {
protected:
    Alive() { answers_lists = false; }

    /// A renewal is due; replies with the count and digest of these requests. Returns the time at which it was sent.
    client_time renew_with(const states& engine) {
        advance(ttl / 3);
        const client_time sent_at = now;
        renew(engine);
        return sent_at;
    }
    [[nodiscard]] bool is_believed_from(handle handle, client_time renewed) const {
        return session.valid(handle, renewed + ttl - margin - 1us) && !session.valid(handle, renewed + ttl - margin);
    }
};

TEST_F(Alive, EqualDigestsProlongWithoutAList) {
    connect();
    const handle one = hold(order("a"));
    const handle two = hold(order("b"));
    const client_time renewed = renew_with({{1, 100, 200}, {2, 100, 200}});
    EXPECT_FALSE(sent<protocol::list>());
    EXPECT_TRUE(is_believed_from(one, renewed) && is_believed_from(two, renewed));
}

// The notification of a revocation was lost, and the revocation is on the last page. The engine ends the request at the
// deadline of the revocation despite renewals, so the client must not prolong the lease before it has that page.
TEST_F(Alive, LeasesAreProlongedAfterTheLastPageAndNotBefore) {
    connect();
    const client_time opened = now;
    const handle one = hold(order("a"));
    const handle two = hold(order("b"));
    const protocol::instant deadline = engine_now + 5s;
    const client_time renewed = renew_with({{1, 100, 200}, {2, 100, 200, deadline}});
    EXPECT_FALSE(take<believe>());
    EXPECT_TRUE(is_believed_from(one, opened));
    ASSERT_TRUE(answer_page(1));
    EXPECT_FALSE(take<believe>()) << "the next page may contain a revocation";
    EXPECT_TRUE(is_believed_from(one, opened) && is_believed_from(two, opened));
    ASSERT_TRUE(answer_page(1));
    collect();
    const auto index_of = [this](auto is) { return std::ranges::find_if(actions, is) - actions.begin(); };
    const auto told = index_of([](const action& each) { return std::holds_alternative<lost>(each); });
    const auto believed = index_of([](const action& each) { return std::holds_alternative<believe>(each); });
    EXPECT_LT(told, believed);
    EXPECT_TRUE(is_believed_from(one, renewed));
    EXPECT_FALSE(session.valid(two, opened + 5s));
    const auto last = take<lost>();
    ASSERT_TRUE(last);
    EXPECT_EQ(last->handle, two);
    // Now both digests are equal.
    const client_time again = renew_with({{1, 100, 200}, {2, 100, 200, deadline}});
    EXPECT_FALSE(sent<protocol::list>());
    EXPECT_TRUE(is_believed_from(one, again));
}

TEST_F(Alive, EachPageIsComparedWithTheRequestsOfItsRange) {
    connect();
    const handle one = hold(order("a"));
    const handle two = hold(order("b"));
    const handle three = hold(order("c"));
    renew_with({{2, 100, 200}, {4, 100, 0}});
    ASSERT_TRUE(answer_page(1));
    const auto gone = take<lost>();
    ASSERT_TRUE(gone);
    EXPECT_EQ(gone->handle, one);
    EXPECT_EQ(gone->reason, loss::state_lost);
    EXPECT_FALSE(take<lost>()) << "the next page may show the third";
    EXPECT_FALSE(sent<protocol::leave>());
    const auto asked = sent<protocol::list>();
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->second.after, 2U);
    reply(asked->first, protocol::listed{id(), 2, {{4, 100, 0}}, false});
    const auto third = take<lost>();
    ASSERT_TRUE(third);
    EXPECT_EQ(third->handle, three);
    const auto left = sent<protocol::leave>();
    ASSERT_TRUE(left) << "no client here knows the fourth";
    EXPECT_EQ(left->second.request.number, 4U);
    EXPECT_TRUE(session.valid(two, now));
}

TEST_F(Alive, TheLastPageCoversRequestsSentSinceTheListBegan) {
    connect();
    const handle one = hold(order("a"));
    const handle two = hold(order("b"));
    renew_with({{1, 100, 200}, {2, 100, 200}, {9, 100, 0}});
    const handle late = hold(order("c"));
    const handle lost_later = hold(order("d"));
    engine_has = {{1, 100, 200}, {2, 100, 200}, {3, 100, 200}};
    ASSERT_TRUE(answer_page(1));
    EXPECT_FALSE(take<lost>()) << "the next page may show them";
    ASSERT_TRUE(answer_page(2));
    for (const handle handle : {one, two, late}) EXPECT_TRUE(session.valid(handle, now));
    const auto gone = take<lost>();
    ASSERT_TRUE(gone);
    EXPECT_EQ(gone->handle, lost_later);
    EXPECT_EQ(gone->reason, loss::state_lost);
    EXPECT_FALSE(take<lost>());
}

// The reply to another renewal arrives before the last page, and differs as well: the first pages may lack later
// changes.
TEST_F(Alive, AListCountsForTheRenewalThatFoundTheDifference) {
    connect();
    const handle one = hold(order("a"));
    const states engine{{1, 100, 200}, {2, 100, 0}, {3, 100, 0}};
    const client_time first = renew_with(engine);
    ASSERT_TRUE(answer_page(1));
    advance(ttl / 3);
    session.wake(now);
    const auto second = sent<protocol::renew>();
    ASSERT_TRUE(second);
    ASSERT_TRUE(answer_page(1));
    reply(second->first, alive(engine));
    ASSERT_TRUE(answer_page(1)) << "the list that is under way continues";
    EXPECT_FALSE(sent<protocol::list>()) << "and no other is begun";
    EXPECT_TRUE(is_believed_from(one, first));
}

// The notification of the grant arrived on another connection, later than the reply that counted the grant.
TEST_F(Alive, ARenewalWithAnEqualDigestMeanwhileCountsAndTheListIsDropped) {
    connect();
    const handle one = hold(order("a"));
    session.acquire(now, order("b"));
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 100});
    const states engine{{1, 100, 200}, {2, 100, 201}};
    renew_with(engine);
    const auto page = sent<protocol::list>();
    ASSERT_TRUE(page);
    notice(granted(2, 201));
    const client_time second = renew_with(engine);
    EXPECT_TRUE(is_believed_from(one, second));
    forget();
    reply(page->first, protocol::listed{id(), 0, {}, false});
    EXPECT_FALSE(take<lost>()) << "the page does not belong to the current list";
    EXPECT_TRUE(is_believed_from(one, second));
}

TEST_F(Alive, APageThatNeverArrivedIsRequestedAgain) {
    connect();
    const handle one = hold(order("a"));
    const states engine{{1, 100, 200}, {2, 100, 0}};
    renew_with(engine);
    ASSERT_TRUE(sent<protocol::list>());
    const client_time second = renew_with(engine);
    ASSERT_TRUE(answer_page()) << "replies arrive in order: the first page is lost";
    EXPECT_TRUE(is_believed_from(one, second));
}

TEST_F(Alive, AListThatFailsIsRequestedWithTheNextRenewal) {
    connect();
    const client_time opened = now;
    const handle one = hold(order("a"));
    const states engine{{1, 100, 200}, {2, 100, 0}};
    renew_with(engine);
    session.reply_failed(now, sent<protocol::list>()->first, command_failure::not_executed, {errc::store_unavailable});
    EXPECT_FALSE(sent<protocol::list>());
    EXPECT_TRUE(is_believed_from(one, opened));
    const client_time second = renew_with(engine);
    ASSERT_TRUE(answer_page());
    EXPECT_TRUE(is_believed_from(one, second));
}

TEST_F(Alive, ABrokenConnectionDropsTheList) {
    connect();
    const client_time opened = now;
    const handle one = hold(order("a"));
    renew_with({{1, 100, 200}, {2, 100, 0}});
    const auto page = sent<protocol::list>();
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    reply(page->first, protocol::listed{id(), 0, {{1, 100, 200}}, false});
    EXPECT_TRUE(is_believed_from(one, opened)) << "the page belongs to an earlier connection";
    const client_time reopened = now;
    reply(sent<protocol::open>()->first, alive({{1, 100, 200}}));
    EXPECT_TRUE(is_believed_from(one, reopened));
}

TEST_F(Alive, AfterAnOpenLeasesAreProlongedOnlyWhenTheListIsFetched) {
    connect();
    const client_time opened = now;
    const handle one = hold(order("a"));
    const auto open = meet_another_epoch();
    ASSERT_TRUE(open);
    const client_time reopened = now;
    reply(open->first, alive({{1, 100, 200, engine_now + 20s}}));
    const auto seen = take<observed>();
    ASSERT_TRUE(seen);
    EXPECT_TRUE(is_believed_from(one, opened)) << "frozen";
    ASSERT_TRUE(answer_page());
    const auto revoked = take<lost>();
    ASSERT_TRUE(revoked);
    EXPECT_EQ(revoked->reason, loss::revoked);
    EXPECT_TRUE(is_believed_from(one, reopened)) << "settled, and the revocation is later";
}

// The grant arrived while the session was in doubt: the renewal that was then sent confirms it, after its list.
TEST_F(Alive, AGrantInDoubtIsDeliveredWithTheLastPage) {
    connect();
    session.acquire(now, order("a"));
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 100});
    advance(ttl);
    notice(granted(1));
    EXPECT_FALSE(take<acquired>());
    const auto renewal = sent<protocol::renew>();
    ASSERT_TRUE(renewal);
    reply(renewal->first, alive({{1, 100, 200}, {2, 100, 0}}));
    ASSERT_TRUE(answer_page(1));
    EXPECT_FALSE(take<acquired>());
    ASSERT_TRUE(answer_page(1));
    EXPECT_TRUE(take<acquired>());
    EXPECT_FALSE(sent<protocol::enter>()) << "the pages confirmed the grant: the request is not sent again";
}

TEST_F(Alive, UnansweredRequestsDoNotCount) {
    connect();
    advance(ttl / 3);
    session.wake(now);
    const auto renewal = sent<protocol::renew>();
    session.acquire(now, order("a"));
    reply(renewal->first, alive());
    EXPECT_FALSE(sent<protocol::list>());
}

TEST_F(Alive, AReleasedRequestCountsUntilTheEngineHasEndedIt) {
    connect();
    const handle one = hold(order("a"));
    advance(ttl / 3);
    session.wake(now);
    const auto renewal = sent<protocol::renew>();
    session.release(now, one, protocol::release_kind::clean);
    const auto leave = sent<protocol::leave>();
    reply(renewal->first, alive({{1, 100, 200}}));
    EXPECT_FALSE(sent<protocol::list>()) << "the renewal was performed before the leave";
    reply(leave->first, protocol::ended{{id(), 1}, protocol::end_reason::left, 200});
    renew_with({});
    EXPECT_FALSE(sent<protocol::list>());
}

TEST_F(Alive, ARevocationThatARenewalRepeatsCarriesItsNoteAndNeedsNoList) {
    connect();
    const handle one = hold(order("a"));
    advance(ttl / 3);
    session.wake(now);
    const auto renewal = sent<protocol::renew>();
    const protocol::instant deadline = engine_now + 3s;
    const std::array<protocol::event, 2> events{
        protocol::event{engine_now, protocol::revoking{{id(), 1}, "deploy", deadline}},
        protocol::event{engine_now, alive({{1, 100, 200, deadline}})}};
    session.reply(now, renewal->first, epoch_now, events);
    const auto told = take<lost>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->handle, one);
    EXPECT_EQ(told->note, "deploy");
    EXPECT_FALSE(sent<protocol::list>());
}

// The engine's clock went back by an hour. The repeated revocation has the deadline of the earlier clock; the engine
// has shortened the deadline since, and the list has the new one.
TEST_F(Alive, TheEarlierDeadlineOfARevocationCounts) {
    connect();
    const handle one = hold(order("a"));
    const protocol::instant told_for = engine_now + 5s;
    engine_now -= 1h;
    advance(ttl / 3);
    session.wake(now);
    const auto renewal = sent<protocol::renew>();
    const protocol::instant cut = engine_now + ttl;
    const client_time heard = now;
    const std::array<protocol::event, 2> events{
        protocol::event{engine_now, protocol::revoking{{id(), 1}, "deploy", told_for}},
        protocol::event{engine_now, alive({{1, 100, 200, cut}})}};
    session.reply(now, renewal->first, epoch_now, events);
    ASSERT_TRUE(answer_page());
    renew_with({{1, 100, 200, cut}});
    EXPECT_TRUE(session.valid(one, heard + ttl - margin - 1us));
    EXPECT_FALSE(session.valid(one, heard + ttl)) << "then the engine passes the claims on";
}

TEST_F(Alive, ASessionThatAListReportsAsLostIsReplaced) {
    connect();
    hold(order("a"));
    renew_with({});
    const auto page = sent<protocol::list>();
    ASSERT_TRUE(page);
    const protocol::session_id before = id();
    reply(page->first, protocol::session_lost{before});
    EXPECT_NE(id(), before);
    EXPECT_TRUE(take<lost>());
    EXPECT_TRUE(sent<protocol::open>());
}

TEST_F(Alive, AClosedClientFetchesNoList) {
    connect();
    hold(order("a"));
    advance(ttl / 3);
    session.wake(now);
    const auto renewal = sent<protocol::renew>();
    session.close(now, timeout);
    reply(renewal->first, alive({{1, 100, 200}, {2, 100, 0}}));
    EXPECT_FALSE(sent<protocol::list>());
}

}  // namespace baton::detail
