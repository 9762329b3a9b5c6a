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

}  // namespace

std::vector<kept_plan> kept_plans() {
    return {
        {"a reclaim brings one ticket in twice", one_ticket_twice()},
    };
}

}  // namespace baton::sim
