// Plays one schedule against engine, model and history, and compares them after every step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coverage.hpp"
#include "engine/engine.hpp"
#include "engine/inspect.hpp"
#include "history.hpp"
#include "naive_model.hpp"
#include "plan.hpp"

namespace baton::sim {

/// Engine, model and history.
class world {
public:
    world(const core::engine_options& options, core::duration model_early);

    /// Performs a step; describes the failure, if there is one.
    [[nodiscard]] std::optional<std::string> perform(const step& step, coverage* seen);
    [[nodiscard]] const std::vector<core::event>& events() const { return events_; }
    [[nodiscard]] std::size_t log_size() const { return log_.size(); }
    [[nodiscard]] std::optional<core::instant> next_due(core::instant now) const { return engine_->next_due(now); }

private:
    // A command that led to the present state, with its events.
    struct entry {
        core::command command;
        core::instant at;
        bool paused = false;
        std::vector<core::event> events;
    };

    void start_over();
    [[nodiscard]] std::optional<std::string> restart_with(std::size_t kept);
    [[nodiscard]] std::optional<std::string> perform(const core::command& command, core::instant at, coverage* seen);
    [[nodiscard]] std::optional<std::string> check_due(const core::command& command, core::instant at,
                                                       std::optional<core::instant> expected) const;
    void count(const core::command& command, const core::snapshot& state, coverage& seen);

    core::engine_options options_;
    core::duration model_early_;
    std::unique_ptr<core::engine> engine_;
    std::unique_ptr<naive_model> model_;
    history history_;
    std::vector<entry> log_;
    std::vector<core::event> events_;
    core::serial highest_fence_ = 0;
};

struct failure {
    std::size_t step = 0;  // index of the step that failed
    std::string what;
};

struct run_options {
    std::size_t steps = 300;
    core::duration model_early{0};           // a planted fault, see naive_model
    std::ostream* trace = nullptr;           // receives a line for each step
    std::uint64_t* progress = nullptr;       // receives the index of the present step
    std::optional<std::size_t> stop_before;  // the run stops before this step
};

/// Draws and runs the schedule of a seed. `ran` receives the steps up to the failing one.
[[nodiscard]] std::optional<failure> run_seed(std::uint64_t seed, const run_options& options, coverage& seen,
                                              plan& ran);

/// Runs a plan unchanged.
[[nodiscard]] std::optional<failure> replay(const plan& plan, const run_options& options);

}  // namespace baton::sim
