// Counts commands, events, refusals and endings by kind: a simulation proves nothing about a rule that it never
// reaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "engine/types.hpp"

namespace baton::sim {

/// Situations that a simulation must reach and that are not visible in a single event.
enum class situation : std::uint8_t {
    mark_reported,
    granted_from_queue,
    grant_reported_again,
    granted_reclaimed,
    waiting_reclaimed,
    listed_outside_pause,
    ended_id_refused,
    event_repeated,
    list_after_a_number,
    grant_hidden,
    step_in_pause,
    step_that_owes,
    circle,
    clock_went_back,
    restart_without_state,
    restart_with_older_state,
};

class coverage {
public:
    coverage();

    void count(const core::command& command);
    void count(const core::event& event);
    void count(situation reached) { ++situations_[static_cast<std::size_t>(reached)]; }
    void add(const coverage& other);

    /// The kinds that never occurred.
    [[nodiscard]] std::vector<std::string> missing() const;
    void print(std::ostream& out) const;

private:
    std::vector<std::uint64_t> commands_;
    std::vector<std::uint64_t> events_;
    std::vector<std::uint64_t> refusals_;
    std::vector<std::uint64_t> endings_;
    std::vector<std::uint64_t> situations_;

    template <typename Visit> void each(Visit visit) const;
};

}  // namespace baton::sim
