// The engine with a clock: it passes `now` in, and tells the events that answer a command from those for others. Who
// waits for the next deadline, and how an event reaches its session, is the business of memory store and agent.
#pragma once

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "protocol/sender_of.hpp"

namespace baton::core {

/// Not thread-safe.
class engine_host {
public:
    explicit engine_host(engine_options options = {}) : engine_{options} {}
    /// With a clock that shows `start` now.
    engine_host(engine_options options, instant start) : engine_{options}, wall_at_start_{start} {}

    /// The wall clock at the start plus the time since: no step of the clock touches it, and fences survive a restart.
    [[nodiscard]] instant now() const {
        const auto passed = std::chrono::steady_clock::now() - started_;
        return wall_at_start_ + std::chrono::duration_cast<duration>(passed);
    }

    struct outcome {
        std::vector<event> reply;
        std::vector<std::pair<session_id, event>> notices;
    };

    /// Performs a command that `sender`'s client sent. What comes of it is the caller's to move from, until the next.
    outcome& apply(const command& command, const session_id& sender) { return perform(command, &sender); }
    outcome& tick() { return perform(core::tick{}, nullptr); }

    /// When `tick` has something to do, as seen at the last command.
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> next_due() const;

    /// Tells what answers the sender from what is for others; null: nobody asked.
    static outcome sort(std::vector<event> events, const session_id* sender) {
        outcome sorted;
        sort(events, sender, sorted);
        return sorted;
    }

    [[nodiscard]] const core::engine& engine() const { return engine_; }

private:
    outcome& perform(const command& command, const session_id* sender);
    static void sort(std::vector<event>& events, const session_id* sender, outcome& outcome);

    core::engine engine_;
    std::vector<event> events_;
    outcome outcome_;
    instant last_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    instant wall_at_start_ = std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
};

}  // namespace baton::core
