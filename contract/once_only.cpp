// Each message may arrive twice or late, and acts once (rule 9). Most cases use a connection without a client, so that
// they choose the commands; the last one a client whose connection sends everything twice.
#include "bench.hpp"
#include "case.hpp"
#include "raw_connection.hpp"

namespace baton::contract {
namespace {

using namespace protocol;

void enter_twice_is_one_request(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter first{connection.next(session), only("ledger"), {}};
    const auto grant = connection.call_for<granted>(first);
    ASSERT_TRUE(grant);
    EXPECT_EQ(connection.call_for<granted>(first), grant);
    ASSERT_TRUE(connection.call_for<ended>(leave{first.request}));
    bench.expect_free(exclusive("ledger"));  // one release is enough
}

void a_waiter_that_enters_again_keeps_its_position(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter holder{connection.next(session), only("ledger"), {}};
    const enter first{connection.next(session), only("ledger"), {}};
    const enter second{connection.next(session), only("ledger"), {}};
    ASSERT_TRUE(connection.call_for<granted>(holder));
    const auto position = connection.call_for<queued>(first);
    ASSERT_TRUE(position);
    ASSERT_TRUE(connection.call_for<queued>(second));
    EXPECT_EQ(connection.call_for<queued>(first), position);
    // The grant is reported in the reply to the leave, or as a notice.
    const reply left = connection.call(leave{holder.request});
    EXPECT_EQ(connection.call_for<granted>(first).value_or(granted{}).request, first.request);
    EXPECT_TRUE(connection.call_for<queued>(second));
}

void an_ended_request_stays_ended(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter first{connection.next(session), only("ledger"), {}};
    ASSERT_TRUE(connection.call_for<granted>(first));
    ASSERT_TRUE(connection.call_for<ended>(leave{first.request}));
    EXPECT_TRUE(connection.call_for<ended>(first)) << "an `enter` that came late was taken for a new one";
    bench.expect_free(exclusive("ledger"));
}

void leave_twice_ends_once(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter first{connection.next(session), only("ledger"), {}};
    const enter next{connection.next(session), only("ledger"), {}};
    const enter last{connection.next(session), only("ledger"), {}};
    ASSERT_TRUE(connection.call_for<granted>(first));
    ASSERT_TRUE(connection.call_for<queued>(next));
    ASSERT_TRUE(connection.call_for<queued>(last));
    const auto left = connection.call_for<ended>(leave{first.request});
    ASSERT_TRUE(left);
    EXPECT_EQ(left->reason, end_reason::left);
    const auto again = connection.call_for<ended>(leave{first.request});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->reason, end_reason::gone);
    EXPECT_TRUE(connection.call_for<granted>(next) || connection.call_for<granted>(last));
    EXPECT_TRUE(connection.call_for<queued>(last) || connection.call_for<queued>(next))
        << "the second leave freed another's grant";
}

void a_leave_before_its_enter_cancels_it(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const request_id request = connection.next(session);
    EXPECT_TRUE(connection.call_for<ended>(leave{request}));
    EXPECT_TRUE(connection.call_for<ended>(enter{request, only("ledger"), {}}));
    bench.expect_free(exclusive("ledger"));
}

void other_claims_under_a_live_id_are_refused(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter first{connection.next(session), only("ledger"), {}};
    ASSERT_TRUE(connection.call_for<granted>(first));
    const auto no = connection.call_for<refused>(enter{first.request, only("another"), {}});
    ASSERT_TRUE(no);
    EXPECT_EQ(no->reason, refusal::claims_differ);
    EXPECT_TRUE(connection.call_for<granted>(first));
}

void withdrawn_or_left(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter holder{connection.next(session), only("ledger"), {}};
    const enter waiter{connection.next(session), only("ledger"), {}};
    const auto grant = connection.call_for<granted>(holder);
    ASSERT_TRUE(grant);
    ASSERT_TRUE(connection.call_for<queued>(waiter));
    EXPECT_EQ(connection.call_for<ended>(leave{waiter.request}), (ended{waiter.request, end_reason::withdrawn, 0}));
    EXPECT_EQ(connection.call_for<ended>(leave{holder.request}),
              (ended{holder.request, end_reason::left, grant->fence}));
}

void open_twice_opens_once(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = draw_session();
    const open opening{session, 10s, "raw", 2, 0, {}};
    ASSERT_TRUE(connection.call_for<alive>(opening));
    const enter first{connection.next(session), only("ledger"), {}};
    const auto grant = connection.call_for<granted>(first);
    ASSERT_TRUE(grant);
    // A copy of the message does not list the request, and does not end it.
    const auto again = connection.call_for<alive>(opening);
    ASSERT_TRUE(again);
    EXPECT_TRUE(reports(*again, {{first.request.number, grant->ticket, grant->fence}}));
    // An `open` with an earlier connection number is late.
    const auto late = connection.call_for<refused>(open{session, 10s, "raw", 1, 0, {}});
    ASSERT_TRUE(late);
    EXPECT_EQ(late->reason, refusal::stale_connection);
    EXPECT_EQ(connection.call_for<granted>(first), grant);
}

// A long list of requests is sent in several opens, so an `open` does not end requests that it does not list. The
// client finds requests that it has left by the digest, and leaves them again. Each `open` has the highest request
// number that the client has used, so that a late `enter` of an old connection starts no new request.
void open_ends_nothing(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter first{connection.next(session), only("ledger"), {}};
    const enter second{connection.next(session), only("cache"), {}};
    const auto ledger = connection.call_for<granted>(first);
    const auto cache = connection.call_for<granted>(second);
    ASSERT_TRUE(ledger && cache);
    const std::vector<request_state> both = {{first.request.number, ledger->ticket, ledger->fence},
                                             {second.request.number, cache->ticket, cache->fence}};
    std::uint64_t connection_number = 1;
    for (const auto& [entered, grant] : {std::pair{first, *ledger}, std::pair{second, *cache}}) {
        const live_request live{entered.request.number, entered.claims, grant.ticket, grant.fence, {}, {}};
        const auto reply = connection.call_for<alive>(
            open{session, 10s, "raw", ++connection_number, second.request.number + 1, {live}});
        ASSERT_TRUE(reply);
        EXPECT_TRUE(reports(*reply, both)) << "what this one does not list may be in another";
    }
    EXPECT_EQ(connection.call_for<granted>(first), ledger);
    EXPECT_EQ(connection.call_for<granted>(second), cache);
    const auto late = connection.call_for<ended>(enter{connection.next(session), only("left"), {}});
    ASSERT_TRUE(late) << "a number up to the highest is used up";
    EXPECT_EQ(late->reason, end_reason::gone);
}

void renew_reports_live_requests(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter holder{connection.next(session), only("ledger"), {}};
    const enter waiter{connection.next(session), only("ledger"), {}};
    const auto grant = connection.call_for<granted>(holder);
    const auto position = connection.call_for<queued>(waiter);
    ASSERT_TRUE(grant && position);
    const auto alive = connection.call_for<protocol::alive>(renew{session});
    ASSERT_TRUE(alive);
    const std::vector<request_state> expected = {{holder.request.number, grant->ticket, grant->fence},
                                                 {waiter.request.number, position->ticket, 0}};
    EXPECT_TRUE(reports(*alive, expected));
    EXPECT_EQ(connection.list(session), expected);
    const auto rest = connection.call_for<listed>(protocol::list{session, holder.request.number});
    ASSERT_TRUE(rest);
    EXPECT_EQ(*rest, (listed{session, holder.request.number, {expected[1]}, false}));
    // A grant changes the digest.
    ASSERT_TRUE(connection.call_for<ended>(leave{holder.request}));
    if (!bench.can().one_by_one) {
        EXPECT_TRUE(eventually([&] { return connection.list(session).at(0).fence != 0; }));
    }
    const auto after = connection.call_for<protocol::alive>(renew{session});
    ASSERT_TRUE(after);
    const std::vector<request_state> left = connection.list(session);
    ASSERT_EQ(left.size(), 1U);
    EXPECT_NE(left[0].fence, 0U);
    EXPECT_TRUE(reports(*after, left));
}

// More requests than one page shows.
void a_long_list_comes_in_pages(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    std::vector<protocol::command> enters;
    for (std::size_t i = 0; i < bounds::page + 2; ++i)
        enters.push_back(enter{connection.next(session), only("name " + std::to_string(i)), {}});
    const std::uint64_t first = std::get<enter>(enters.front()).request.number;
    connection.call_all(std::move(enters));
    const auto page = connection.call_for<listed>(protocol::list{session, 0});
    ASSERT_TRUE(page);
    ASSERT_EQ(page->requests.size(), bounds::page);
    EXPECT_TRUE(page->more);
    const std::vector<request_state> all = connection.list(session);
    ASSERT_EQ(all.size(), bounds::page + 2);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].number, first + i) << "lowest first";
    const auto alive = connection.call_for<protocol::alive>(renew{session});
    ASSERT_TRUE(alive);
    EXPECT_TRUE(reports(*alive, all));
}

void an_unknown_session_is_refused(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id unknown = draw_session();
    EXPECT_TRUE(connection.call_for<session_lost>(renew{unknown}));
    EXPECT_TRUE(connection.call_for<session_lost>(protocol::list{unknown, 0}));
    const auto no = connection.call_for<refused>(enter{{unknown, 1}, only("ledger"), {}});
    ASSERT_TRUE(no);
    EXPECT_EQ(no->reason, refusal::unknown_session);
    EXPECT_TRUE(connection.call_for<ended>(leave{{unknown, 1}}));
    EXPECT_TRUE(connection.call_for<closed>(protocol::close{unknown}));
    bench.expect_free(exclusive("ledger"));
}

// A client reconnects and closes its session, and then commands arrive that it sent on the first connection.
void a_closed_session_stays_closed(bench& bench) {
    raw_connection connection{bench.handle()};
    raw_connection earlier{bench.handle()};
    const session_id session = draw_session();
    const open opening{session, 10s, "raw", 1, 0, {}};
    const enter entering{{session, 1}, only("ledger"), {}};
    ASSERT_TRUE(connection.call_for<alive>(opening));
    ASSERT_TRUE(connection.call_for<granted>(entering));
    ASSERT_TRUE(connection.call_for<closed>(protocol::close{session}));
    const auto expect_nothing_begins = [&](const open& late_open, const enter& late_enter) {
        const auto no = earlier.call_for<refused>(late_open);
        ASSERT_TRUE(no) << "an `open` that came after the close began the session again";
        EXPECT_EQ(no->reason, refusal::unknown_session);
        EXPECT_TRUE(earlier.call_for<refused>(late_enter));
        bench.expect_free(exclusive("ledger"));
    };
    expect_nothing_begins(opening, entering);
    // A session whose close arrives before its `open`.
    const session_id another = draw_session();
    ASSERT_TRUE(connection.call_for<closed>(protocol::close{another}));
    expect_nothing_begins({another, 10s, "raw", 1, 0, {}}, {{another, 1}, only("ledger"), {}});
}

void commands_of_one_send_run_in_order(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    std::vector<command> commands;
    for (int i = 0; i < 20; ++i) {
        const request_id request = connection.next(session);
        commands.emplace_back(enter{request, only("ledger"), {}});
        commands.emplace_back(leave{request});
    }
    const std::vector<reply> replies = connection.call_all(commands);
    serial last = 0;
    for (std::size_t i = 0; i < replies.size(); ++i) {
        ASSERT_EQ(replies[i].events.size(), 1U);
        const auto& what = replies[i].events[0].what;
        if (i % 2 == 0) {
            const auto* grant = std::get_if<granted>(&what);
            ASSERT_NE(grant, nullptr) << "a leave overtook its enter, or the next enter a leave";
            if (bench.can().growing_fences) {
                EXPECT_GT(grant->fence, last);
            }
            last = grant->fence;
        } else {
            const auto* end = std::get_if<ended>(&what);
            ASSERT_NE(end, nullptr);
            EXPECT_EQ(end->reason, end_reason::left);
        }
    }
}

void every_message_may_arrive_twice(bench& bench) {
    actor a = bench.join_mortal();
    actor b = bench.join_mortal();
    for (actor* actor : {&a, &b}) {
        actor->connection->send_twice(true);
        actor->connection->duplicate_replies(true);
        actor->connection->duplicate_notices(true);
    }
    EXPECT_FALSE(ever_meet({a.client, b.client}, exclusive("ledger")));
    bench.expect_free(exclusive("ledger"));
}

}  // namespace

cases once_only_cases() {
    constexpr auto topic = "OnceOnly";
    constexpr need kept = &capabilities::kept_sessions;
    return {
        {topic, "EnterTwiceIsOneRequest", {}, enter_twice_is_one_request},
        {topic,
         "AWaiterThatEntersAgainKeepsItsPosition",
         {&capabilities::strict_order},
         a_waiter_that_enters_again_keeps_its_position},
        {topic, "AnEndedRequestStaysEnded", {kept}, an_ended_request_stays_ended},
        {topic, "LeaveTwiceEndsOnce", {}, leave_twice_ends_once},
        {topic, "ALeaveBeforeItsEnterCancelsIt", {kept}, a_leave_before_its_enter_cancels_it},
        {topic, "OtherClaimsUnderALiveIdAreRefused", {}, other_claims_under_a_live_id_are_refused},
        {topic, "WithdrawnOrLeft", {}, withdrawn_or_left},
        {topic, "OpenTwiceOpensOnce", {kept}, open_twice_opens_once},
        {topic, "OpenEndsNothing", {kept}, open_ends_nothing},
        {topic, "RenewReportsLiveRequests", {}, renew_reports_live_requests},
        {topic, "ALongListComesInPages", {}, a_long_list_comes_in_pages},
        {topic, "AnUnknownSessionIsRefused", {kept}, an_unknown_session_is_refused},
        {topic, "AClosedSessionStaysClosed", {kept}, a_closed_session_stays_closed},
        {topic, "CommandsOfOneSendRunInOrder", {&capabilities::one_by_one}, commands_of_one_send_run_in_order},
        {topic, "EveryMessageMayArriveTwice", {}, every_message_may_arrive_twice},
    };
}

}  // namespace baton::contract
