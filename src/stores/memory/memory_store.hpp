// `memory:`: the engine inside the process. For tests, and for named fair locks among a program's own threads.
#pragma once

#include <memory>
#include <string_view>

#include "baton/store.hpp"

namespace baton::detail {

/// One engine for each name in a process, the empty name among them; it is there while a store of that name is.
[[nodiscard]] std::shared_ptr<store> memory_store(std::string_view name);

}  // namespace baton::detail
