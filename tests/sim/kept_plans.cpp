#include "kept_plans.hpp"

namespace baton::sim {

using namespace core;
using namespace std::chrono_literals;

namespace {

using core::exclusive;  // one claim each, unlike the public functions of these names
using core::shared;

constexpr session_id first{1, 1};
constexpr session_id second{2, 1};
constexpr session_id third{3, 1};

/// A moment of a plan. A request that enters then gets it as its ticket, and the next number as its fence (rule 8).
constexpr instant after(duration since_start) { return instant{std::chrono::hours{4}} + since_start; }
serial ticket(duration entered) { return static_cast<serial>(after(entered).time_since_epoch().count()); }

step at(duration when, command what) { return {after(when), std::move(what)}; }

open opening(const session_id& session, std::uint64_t link, std::vector<live_request> live = {}) {
    const std::string label{static_cast<char>('A' + session.high - 1), '-', '1'};
    return {session, 1s, label, link, live.size(), std::move(live)};
}
enter entering(const session_id& session, claim wanted, enter_options options = {}) {
    return {{session, 1}, {std::move(wanted)}, options};
}
live_request waiting(claim wanted, serial ticket) { return {1, {std::move(wanted)}, ticket, 0, {}, {}}; }

// Seeds 1165, 3113 and 20211 of the differential: its check of the place took tickets for unique.
plan one_ticket_twice() {
    return {{15s, {}},
            {
                at(1ms, opening(first, 1)),
                at(2ms, entering(first, exclusive("a"))),
                at(3ms, pause{after(1s)}),
                at(4ms, opening(second, 1, {waiting(shared("b"), ticket(2ms))})),
                at(5ms, renew{first}),
                at(6ms, opening(third, 1, {waiting(exclusive("b"), ticket(10ms))})),
                at(7ms, renew{second}),
                at(8ms, renew{third}),
                at(2s, tick{}),
            }};
}

// The owner of a grant that it did not present in the pause is not told of its revocation (rules 11, 13).
plan revoked_in_a_pause() {
    const live_request held{1, {exclusive("a")}, ticket(2ms), ticket(2ms) + 1, {}, {}};
    return {{15s, {}},
            {
                at(1ms, opening(first, 1)),
                at(2ms, entering(first, exclusive("a"))),
                at(3ms, pause{after(100ms)}),
                at(4ms, revoke{"a", ticket(2ms), "note", false}),
                at(5ms, renew{first}),
                at(6ms, opening(first, 2, {held})),
                at(7ms, revoke{"a", ticket(2ms), "", false}),
                at(8ms, pause{after(50ms)}),
                at(9ms, revoke{"a", ticket(2ms), "", false}),
                at(200ms, renew{first}),
                at(1001ms, tick{}),
            }};
}

// A holder that was told of a mark left and kept it; another was told since. The first, presented again in a pause as
// if it had not left, does not remove the mark when it leaves cleanly (rule 7).
plan told_of_a_mark_and_presented_again() {
    const live_request held{1, {exclusive("a")}, ticket(6ms), ticket(6ms) + 1, {}, {}};
    return {{15s, {}},
            {
                at(1ms, opening(first, 1)),
                at(2ms, entering(first, exclusive("a"))),
                at(3ms, leave{{first, 1}, manner::unclean}),
                at(5ms, opening(second, 1)),
                at(6ms, entering(second, exclusive("a"))),
                at(7ms, leave{{second, 1}, manner::keep}),
                at(8ms, enter{{second, 2}, {exclusive("a")}, {}}),
                at(9ms, pause{after(20ms)}),
                at(10ms, open{second, 1s, "B-1", 2, 2, {held}}),
                at(30ms, close{second, closing::left}),
                at(31ms, mend{"a"}),
            }};
}

// A revocation, due 1 s after the session opened, and a hold limit of one request (rule 13). The second session's
// request is due before and costs 2: with a budget of 2 the owner's command finds the end of its own request owed.
plan revoked_and_held_too_long(duration hold, std::optional<std::uint32_t> budget) {
    return {{15s, budget},
            {
                at(0ms, opening(first, 1)),
                at(1ms, opening(second, 1)),
                at(2ms, entering(first, exclusive("a"), {false, hold, {}})),
                at(3ms, enter{{second, 1}, {exclusive("b"), exclusive("c")}, {false, duration{900ms}, {}}}),
                at(4ms, revoke{"a", ticket(2ms), "", false}),
                at(800ms, renew{first}),
                at(801ms, renew{second}),
                at(1100ms, entering(first, exclusive("a"))),
                at(3s, tick{}),
                at(3s, tick{}),
            }};
}

// Copies of `open` and `enter` arrive after the session ended, and before its `open` did (rule 5).
plan late_copies(closing how, std::size_t ended_ids) {
    return {{2s, {}, ended_ids},
            {
                at(1ms, opening(first, 1)),
                at(2ms, entering(first, exclusive("a"))),
                at(3ms, close{first, how}),
                at(4ms, opening(first, 1)),
                at(5ms, entering(first, exclusive("a"))),
                at(6ms, close{second, how}),
                at(7ms, opening(second, 1)),
                at(8ms, opening(third, 1)),
                at(9ms, pause{after(1s)}),
                at(10ms, opening(first, 2, {waiting(exclusive("a"), ticket(2ms))})),
                at(1008ms, tick{}),  // the third session expires
                at(1009ms, opening(third, 1)),
                at(2002ms, opening(first, 1)),
                at(2003ms, opening(second, 1)),  // the first two are forgotten
                at(3008ms, tick{}),
                at(10s, tick{}),
            }};
}

}  // namespace

std::vector<kept_plan> kept_plans() {
    std::vector<kept_plan> all{
        {"a reclaim brings one ticket in twice", one_ticket_twice()},
        {"a holder is revoked in a pause", revoked_in_a_pause()},
        {"a holder that was told of a mark is presented again", told_of_a_mark_and_presented_again()},
    };
    // Granted after 2 ms: the hold limit ends it before the revocation, in the same microsecond, and after it.
    for (const duration hold : std::vector<duration>{998ms - 1us, 998ms, 998ms + 1us})
        for (const auto budget : {std::optional<std::uint32_t>{}, std::optional{2U}})
            all.push_back({"a revocation and a hold limit are both due", revoked_and_held_too_long(hold, budget)});
    for (const closing how : {closing::left, closing::gone})
        for (const std::size_t ended_ids : {std::size_t{1}, std::size_t{100}})
            all.push_back({"copies arrive after the end of their session", late_copies(how, ended_ids)});
    return all;
}

}  // namespace baton::sim
