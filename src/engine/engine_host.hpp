// The engine with a clock. It passes `now` to the engine, and separates the reply to a command from the notifications
// for other sessions. The memory store and the agent wait for the next deadline and deliver the events.
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
    /// The clock starts at `start`.
    engine_host(engine_options options, instant start) : engine_{options}, wall_at_start_{start} {}

    /// The wall clock at the start plus the elapsed steady time: adjustments of the wall clock do not change it, and
    /// fences keep growing after a restart.
    [[nodiscard]] instant now() const {
        const auto passed = std::chrono::steady_clock::now() - started_;
        return wall_at_start_ + std::chrono::duration_cast<duration>(passed);
    }

    struct result {
        std::vector<event> reply;
        std::vector<std::pair<session_id, event>> notices;
    };

    /// Performs a command that `sender`'s client sent. The caller may move from the result, which is valid until the
    /// next command.
    result& apply(const command& command, const session_id& sender) { return perform(command, &sender); }
    result& tick() { return perform(core::tick{}, nullptr); }

    /// When `tick` has something to do, as seen at the last command.
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> next_due() const;

    /// Separates the reply to the sender from the notifications for other sessions; null: there is no sender.
    static result sort(std::vector<event> events, const session_id* sender) {
        result sorted;
        sort(events, sender, sorted);
        return sorted;
    }

    [[nodiscard]] const core::engine& engine() const { return engine_; }

private:
    result& perform(const command& command, const session_id* sender);
    static void sort(std::vector<event>& events, const session_id* sender, result& result);

    core::engine engine_;
    std::vector<event> events_;
    result result_;
    instant last_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    instant wall_at_start_ = std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
};

}  // namespace baton::core
