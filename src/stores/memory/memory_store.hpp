// `memory:`: the engine inside the process. For tests, and for named fair locks among a program's own threads.
#pragma once

#include <memory>
#include <string_view>

#include "baton/store.hpp"

namespace baton::detail {

/// A store of its own without a name; with one, the same for all who ask for it while somebody uses it.
[[nodiscard]] std::shared_ptr<store> memory_store(std::string_view name);

}  // namespace baton::detail
