// Plans at boundaries: the last permit, the last slot of a byte, the budget of a step, a counter ahead of the clock, a
// clock that goes back, deadlines at the current moment.
#include "kept_plans.hpp"
#include "plan_words.hpp"

namespace baton::sim {
namespace {

using namespace plan_words;

// Permits are taken and freed near the limit of 24, so that the free slots are scattered over several bytes (rule 10).
plan scattered_slots(std::optional<std::uint32_t> budget) {
    plan made{{15s, budget}, {at(1ms, opening(first, 1)), at(1ms, opening(second, 1))}};
    duration now = 2ms;
    const auto add = [&](command what) { made.steps.push_back(at(now += 10us, std::move(what))); };
    std::uint64_t number = 0;
    const auto take = [&](std::uint32_t count, std::uint32_t limit = 24) {
        ++number;
        add(enter{{number % 2 == 0 ? first : second, number}, {permits("s", count, limit)}, {}});
    };
    const auto give_back = [&](std::uint64_t which) {
        add(leave{{which % 2 == 0 ? first : second, which}, release_kind::clean});
    };
    const auto give_back_all = [&](const std::vector<std::uint64_t>& all) {
        for (const std::uint64_t which : all) give_back(which);
    };
    for (int i = 0; i < 24; ++i) take(1);  // 1 … 24 hold the slots 0 … 23
    give_back_all({24, 8, 16, 9, 17, 2, 4, 6});
    take(3);  // 25
    take(4);  // 26
    take(1);  // 27: the last one
    take(9);  // 28 waits
    take(1);  // 29 waits behind it
    for (std::uint64_t which = 10; which <= 15; ++which) give_back(which);
    give_back_all({26, 25, 1, 28, 29});
    take(17);  // 30 waits: 13 are in use
    for (std::uint64_t which = 18; which <= 23; ++which) give_back(which);
    give_back_all({30, 27, 3, 5, 7});
    take(24);  // 31: all
    take(1);   // 32 waits
    give_back(31);
    take(7, 8);  // 33: beside 32
    take(1, 8);  // 34 waits
    take(1, 9);  // 35 waits behind it
    give_back(33);
    take(16, 32);  // 36
    give_back(34);
    take(8, 32);  // 37
    give_back(36);
    take(20, 32);  // 38: the bytes that 36 had filled
    return made;
}

// A request for many names leaves; their waiters are admitted in several steps, while other requests enter and leave
// and a pause begins (rule 4).
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
    add(leave{{first, 1}, release_kind::clean});
    add(leave{{second, 3}, release_kind::clean});  // withdrawn, or left
    add(enter{{first, 2}, {exclusive(name(13))}, {true, {}, {}}});
    add(enter{{first, 3}, {shared(name(12)), exclusive("z")}, {}});
    add(leave{{third, 9}, release_kind::clean});
    add(pause{after(now + 100us)});
    add(tick{});
    now += 200us;
    for (int i = 0; i < 3; ++i) add(tick{});
    add(resize{name(0), 1});
    add(close{third, closing::gone});
    for (int i = 0; i < 16; ++i) add(tick{});
    for (std::uint64_t i = 0; i < count; ++i) add(leave{{second, i + 1}, release_kind::clean});
    return made;
}

// A request of 1,000 claims takes the general path, because it waits for one of its names (rules 2, 3).
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
                at(5ms, leave{{first, 1}, release_kind::clean}),
                at(6ms, leave{{second, 1}, release_kind::clean}),
            }};
}

// A reclaim moves the counter ahead of the clock; then the clock goes back (rules 5, 8, 11).
plan counter_ahead(duration ahead, duration back) {
    const live_request held{1, {exclusive("a")}, ticket(ahead), ticket(ahead) + 1, {}, {}};
    return {{1s, {}},
            {
                at(1ms, opening(first, 1)),
                at(2ms, pause{after(10ms)}),
                at(3ms, opening(second, 1, {held})),
                at(20ms, entering(first, exclusive("a"))),
                at(21ms, enter{{first, 2}, {exclusive("b")}, {}}),
                at(22ms, leave{{second, 1}, release_kind::clean}),
                at(23ms, leave{{first, 2}, release_kind::clean}),
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

// A hold limit ends a request in the step in which another leaves: the grants of both are numbered in the order of
// their tickets, not in the order of their admission (rules 3, 8).
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
                at(20ms, leave{{second, 1}, release_kind::clean}),
            }};
}

// The second session's request is due earlier and costs 2, the whole budget. So the end of the first session's request
// is owed when that session sends a command: before, at and after its deadline (rules 4, 6).
plan asks_when_its_end_is_due(duration asked) {
    return {{15s, 2U},
            {
                at(1ms, opening(first, 1)),
                at(1ms, opening(second, 1)),
                at(2ms, entering(first, exclusive("a"), {false, duration{500ms}, {}})),
                at(3ms, enter{{second, 1}, {exclusive("b"), exclusive("c")}, {false, duration{100ms}, {}}}),
                at(asked, entering(first, exclusive("a"))),
                at(asked, leave{{first, 1}, release_kind::clean}),
                at(600ms, tick{}),
            }};
}

// In a pause, ids are remembered beyond their time; the clock goes back (rule 5).
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

// Presented permits whose slots are adjacent, separate or common (rule 11).
plan slots_presented(const std::vector<slot>& slots) {
    const auto held = [](const std::vector<slot>& given, duration since) {
        const claim wanted = permits("s", static_cast<std::uint32_t>(given.size()), 20);
        return live_request{1, {wanted}, ticket(since), ticket(since) + 1, {{"s", given}}, {}};
    };
    return {{15s, {}},
            {
                at(10ms, pause{after(20ms)}),
                at(11ms, opening(first, 1, {held({3, 4, 5}, 1ms)})),
                at(12ms, opening(second, 1, {held(slots, 2ms)})),
                at(13ms, opening(third, 1, {held({8}, 3ms)})),
                at(14ms, renew{first}),
                at(30ms, enter{{third, 2}, {permits("s", 9, 20)}, {}}),
            }};
}

// Numbers that are given in the same microsecond, and in the microsecond after a fence (rule 8).
plan numbers_at_one_moment() {
    plan made{{15s, {}}, {}};
    for (const session_id& session : {first, second, third}) made.steps.push_back(at(1ms, opening(session, 1)));
    std::uint64_t number = 0;
    const auto add = [&](duration when, const session_id& session, claim wanted) {
        made.steps.push_back(at(when, enter{{session, ++number}, {std::move(wanted)}, {}}));
    };
    add(2ms, first, exclusive("a"));  // its fence is 1 µs later
    add(2ms + 1us, second, exclusive("b"));
    add(3ms, second, exclusive("a"));
    add(3ms, third, exclusive("c"));
    add(4ms, third, exclusive("a"));  // behind another
    add(4ms, third, exclusive("d"));
    made.steps.push_back(at(5ms, leave{{first, 1}, release_kind::clean}));  // a hand-off
    add(5ms, first, exclusive("e"));
    made.steps.push_back(at(6ms, leave{{second, 3}, release_kind::clean}));
    add(6ms + 1us, first, exclusive("f"));
    add(7ms, second, shared("g"));
    add(7ms + 1us, third, shared("g"));
    add(8ms, second, permits("h", 1, 3));
    add(8ms, third, permits("h", 1, 3));
    return made;
}

// Ends are owed when a pause begins; in the pause another session is renewed after its deadline (rules 4, 11).
plan late_in_a_pause() {
    plan made{{15s, 2U}, {at(1ms, opening(first, 1)), at(1ms, opening(second, 1))}};
    for (std::uint64_t number = 1; number <= 20; ++number)
        made.steps.push_back(at(2ms, enter{{first, number}, {shared("a")}, {}}));
    made.steps.push_back(at(3ms, entering(second, exclusive("b"))));
    made.steps.push_back(at(4ms, close{first, closing::gone}));
    made.steps.push_back(at(5ms, pause{after(5s)}));
    made.steps.push_back(at(2s, renew{second}));
    made.steps.push_back(at(2s, list{second, 0}));
    return made;
}

// Seed 650 of the differential: a reclaim moves an admitted claim back to the front of a queue in which a younger claim
// waits. It is admitted again after the pause (rules 4, 11).
plan sent_back_to_the_front() {
    return {{15s, {}},
            {
                at(1ms, opening(first, 1)),
                at(2ms, opening(second, 1)),
                at(3ms, entering(first, exclusive("c"))),
                at(4ms, enter{{first, 2}, {exclusive("b"), shared("c")}, {}}),  // admitted on b, waits on c
                at(5ms, enter{{second, 1}, {exclusive("b")}, {}}),
                at(6ms, pause{after(10ms)}),
                at(7ms, opening(third, 1, {waiting(exclusive("b"), ticket(8ms))})),
                at(20ms, tick{}),
                at(21ms, leave{{first, 1}, release_kind::clean}),
                at(22ms, leave{{first, 2}, release_kind::clean}),
            }};
}

// Seed 1239 of the differential: three claims of one request are owed, and the last comes with the second batch of owed
// claims. They are checked in the order of the claims (rule 4).
plan owed_in_two_batches() {
    return {{15s, 2U},
            {
                at(1ms, opening(first, 1)),
                at(2ms, opening(second, 1)),
                at(3ms, entering(first, shared("c"))),
                at(4ms, enter{{second, 1}, {permits("c", 3, 7), shared("a"), exclusive("b")}, {}}),
                at(5ms, enter{{first, 2}, {permits("a", 1, 1)}, {}}),
                at(6ms, enter{{first, 3}, {exclusive("c"), exclusive("b"), shared("a")}, {}}),
                at(7ms, enter{{second, 2}, {exclusive("b")}, {}}),
                at(8ms, close{second, closing::left}),
                at(9ms, tick{}),
                at(10ms, tick{}),
                at(11ms, tick{}),
            }};
}

// Numbers of 16 digits, and a larger number of 17 digits (rules 5, 9).
plan the_highest_numbers(std::uint64_t requests) {
    plan made{{15s, {}}, {at(1ms, opening(first, 1))}};
    const auto add = [&](command what) { made.steps.push_back(at(2ms, std::move(what))); };
    for (std::uint64_t number = bounds::number - requests; number < bounds::number; ++number)
        add(enter{{first, number}, {exclusive("n" + std::to_string(number))}, {}});
    for (const std::uint64_t after : {bounds::number - 2, bounds::number - 1, bounds::number, 10 * bounds::number})
        add(list{first, after});
    add(list{first, 10'000'000'000'000'000});
    add(enter{{first, bounds::number}, {exclusive("n")}, {}});  // out of range
    add(renew{first});
    return made;
}

// The clock goes back to a moment after the opens, but before a renewal, whose deadline is then cut (rule 5).
plan back_before_a_renewal() {
    return {{1s, {}},
            {
                at(1ms, opening(first, 1)),
                at(1ms, opening(second, 1)),
                at(2ms, entering(first, exclusive("a"))),
                at(10ms, renew{first}),
                at(5ms, renew{second}),
                at(6ms, tick{}),
            }};
}

// The function library stores a session's requests as one text of numbers and fences, and so the holders of a name.
// Here the digits of a number also occur across another number and its fence, and a holder across two fields of others.
plan texts_that_stand_across_others() {
    constexpr session_id ends_like_a_holder{0x4141414141414141, 0x4141733030303178};  // AAAAAAAAAAs0001x
    constexpr session_id of_digits{0x3030303030303030, 0x3030303030303031};           // 0000000000000001
    const auto entered = [](const session_id& session, std::uint64_t number, claim wanted) {
        return enter{{session, number}, {std::move(wanted)}, {}};
    };
    return {{15s, {}},
            {
                at(1ms, opening(first, 1)),
                at(1ms, opening(second, 1)),
                at(2ms, entered(first, 1'234, exclusive("a"))),  // its fence begins with five zeros
                at(3ms, entered(first, 12'340'000, exclusive("b"))),
                at(4ms, entered(second, 1, exclusive("c"))),
                at(5ms, entered(first, 123'400'000, exclusive("c"))),
                at(6ms, leave{{second, 1}, release_kind::clean}),  // a hand-off
                at(7ms, renew{first}),
                at(8ms, leave{{first, 12'340'000}, release_kind::clean}),
                at(9ms, renew{first}),
                at(10ms, leave{{first, 123'400'000}, release_kind::clean}),
                at(11ms, renew{first}),
                at(12ms, open{ends_like_a_holder, 1s, "A", 1, 0, {}}),
                at(12ms, open{of_digits, 1s, "0", 1, 0, {}}),
                at(13ms, entered(ends_like_a_holder, 1, shared("s"))),
                at(14ms, entered(of_digits, ticket(14ms), shared("s"))),
                at(15ms, leave{{of_digits, ticket(14ms)}, release_kind::clean}),
                at(16ms, entered(second, 2, exclusive("s"))),
                at(17ms, leave{{ends_like_a_holder, 1}, release_kind::clean}),
            }};
}

}  // namespace

std::vector<kept_plan> boundary_plans() {
    std::vector<kept_plan> all;
    for (const auto budget : {std::optional<std::uint32_t>{}, std::optional{3U}})
        all.push_back({"slots are scattered", scattered_slots(budget)});
    for (const std::uint32_t budget : {2U, 3U, 5U})
        all.push_back({"many names become free at once", many_names_freed(budget)});
    all.push_back({"a request of many names waits", a_thousand_claims()});
    all.push_back({"the clock goes back before a renewal", back_before_a_renewal()});
    for (const duration ahead : std::vector<duration>{500ms, 10s})
        for (const duration back : std::vector<duration>{1us, 800ms, 5s, 1h})
            all.push_back({"the counter is ahead of the clock", counter_ahead(ahead, back)});
    for (const duration back : std::vector<duration>{1us, 1ms, 500ms, 1500ms, 5s, 1h})
        for (const duration paused_for : std::vector<duration>{1ms, 1s})
            all.push_back({"the clock goes back", clock_goes_back(back, paused_for)});
    all.push_back({"a hold limit ends when another leaves", granted_in_one_step()});
    for (const duration asked : std::vector<duration>{502ms - 1us, 502ms, 502ms + 1us})
        all.push_back({"the end of a request is owed", asks_when_its_end_is_due(asked)});
    all.push_back({"an id is remembered in a pause", remembered_in_a_pause()});
    for (slot from = 0; from <= 6; ++from) {
        all.push_back({"permits are presented", slots_presented({from})});
        all.push_back({"permits are presented", slots_presented({from, from + 1, from + 2})});
    }
    for (const std::vector<slot>& slots : std::vector<std::vector<slot>>{{0, 2, 6},
                                                                         {0, 2, 5, 6},
                                                                         {1, 3},
                                                                         {0, 1, 6, 7, 9, 10, 11},
                                                                         {2, 0},
                                                                         {0, 2, 2},
                                                                         {0, 6, 65'536},
                                                                         {0, 6, 65'535}})
        all.push_back({"permits are presented", slots_presented(slots)});
    all.push_back({"numbers are given at one moment", numbers_at_one_moment()});
    all.push_back({"texts stand across others", texts_that_stand_across_others()});
    for (const std::uint64_t requests : {2U, 6U})
        all.push_back({"the highest numbers are listed", the_highest_numbers(requests)});
    all.push_back({"a session outlives its ttl in a pause", late_in_a_pause()});
    all.push_back({"debts of one request are read in two batches", owed_in_two_batches()});
    all.push_back({"a claim is sent back to the front of a queue", sent_back_to_the_front()});
    return all;
}

}  // namespace baton::sim
