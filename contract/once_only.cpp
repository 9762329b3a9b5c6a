// Every message may arrive twice, or late, and acts once (rule 9). On a connection without a client, so that the words
// are those of the case; and with a client whose connection says everything twice.
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
    const auto grant = connection.ask_for<granted>(first);
    ASSERT_TRUE(grant);
    EXPECT_EQ(connection.ask_for<granted>(first), grant);  // the same answer, the same fence
    ASSERT_TRUE(connection.ask_for<ended>(leave{first.request}));
    bench.expect_free(exclusive("ledger"));  // it was held once only
}

void a_waiter_that_asks_again_keeps_its_place(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter holder{connection.next(session), only("ledger"), {}};
    const enter first{connection.next(session), only("ledger"), {}};
    const enter second{connection.next(session), only("ledger"), {}};
    ASSERT_TRUE(connection.ask_for<granted>(holder));
    const auto position = connection.ask_for<queued>(first);
    ASSERT_TRUE(position);
    ASSERT_TRUE(connection.ask_for<queued>(second));
    EXPECT_EQ(connection.ask_for<queued>(first), position);
    // The hand-off is told in the answer to the leave, or as a notice.
    const answer left = connection.ask(leave{holder.request});
    EXPECT_EQ(connection.ask_for<granted>(first).value_or(granted{}).request, first.request);
    EXPECT_TRUE(connection.ask_for<queued>(second));
}

void an_id_that_is_over_never_lives_again(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter first{connection.next(session), only("ledger"), {}};
    ASSERT_TRUE(connection.ask_for<granted>(first));
    ASSERT_TRUE(connection.ask_for<ended>(leave{first.request}));
    EXPECT_TRUE(connection.ask_for<ended>(first)) << "an `enter` that came late was taken for a new one";
    bench.expect_free(exclusive("ledger"));
}

void leave_twice_ends_once(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter first{connection.next(session), only("ledger"), {}};
    const enter next{connection.next(session), only("ledger"), {}};
    const enter last{connection.next(session), only("ledger"), {}};
    ASSERT_TRUE(connection.ask_for<granted>(first));
    ASSERT_TRUE(connection.ask_for<queued>(next));
    ASSERT_TRUE(connection.ask_for<queued>(last));
    const auto left = connection.ask_for<ended>(leave{first.request});
    ASSERT_TRUE(left);
    EXPECT_EQ(left->reason, end_reason::left);
    const auto again = connection.ask_for<ended>(leave{first.request});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->reason, end_reason::gone);
    EXPECT_TRUE(connection.ask_for<granted>(next) || connection.ask_for<granted>(last));
    EXPECT_TRUE(connection.ask_for<queued>(last) || connection.ask_for<queued>(next))
        << "the second leave freed another's grant";
}

void a_leave_that_overtook_its_enter_burns_it(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const request_id request = connection.next(session);
    EXPECT_TRUE(connection.ask_for<ended>(leave{request}));
    EXPECT_TRUE(connection.ask_for<ended>(enter{request, only("ledger"), {}}));
    bench.expect_free(exclusive("ledger"));
}

void other_claims_under_a_live_id_are_refused(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter first{connection.next(session), only("ledger"), {}};
    ASSERT_TRUE(connection.ask_for<granted>(first));
    const auto no = connection.ask_for<refused>(enter{first.request, only("another"), {}});
    ASSERT_TRUE(no);
    EXPECT_EQ(no->reason, refusal::claims_differ);
    EXPECT_TRUE(connection.ask_for<granted>(first));
}

void withdrawn_or_left(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter holder{connection.next(session), only("ledger"), {}};
    const enter waiter{connection.next(session), only("ledger"), {}};
    const auto grant = connection.ask_for<granted>(holder);
    ASSERT_TRUE(grant);
    ASSERT_TRUE(connection.ask_for<queued>(waiter));
    EXPECT_EQ(connection.ask_for<ended>(leave{waiter.request}), (ended{waiter.request, end_reason::withdrawn, 0}));
    EXPECT_EQ(connection.ask_for<ended>(leave{holder.request}),
              (ended{holder.request, end_reason::left, grant->fence}));
}

void open_twice_opens_once(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = draw_session();
    const open opening{session, 10s, "raw", 2, 0, {}};
    ASSERT_TRUE(connection.ask_for<alive>(opening));
    const enter first{connection.next(session), only("ledger"), {}};
    const auto grant = connection.ask_for<granted>(first);
    ASSERT_TRUE(grant);
    // The same message again knows nothing of the request; it ends nothing.
    const auto again = connection.ask_for<alive>(opening);
    ASSERT_TRUE(again);
    EXPECT_TRUE(tells_of(*again, {{first.request.number, grant->ticket, grant->fence}}));
    // One of an earlier connection is late.
    const auto late = connection.ask_for<refused>(open{session, 10s, "raw", 1, 0, {}});
    ASSERT_TRUE(late);
    EXPECT_EQ(late->reason, refusal::stale_connection);
    EXPECT_EQ(connection.ask_for<granted>(first), grant);
}

// A list that is too long for one message comes in several opens, so none of them ends what it does not list. What the
// client has left it finds by the digest, and leaves it again. Each tells the highest number that the client has used,
// so that a message of an old connection begins nothing again.
void open_ends_nothing(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter first{connection.next(session), only("ledger"), {}};
    const enter second{connection.next(session), only("cache"), {}};
    const auto ledger = connection.ask_for<granted>(first);
    const auto cache = connection.ask_for<granted>(second);
    ASSERT_TRUE(ledger && cache);
    const std::vector<request_state> both = {{first.request.number, ledger->ticket, ledger->fence},
                                             {second.request.number, cache->ticket, cache->fence}};
    std::uint64_t connection_number = 1;
    for (const auto& [entered, grant] : {std::pair{first, *ledger}, std::pair{second, *cache}}) {
        const live_request live{entered.request.number, entered.claims, grant.ticket, grant.fence, {}, {}};
        const auto answer = connection.ask_for<alive>(
            open{session, 10s, "raw", ++connection_number, second.request.number + 1, {live}});
        ASSERT_TRUE(answer);
        EXPECT_TRUE(tells_of(*answer, both)) << "what this one does not list may be in another";
    }
    EXPECT_EQ(connection.ask_for<granted>(first), ledger);
    EXPECT_EQ(connection.ask_for<granted>(second), cache);
    const auto late = connection.ask_for<ended>(enter{connection.next(session), only("left"), {}});
    ASSERT_TRUE(late) << "a number up to the highest is used up";
    EXPECT_EQ(late->reason, end_reason::gone);
}

void renew_says_what_is_alive(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    const enter holder{connection.next(session), only("ledger"), {}};
    const enter waiter{connection.next(session), only("ledger"), {}};
    const auto grant = connection.ask_for<granted>(holder);
    const auto position = connection.ask_for<queued>(waiter);
    ASSERT_TRUE(grant && position);
    const auto alive = connection.ask_for<protocol::alive>(renew{session});
    ASSERT_TRUE(alive);
    const std::vector<request_state> expected = {{holder.request.number, grant->ticket, grant->fence},
                                                 {waiter.request.number, position->ticket, 0}};
    EXPECT_TRUE(tells_of(*alive, expected));
    EXPECT_EQ(connection.list(session), expected);
    const auto rest = connection.ask_for<listed>(protocol::list{session, holder.request.number});
    ASSERT_TRUE(rest);
    EXPECT_EQ(*rest, (listed{session, holder.request.number, {expected[1]}, false}));
    // A grant changes the digest.
    ASSERT_TRUE(connection.ask_for<ended>(leave{holder.request}));
    if (!bench.can().one_by_one) {
        EXPECT_TRUE(eventually([&] { return connection.list(session).at(0).fence != 0; }));
    }
    const auto after = connection.ask_for<protocol::alive>(renew{session});
    ASSERT_TRUE(after);
    const std::vector<request_state> left = connection.list(session);
    ASSERT_EQ(left.size(), 1U);
    EXPECT_NE(left[0].fence, 0U);
    EXPECT_TRUE(tells_of(*after, left));
}

// More requests than one page shows.
void a_long_list_comes_in_pages(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    std::vector<protocol::command> enters;
    for (std::size_t i = 0; i < bounds::page + 2; ++i)
        enters.push_back(enter{connection.next(session), only("name " + std::to_string(i)), {}});
    const std::uint64_t first = std::get<enter>(enters.front()).request.number;
    connection.ask_all(std::move(enters));
    const auto page = connection.ask_for<listed>(protocol::list{session, 0});
    ASSERT_TRUE(page);
    ASSERT_EQ(page->requests.size(), bounds::page);
    EXPECT_TRUE(page->more);
    const std::vector<request_state> all = connection.list(session);
    ASSERT_EQ(all.size(), bounds::page + 2);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].number, first + i) << "lowest first";
    const auto alive = connection.ask_for<protocol::alive>(renew{session});
    ASSERT_TRUE(alive);
    EXPECT_TRUE(tells_of(*alive, all));
}

void an_unknown_session_has_nothing(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id nobody = draw_session();
    EXPECT_TRUE(connection.ask_for<session_lost>(renew{nobody}));
    EXPECT_TRUE(connection.ask_for<session_lost>(protocol::list{nobody, 0}));
    const auto no = connection.ask_for<refused>(enter{{nobody, 1}, only("ledger"), {}});
    ASSERT_TRUE(no);
    EXPECT_EQ(no->reason, refusal::unknown_session);
    EXPECT_TRUE(connection.ask_for<ended>(leave{{nobody, 1}}));
    EXPECT_TRUE(connection.ask_for<closed>(protocol::close{nobody}));
    bench.expect_free(exclusive("ledger"));
}

// A client whose connection broke opens again on another one and closes there. What it had sent on the first one
// arrives after that.
void a_closed_session_does_not_live_again(bench& bench) {
    raw_connection connection{bench.handle()};
    raw_connection earlier{bench.handle()};
    const session_id session = draw_session();
    const open opening{session, 10s, "raw", 1, 0, {}};
    const enter entering{{session, 1}, only("ledger"), {}};
    ASSERT_TRUE(connection.ask_for<alive>(opening));
    ASSERT_TRUE(connection.ask_for<granted>(entering));
    ASSERT_TRUE(connection.ask_for<closed>(protocol::close{session}));
    const auto expect_nothing_begins = [&](const open& late_open, const enter& late_enter) {
        const auto no = earlier.ask_for<refused>(late_open);
        ASSERT_TRUE(no) << "an `open` that came after the close began the session again";
        EXPECT_EQ(no->reason, refusal::unknown_session);
        EXPECT_TRUE(earlier.ask_for<refused>(late_enter));
        bench.expect_free(exclusive("ledger"));
    };
    expect_nothing_begins(opening, entering);
    // Here nothing but the close has arrived yet.
    const session_id another = draw_session();
    ASSERT_TRUE(connection.ask_for<closed>(protocol::close{another}));
    expect_nothing_begins({another, 10s, "raw", 1, 0, {}}, {{another, 1}, only("ledger"), {}});
}

void commands_of_one_go_are_performed_in_order(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = connection.open();
    std::vector<command> commands;
    for (int i = 0; i < 20; ++i) {
        const request_id request = connection.next(session);
        commands.emplace_back(enter{request, only("ledger"), {}});
        commands.emplace_back(leave{request});
    }
    const std::vector<answer> answers = connection.ask_all(commands);
    serial last = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        ASSERT_EQ(answers[i].events.size(), 1U);
        const auto& what = answers[i].events[0].what;
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

void every_command_twice(bench& bench) {
    actor a = bench.join_mortal();
    actor b = bench.join_mortal();
    for (actor* actor : {&a, &b}) {
        actor->connection->send_twice(true);
        actor->connection->duplicate_answers(true);
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
         "AWaiterThatAsksAgainKeepsItsPlace",
         {&capabilities::strict_order},
         a_waiter_that_asks_again_keeps_its_place},
        {topic, "AnIdThatIsOverNeverLivesAgain", {kept}, an_id_that_is_over_never_lives_again},
        {topic, "LeaveTwiceEndsOnce", {}, leave_twice_ends_once},
        {topic, "ALeaveThatOvertookItsEnterBurnsIt", {kept}, a_leave_that_overtook_its_enter_burns_it},
        {topic, "OtherClaimsUnderALiveIdAreRefused", {}, other_claims_under_a_live_id_are_refused},
        {topic, "WithdrawnOrLeft", {}, withdrawn_or_left},
        {topic, "OpenTwiceOpensOnce", {kept}, open_twice_opens_once},
        {topic, "OpenEndsNothing", {kept}, open_ends_nothing},
        {topic, "RenewSaysWhatIsAlive", {}, renew_says_what_is_alive},
        {topic, "ALongListComesInPages", {}, a_long_list_comes_in_pages},
        {topic, "AnUnknownSessionHasNothing", {kept}, an_unknown_session_has_nothing},
        {topic, "AClosedSessionDoesNotLiveAgain", {kept}, a_closed_session_does_not_live_again},
        {topic,
         "CommandsOfOneGoArePerformedInOrder",
         {&capabilities::one_by_one},
         commands_of_one_go_are_performed_in_order},
        {topic, "EveryCommandTwice", {}, every_command_twice},
    };
}

}  // namespace baton::contract
