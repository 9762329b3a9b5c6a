// Is a command well formed? What can be said without looking at the engine's state; everything from outside passes
// here.
#pragma once

#include <optional>
#include <vector>

#include "engine/types.hpp"

namespace baton::core {

[[nodiscard]] std::optional<refusal> refusal_of_name(std::string_view name);
[[nodiscard]] std::optional<refusal> refusal_of(const enter& command);
[[nodiscard]] std::optional<refusal> refusal_of(const open& command, std::chrono::milliseconds max_ttl);
[[nodiscard]] std::optional<refusal> refusal_of(const revoke& command);
[[nodiscard]] std::optional<refusal> refusal_of(const resize& command);

}  // namespace baton::core
