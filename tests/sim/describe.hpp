// Describes commands, events and steps, one line each, for reports of failures.
#pragma once

#include <string>

#include "engine/types.hpp"
#include "plan.hpp"

namespace baton::sim {

/// In schedules, session ids are small numbers: B2 is the second session of client B.
[[nodiscard]] std::string describe(const core::session_id& session);
[[nodiscard]] std::string describe(const core::request_id& request);
[[nodiscard]] std::string describe(const core::claim& claim);
[[nodiscard]] std::string describe(const core::mark& mark);
[[nodiscard]] std::string describe(core::instant at);
[[nodiscard]] std::string describe(core::duration length);
[[nodiscard]] std::string describe(const core::command& command);
[[nodiscard]] std::string describe(const core::event& event);
[[nodiscard]] std::string describe(const step& step);
[[nodiscard]] std::string describe(const core::engine_options& options);

}  // namespace baton::sim
