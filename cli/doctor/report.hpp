// Shows what `baton doctor` found, as text and as JSON.
#pragma once

#include <string>

#include "program/doctor.hpp"

namespace baton::cli {

/// No warning and no fault. A check that could not be performed counts as neither.
[[nodiscard]] bool is_healthy(const detail::diagnosis& diagnosis);

/// `title` names the server or agent.
[[nodiscard]] std::string report_text(const std::string& title, const detail::diagnosis& diagnosis);
/// One object on one line.
[[nodiscard]] std::string report_json(const std::string& url, const detail::diagnosis& diagnosis);

}  // namespace baton::cli
