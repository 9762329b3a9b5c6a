// How often each kind of command, event, refusal and ending occurred: a simulation that never reaches a rule proves
// nothing about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "engine/types.hpp"

namespace baton::sim {

/// What is worth reaching and is no event of its own.
enum class situation : std::uint8_t {
    mark_reported,
    granted_from_queue,
    grant_told_again,
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

    /// What should have occurred and never did.
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
