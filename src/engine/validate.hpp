// Checks that a command is well formed, without the engine's state. Every command from outside passes here.
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
