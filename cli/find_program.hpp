// Where other programs are.
#pragma once

#include <string>

namespace baton::cli {

/// The path of the first executable file of that name in PATH; empty if there is none.
[[nodiscard]] std::string program_in_path(const std::string& name);
/// The same, but looks first into the folder of this program.
[[nodiscard]] std::string program_beside_or_in_path(const std::string& name);

}  // namespace baton::cli
