#include "kept_plans.hpp"

#include "plan_words.hpp"

namespace baton::sim {

using namespace core;
using namespace std::chrono_literals;

namespace {

using namespace plan_words;

// Seeds 1165, 3113 and 20211 of the differential: its check of queue positions assumed unique tickets.
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

// A session that did not present its grant in the pause is not notified of the revocation (rules 11, 13).
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

// Two holders in turn learn of a mark and release with `keep`. The first is presented again in a pause, as if it had
// not left; its clean release does not remove the mark, because the second learned of it later (rule 7).
plan mark_reported_and_holder_presented_again() {
    const live_request held{1, {exclusive("a")}, ticket(6ms), ticket(6ms) + 1, {}, {}};
    return {{15s, {}},
            {
                at(1ms, opening(first, 1)),
                at(2ms, entering(first, exclusive("a"))),
                at(3ms, leave{{first, 1}, release_kind::unclean}),
                at(5ms, opening(second, 1)),
                at(6ms, entering(second, exclusive("a"))),
                at(7ms, leave{{second, 1}, release_kind::keep}),
                at(8ms, enter{{second, 2}, {exclusive("a")}, {}}),
                at(8ms + 500us, leave{{second, 2}, release_kind::keep}),
                at(9ms, pause{after(20ms)}),
                at(10ms, open{second, 1s, "B-1", 2, 2, {held}}),
                at(30ms, close{second, closing::left}),
                at(31ms, mend{"a"}),
            }};
}

// A request has a revocation, due 1 s after the session opened, and a hold limit (rule 13). The second session's
// request is due earlier and costs 2: with a budget of 2, the end of the first request is owed when its owner sends a
// command.
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

// More requests than a page shows, and more events than a renewal repeats (rule 5).
plan more_than_a_page(std::optional<std::uint32_t> budget) {
    plan made{{15s, budget}, {at(1ms, opening(first, 1)), at(2ms, opening(second, 1))}};
    const auto add = [&](command what) { made.steps.push_back(at(3ms, std::move(what))); };
    for (std::uint64_t number = 1; number <= bounds::page + 40; ++number)
        add(enter{
            {first, number}, {exclusive("n" + std::to_string(number))}, {false, number < 20 ? duration{5ms} : 1h, {}}});
    for (const std::uint64_t after : {0UL, 1UL, 39UL, 40UL, 41UL, 256UL, 295UL, 296UL, 1'000UL})
        add(list{first, after});
    made.steps.push_back(at(20ms, renew{second}));
    made.steps.push_back(at(20ms, tick{}));
    made.steps.push_back(at(21ms, renew{first}));
    made.steps.push_back(at(22ms, renew{first}));
    made.steps.push_back(at(23ms, list{first, 0}));
    const std::uint32_t steps = budget ? 350 / *budget + 10 : 5;  // until all are ended
    for (std::uint32_t step = 0; step < steps; ++step) made.steps.push_back(at(1100ms, list{first, 0}));
    made.steps.push_back(at(1100ms, opening(first, 2)));
    return made;
}

// A resize makes waiters too wide; with a budget their ends are owed while other commands act (rules 4, 10).
plan narrowed_step_by_step(std::optional<std::uint32_t> budget) {
    const auto wide = [](std::uint64_t number, const char* name, std::uint32_t count) {
        return enter{{second, number}, {permits(name, count, 9), shared("t")}, {}};
    };
    return {{15s, budget},
            {
                at(1ms, opening(first, 1)),
                at(2ms, opening(second, 1)),
                at(3ms, enter{{first, 1}, {permits("s", 9, 9)}, {}}),
                at(3ms, enter{{first, 2}, {permits("r", 9, 9)}, {}}),
                at(4ms, wide(1, "s", 5)),
                at(5ms, wide(2, "r", 6)),
                at(6ms, wide(3, "s", 5)),
                at(7ms, wide(4, "s", 7)),
                at(8ms, wide(5, "r", 2)),
                at(9ms, resize{"s", 4}),
                at(9ms, resize{"r", 3}),
                at(10ms, leave{{second, 1}, release_kind::clean}),
                at(10ms, resize{"s", 6}),
                at(11ms, renew{second}),
                at(11ms, resize{"s", 1}),
                at(12ms, leave{{first, 2}, release_kind::clean}),
                at(13ms, pause{after(1s)}),
                at(13ms, opening(third, 1, {waiting(permits("r", 8, 9), ticket(20ms))})),
                at(14ms, resize{"s", std::nullopt}),
                at(14ms, tick{}),
                at(14ms, tick{}),
                at(2s, tick{}),
            }};
}

// Seed 7000148 of the differential: more ends are due than the budget allows, and then the clock goes back by less than
// they are late. A session whose end is due stays dead to every command (rule 4). The first step leaves the end of a
// session owed or, with the hold limits, the admission of the second session's claim.
plan clock_goes_back_while_work_is_owed(std::optional<duration> hold) {
    const duration late = hold ? 1020ms : 2s;
    return {{15s, 2},
            {
                at(1ms, opening(first, 1)),
                at(2ms, opening(second, 1)),
                at(3ms, opening(third, 1)),
                at(4ms, enter{{first, 1}, {exclusive("a"), shared("b")}, {false, hold, {}}}),
                at(5ms, enter{{first, 2}, {exclusive("c"), shared("b")}, {false, hold, {}}}),
                at(6ms, enter{{third, 1}, {exclusive("d"), shared("b")}, {}}),
                at(7ms, entering(second, exclusive("a"))),
                at(700ms, renew{first}),
                at(701ms, renew{second}),
                at(late, tick{}),
                at(late - 10ms, renew{hold ? third : second}),
                at(3s, tick{}),
            }};
}

// The sessions of waiters expire while that of the holder lives, as after a stall of the server. The waiters come back
// in other sessions, the youngest first, while ends of the old ones may be owed. One of them has a reservation when an
// older one comes back, another becomes complete in that step (rules 1, 4, 11).
plan waiters_come_back(std::optional<std::uint32_t> budget) {
    const auto back = [](const session_id& session, std::vector<live_request> live) {
        return open{{session.high, 2}, 1s, std::string{static_cast<char>('A' + session.high - 1)} + "-2", 1, 2, live};
    };
    const live_request second_first{1, {exclusive("a")}, ticket(4ms), 0, {}, {}};
    const live_request second_other{2, {exclusive("a"), shared("c")}, ticket(6ms), 0, {}, {}};
    const live_request third_first{1, {exclusive("a"), exclusive("b")}, ticket(5ms), 0, {}, {}};
    plan made{{15s, budget},
              {
                  at(1ms, open{first, 15s, "A-1", 1, 0, {}}),
                  at(1ms, opening(second, 1)),
                  at(1ms, opening(third, 1)),
                  at(2ms, entering(first, exclusive("a"))),
                  at(3ms, enter{{first, 2}, {exclusive("b"), shared("d")}, {}}),
                  at(4ms, entering(second, exclusive("a"))),
                  at(5ms, enter{{third, 1}, {exclusive("a"), exclusive("b")}, {}}),
                  at(6ms, enter{{second, 2}, {exclusive("a"), shared("c")}, {}}),
                  at(2s, back(third, {third_first})),
                  at(2s, enter{{{3, 2}, 3}, {exclusive("c"), exclusive("d")}, {}}),
                  at(2s + 1ms, leave{{first, 2}, release_kind::clean}),
                  at(2s + 1ms, back(second, {second_other, second_first})),
                  at(2s + 2ms, renew{{3, 2}}),
                  at(2s + 3ms, list{{2, 2}, 0}),
                  at(2s + 4ms, leave{{first, 1}, release_kind::clean}),
              }};
    for (int i = 0; i < 6; ++i) made.steps.push_back(at(2s + 5ms, tick{}));
    for (const session_id& session : {session_id{2, 2}, session_id{3, 2}})
        for (const std::uint64_t number : {1UL, 3UL, 2UL})
            made.steps.push_back(at(2s + 6ms, leave{{session, number}, release_kind::clean}));
    return made;
}

// An exclusive request comes back between older and younger requests that have reserved permits of the name. Only the
// younger one gives way; with a small budget it would show if the older ones had to be admitted again.
plan older_reservations_stay(std::optional<std::uint32_t> budget) {
    const std::vector<claim> wide{permits("s", 1, 4), exclusive("y")};
    return {{15s, budget},
            {
                at(1ms, open{first, 15s, "A-1", 1, 0, {}}),
                at(1ms, opening(second, 1)),
                at(2ms, entering(first, exclusive("y"))),
                at(3ms, enter{{first, 2}, wide, {}}),
                at(4ms, enter{{first, 3}, wide, {}}),
                at(5ms, entering(second, exclusive("s"))),
                at(2s, tick{}),
                at(2s, tick{}),
                at(2s + 1ms, enter{{first, 4}, wide, {}}),
                at(2s + 2ms, open{{2, 2}, 1s, "B-2", 1, 1, {waiting(exclusive("s"), ticket(5ms))}}),
                at(2s + 3ms, leave{{first, 1}, release_kind::clean}),
                at(2s + 4ms, tick{}),
            }};
}

// The last claim of a request is admitted in the step in which an older request comes back, before the older one does:
// the younger request is complete and is granted.
plan complete_when_another_comes_back(std::optional<std::uint32_t> budget) {
    const std::vector<claim> both{exclusive("x"), exclusive("y")};
    return {{15s, budget},
            {
                at(1ms, open{first, 15s, "A-1", 1, 0, {}}),
                at(1ms, opening(second, 1)),
                at(2ms, enter{{first, 1}, both, {}}),
                at(3ms, entering(second, exclusive("x"))),
                at(2s, tick{}),
                at(2s, tick{}),
                at(2s + 1ms, enter{{first, 2}, both, {}}),
                at(2s + 2ms, leave{{first, 1}, release_kind::clean}),
                at(2s + 3ms, open{{2, 2}, 1s, "B-2", 1, 1, {waiting(exclusive("x"), ticket(3ms))}}),
                at(2s + 4ms, tick{}),
                at(2s + 5ms, leave{{first, 2}, release_kind::clean}),
            }};
}

// A hand-off to a session with more requests than its text in the function library holds.
plan hand_over_to_a_large_session() {
    plan made{{15s, {}},
              {at(1ms, opening(first, 1)), at(1ms, opening(second, 1)), at(2ms, entering(first, exclusive("a")))}};
    for (std::uint64_t number = 1; number <= 20; ++number)
        made.steps.push_back(at(3ms, enter{{second, number}, {exclusive("n" + std::to_string(number))}, {}}));
    made.steps.push_back(at(4ms, enter{{second, 21}, {exclusive("a")}, {}}));
    made.steps.push_back(at(5ms, leave{{first, 1}, release_kind::clean}));
    made.steps.push_back(at(6ms, renew{second}));
    made.steps.push_back(at(7ms, list{second, 0}));
    return made;
}

// A larger limit grants a waiter at once.
plan a_limit_grows() {
    return {{15s, {}},
            {
                at(1ms, opening(first, 1)),
                at(1ms, opening(second, 1)),
                at(2ms, entering(first, permits("s", 1, 1))),
                at(3ms, entering(second, permits("s", 1, 1))),
                at(4ms, resize{"s", 2}),
                at(5ms, renew{second}),
            }};
}

}  // namespace

std::vector<kept_plan> kept_plans() {
    std::vector<kept_plan> all{
        {"a reclaim brings one ticket in twice", one_ticket_twice()},
        {"a holder is revoked in a pause", revoked_in_a_pause()},
        {"a holder that learned of a mark is presented again", mark_reported_and_holder_presented_again()},
    };
    // Granted after 2 ms: the hold limit ends it before the revocation, in the same microsecond, and after it.
    for (const duration hold : std::vector<duration>{998ms - 1us, 998ms, 998ms + 1us})
        for (const auto budget : {std::optional<std::uint32_t>{}, std::optional{2U}})
            all.push_back({"a revocation and a hold limit are both due", revoked_and_held_too_long(hold, budget)});
    for (const auto budget : {std::optional<std::uint32_t>{}, std::optional{7U}})
        all.push_back({"more requests than a page shows", more_than_a_page(budget)});
    for (const auto budget : {std::optional<std::uint32_t>{}, std::optional{1U}, std::optional{3U}})
        all.push_back({"waiters become too wide", narrowed_step_by_step(budget)});
    for (const closing how : {closing::left, closing::gone})
        for (const std::size_t ended_ids : {std::size_t{1}, std::size_t{2}, std::size_t{100}})
            all.push_back({"copies arrive after the end of their session", late_copies(how, ended_ids)});
    for (const auto budget : {std::optional<std::uint32_t>{}, std::optional{2U}, std::optional{3U}, std::optional{5U}})
        all.push_back({"waiters come back", waiters_come_back(budget)});
    for (const auto budget : {std::optional<std::uint32_t>{}, std::optional{1U}, std::optional{2U}}) {
        all.push_back({"older reservations stay", older_reservations_stay(budget)});
        all.push_back({"complete when another comes back", complete_when_another_comes_back(budget)});
    }
    all.push_back({"a large session is handed a name", hand_over_to_a_large_session()});
    all.push_back({"a limit grows", a_limit_grows()});
    for (const auto hold : {std::optional<duration>{}, std::optional<duration>{900ms}})
        all.push_back({"the clock goes back while work is owed", clock_goes_back_while_work_is_owed(hold)});
    for (kept_plan& plan : boundary_plans()) all.push_back(std::move(plan));
    return all;
}

}  // namespace baton::sim
