// Finds other programs.
#pragma once

#include <string>

namespace baton::cli {

/// The path of the first executable file of that name in PATH; empty if there is none.
[[nodiscard]] std::string program_in_path(const std::string& name);
/// The same, but the folder of this program comes first.
[[nodiscard]] std::string program_beside_or_in_path(const std::string& name);

}  // namespace baton::cli
