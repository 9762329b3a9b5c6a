// Building blocks of fixed plans: three sessions, moments, and the commands with which most plans begin.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan.hpp"

namespace baton::sim::plan_words {

using namespace core;
using namespace std::chrono_literals;
using core::exclusive;  // each makes one claim, unlike the public functions of these names
using core::shared;

inline constexpr session_id first{1, 1};
inline constexpr session_id second{2, 1};
inline constexpr session_id third{3, 1};

/// A moment of a plan. A request that enters at it gets it as its ticket and the next number as its fence (rule 8).
constexpr instant after(duration since_start) { return instant{std::chrono::hours{4}} + since_start; }
inline serial ticket(duration entered) { return static_cast<serial>(after(entered).time_since_epoch().count()); }

inline step at(duration when, command what) { return {after(when), std::move(what)}; }

inline open opening(const session_id& session, std::uint64_t connection_number, std::vector<live_request> live = {}) {
    const std::string label{static_cast<char>('A' + session.high - 1), '-', '1'};
    return {session, 1s, label, connection_number, live.size(), std::move(live)};
}
inline enter entering(const session_id& session, claim wanted, enter_options options = {}) {
    return {{session, 1}, {std::move(wanted)}, options};
}
inline live_request waiting(claim wanted, serial ticket) { return {1, {std::move(wanted)}, ticket, 0, {}, {}}; }

}  // namespace baton::sim::plan_words
