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

// More requests than a page shows, and more events than a renewal repeats (rule 5).
plan more_than_a_page(std::optional<std::uint32_t> budget) {
    plan made{{15s, budget}, {at(1ms, opening(first, 1)), at(2ms, opening(second, 1))}};
    const auto add = [&](command what) { made.steps.push_back(at(3ms, std::move(what))); };
    for (std::uint64_t number = 1; number <= bounds::page + 40; ++number)
        add(enter{{first, number}, {exclusive("n" + std::to_string(number))}, {false, number < 20 ? duration{5ms} : 1h, {}}});
    for (const std::uint64_t after : {0UL, 1UL, 39UL, 40UL, 41UL, 256UL, 295UL, 296UL, 1'000UL}) add(list{first, after});
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

// A resize makes waiters too wide; with a budget their ends are owed, whatever happens meanwhile (rules 4, 10).
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
                at(10ms, leave{{second, 1}, manner::clean}),
                at(10ms, resize{"s", 6}),
                at(11ms, renew{second}),
                at(11ms, resize{"s", 1}),
                at(12ms, leave{{first, 2}, manner::clean}),
                at(13ms, pause{after(1s)}),
                at(13ms, opening(third, 1, {waiting(permits("r", 8, 9), ticket(20ms))})),
                at(14ms, resize{"s", std::nullopt}),
                at(14ms, tick{}),
                at(14ms, tick{}),
                at(2s, tick{}),
            }};
}

// Permits that come and go near the limit of 24, so that the free slots are scattered over several bytes (rule 10).
plan scattered_slots(std::optional<std::uint32_t> budget) {
    plan made{{15s, budget}, {at(1ms, opening(first, 1)), at(1ms, opening(second, 1))}};
    duration now = 2ms;
    const auto add = [&](command what) { made.steps.push_back(at(now += 10us, std::move(what))); };
    std::uint64_t number = 0;
    const auto take = [&](std::uint32_t count, std::uint32_t limit = 24) {
        ++number;
        add(enter{{number % 2 == 0 ? first : second, number}, {permits("s", count, limit)}, {}});
    };
    const auto give_back = [&](std::uint64_t which) { add(leave{{which % 2 == 0 ? first : second, which}, manner::clean}); };
    for (int i = 0; i < 24; ++i) take(1);                                         // 1 … 24 hold the slots 0 … 23
    for (const std::uint64_t which : std::vector<std::uint64_t>{24, 8, 16, 9, 17, 2, 4, 6}) give_back(which);
    take(3);                                                                      // 25
    take(4);                                                                      // 26
    take(1);                                                                      // 27: the last one
    take(9);                                                                      // 28 waits
    take(1);                                                                      // 29 waits behind it
    for (std::uint64_t which = 10; which <= 15; ++which) give_back(which);
    for (const std::uint64_t which : std::vector<std::uint64_t>{26, 25, 1, 28, 29}) give_back(which);
    take(17);                                                                     // 30 waits: 13 are in use
    for (std::uint64_t which = 18; which <= 23; ++which) give_back(which);
    for (const std::uint64_t which : std::vector<std::uint64_t>{30, 27, 3, 5, 7}) give_back(which);
    take(24);                                                                     // 31: all
    take(1);                                                                      // 32 waits
    give_back(31);
    take(7, 8);                                                                   // 33: beside 32
    take(1, 8);                                                                   // 34 waits
    take(1, 9);                                                                   // 35 waits behind it
    give_back(33);
    take(16, 32);                                                                 // 36
    give_back(34);
    take(8, 32);
    return made;
}

// A request of many names leaves; the claims that wait on them are admitted in several steps, while others come, go and
// are paused (rule 4).
plan many_names_freed(std::optional<std::uint32_t> budget) {
    constexpr std::uint64_t count = 14;
    const auto name = [](std::uint64_t i) { return std::string{"m"} + static_cast<char>('a' + i); };
    plan made{{15s, budget}, {}};
    duration now = 1ms;
    const auto add = [&](command what) { made.steps.push_back(at(now += 10us, std::move(what))); };
    for (const session_id& session : {first, second, third}) add(opening(session, 1));
    std::vector<claim> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(i % 3 == 0 ? permits(name(i), 2, 2) : exclusive(name(i)));
    add(enter{{first, 1}, all, {}});
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t other = count - 1 - i;
        add(enter{{second, i + 1}, {i % 2 == 0 ? shared(name(i)) : exclusive(name(i))}, {}});
        add(enter{{third, i + 1}, {i % 4 == 0 ? permits(name(other), 1, 2) : shared(name(other))}, {}});
    }
    add(leave{{first, 1}, manner::clean});
    add(leave{{second, 3}, manner::clean});  // withdrawn, or left
    add(enter{{first, 2}, {exclusive(name(13))}, {true, {}, {}}});
    add(enter{{first, 3}, {shared(name(12)), exclusive("z")}, {}});
    add(leave{{third, 9}, manner::clean});
    add(pause{after(now + 100us)});
    add(tick{});
    now += 200us;
    for (int i = 0; i < 3; ++i) add(tick{});
    add(resize{name(0), 1});
    add(close{third, closing::gone});
    for (int i = 0; i < 16; ++i) add(tick{});
    for (std::uint64_t i = 0; i < count; ++i) add(leave{{second, i + 1}, manner::clean});
    return made;
}

// A wide request takes the long path, because it waits for one of its names (rules 2, 3).
plan a_thousand_claims() {
    std::vector<claim> wide;
    for (std::uint64_t i = 1; i <= bounds::claims; ++i) {
        const std::string name = "w" + std::to_string(i);
        wide.push_back(i % 2 == 0 ? shared(name) : exclusive(name));
    }
    return {{15s, {}},
            {
                at(1ms, opening(first, 1)),
                at(2ms, opening(second, 1)),
                at(3ms, entering(first, exclusive("w999"))),
                at(4ms, enter{{second, 1}, wide, {}}),
                at(5ms, leave{{first, 1}, manner::clean}),
                at(6ms, leave{{second, 1}, manner::clean}),
            }};
}

// A reclaim brings the counter further ahead than the clock; then the clock goes back (rules 5, 8, 11).
plan counter_ahead(duration ahead, duration back) {
    const live_request held{1, {exclusive("a")}, ticket(ahead), ticket(ahead) + 1, {}, {}};
    return {{1s, {}},
            {
                at(1ms, opening(first, 1)),
                at(2ms, pause{after(10ms)}),
                at(3ms, opening(second, 1, {held})),
                at(20ms, entering(first, exclusive("a"))),
                at(21ms, enter{{first, 2}, {exclusive("b")}, {}}),
                at(22ms, leave{{second, 1}, manner::clean}),
                at(23ms, leave{{first, 2}, manner::clean}),
                at(900ms, renew{first}),
                at(900ms, renew{second}),
                at(900ms, enter{{second, 2}, {shared("b")}, {}}),
                at(901ms, renew{first}),
                at(901ms - back, renew{second}),
                at(902ms - back, renew{first}),
                at(902ms - back, enter{{first, 3}, {shared("b")}, {}}),
                at(903ms - back, tick{}),
            }};
}

// The clock goes back while requests are held, revoked and limited, ids are remembered and a pause is over or not
// (rules 5, 6, 11, 13).
plan clock_goes_back(duration back, duration paused_for) {
    const instant from = after(0ms);
    plan made{{2s, {}}, {}};
    duration now = 1ms;
    const auto add = [&](command what) { made.steps.push_back({from + now, std::move(what)}), now += 1ms; };
    add(opening(first, 1));
    add(open{second, 2s, "B-1", 1, 0, {}});
    add(opening(third, 1));
    add(close{third, closing::left});
    add(entering(first, exclusive("a")));
    add(entering(second, exclusive("a")));
    add(enter{{second, 2}, {shared("b")}, {false, duration{1500ms}, {}}});
    add(enter{{second, 3}, {permits("c", 1, 2)}, {}});
    add(revoke{"a", ticket(5ms), "note", false});
    add(revoke{"c", ticket(8ms), "", false});
    add(pause{from + now + paused_for});
    now += 10ms;
    add(renew{second});
    now -= back;
    add(renew{first});
    add(opening(third, 1));
    for (int i = 0; i < 6; ++i) {
        add(renew{second});
        add(tick{});
        add(list{first, 0});
        now += 400ms;
    }
    return made;
}

// A hold limit ends a request in the step in which another leaves: the grants of both are numbered in the order of their
// tickets, not in the order of their admission (rules 3, 8).
plan granted_in_one_step() {
    return {{15s, {}},
            {
                at(1ms, opening(first, 1)),
                at(1ms, opening(second, 1)),
                at(1ms, opening(third, 1)),
                at(2ms, entering(first, exclusive("a"), {false, duration{10ms}, {}})),
                at(3ms, entering(second, exclusive("b"))),
                at(4ms, entering(third, exclusive("b"))),
                at(5ms, enter{{third, 2}, {exclusive("a")}, {}}),
                at(20ms, leave{{second, 1}, manner::clean}),
            }};
}

// The second session's request is due before and costs 2, which is the budget, so the first finds the end of its own
// request owed, before, at and after the moment at which it is due (rules 4, 6).
plan asks_when_its_end_is_due(duration asked) {
    return {{15s, 2U},
            {
                at(1ms, opening(first, 1)),
                at(1ms, opening(second, 1)),
                at(2ms, entering(first, exclusive("a"), {false, duration{500ms}, {}})),
                at(3ms, enter{{second, 1}, {exclusive("b"), exclusive("c")}, {false, duration{100ms}, {}}}),
                at(asked, entering(first, exclusive("a"))),
                at(asked, leave{{first, 1}, manner::clean}),
                at(600ms, tick{}),
            }};
}

// Ids are remembered in a pause, also when their time is over; the clock goes back (rule 5).
plan remembered_in_a_pause() {
    return {{1s, {}},
            {
                at(1ms, close{third, closing::left}),
                at(2ms, pause{after(5s)}),
                at(1100ms, tick{}),
                at(500ms, opening(third, 1)),
                at(2s, opening(third, 1)),
                at(6s, tick{}),
            }};
}

// Viewers watch for 3 s; that is over in a pause, and stays over when the clock goes back.
plan watched_until_a_pause() {
    return {{15s, {}},
            {
                at(1ms, opening(first, 1)),
                at(2ms, pause{after(10s)}),
                at(3500ms, renew{first}),
                at(2500ms, entering(first, exclusive("a"))),
                at(2600ms, resize{"a", 3}),
            }};
}

// Presented permits whose slots touch, follow each other or are in common (rule 11).
plan slots_presented(std::uint32_t from, std::uint32_t upto) {
    const auto held = [](std::uint32_t low, std::uint32_t high, duration since) {
        claim_slots slots{"s", {}};
        for (std::uint32_t slot = low; slot <= high; ++slot) slots.slots.push_back(slot);
        const claim wanted = permits("s", high - low + 1, 20);
        return live_request{1, {wanted}, ticket(since), ticket(since) + 1, {slots}, {}};
    };
    return {{15s, {}},
            {
                at(10ms, pause{after(20ms)}),
                at(11ms, opening(first, 1, {held(3, 5, 1ms)})),
                at(12ms, opening(second, 1, {held(from, upto, 2ms)})),
                at(13ms, opening(third, 1, {held(8, 8, 3ms)})),
                at(14ms, renew{first}),
                at(30ms, enter{{third, 2}, {permits("s", 9, 20)}, {}}),
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
    for (const auto budget : {std::optional<std::uint32_t>{}, std::optional{7U}})
        all.push_back({"more requests than a page shows", more_than_a_page(budget)});
    for (const auto budget : {std::optional<std::uint32_t>{}, std::optional{1U}, std::optional{3U}})
        all.push_back({"waiters become too wide", narrowed_step_by_step(budget)});
    for (const closing how : {closing::left, closing::gone})
        for (const std::size_t ended_ids : {std::size_t{1}, std::size_t{100}})
            all.push_back({"copies arrive after the end of their session", late_copies(how, ended_ids)});
    // Each twice: the differential test lets viewers watch in every second plan, where no short path is taken.
    for (const auto budget : {std::optional<std::uint32_t>{}, std::optional{3U}})
        all.push_back({"slots are scattered", scattered_slots(budget)});
    for (const std::uint32_t budget : {2U, 2U, 3U, 3U, 5U, 5U})
        all.push_back({"many names become free at once", many_names_freed(budget)});
    all.push_back({"a request of many names waits", a_thousand_claims()});
    for (const duration ahead : std::vector<duration>{500ms, 10s})
        for (const duration back : std::vector<duration>{1us, 800ms, 5s, 1h})
            for (int twice = 0; twice < 2; ++twice)
                all.push_back({"the counter is ahead of the clock", counter_ahead(ahead, back)});
    for (const duration back : std::vector<duration>{1us, 1ms, 500ms, 1500ms, 5s, 1h})
        for (const duration paused_for : std::vector<duration>{1ms, 1s})
            all.push_back({"the clock goes back", clock_goes_back(back, paused_for)});
    all.push_back({"a hold limit ends when another leaves", granted_in_one_step()});
    for (const duration asked : std::vector<duration>{502ms - 1us, 502ms, 502ms + 1us})
        all.push_back({"the end of a request is owed", asks_when_its_end_is_due(asked)});
    for (int twice = 0; twice < 2; ++twice) {
        all.push_back({"an id is remembered in a pause", remembered_in_a_pause()});
        all.push_back({"viewers watch until a pause", watched_until_a_pause()});
        all.push_back({"more ended than are kept", late_copies(closing::left, 2)});
    }
    for (std::uint32_t from = 0; from <= 6; ++from)
        for (const std::uint32_t width : {0U, 2U, 3U})
            all.push_back({"permits are presented", slots_presented(from, from + width)});
    return all;
}

}  // namespace baton::sim
