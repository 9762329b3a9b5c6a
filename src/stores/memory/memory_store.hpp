// The store `memory:`, an engine in the process: for tests, and for named fair locks between threads of one program.
#pragma once

#include <memory>
#include <string_view>

#include "baton/store.hpp"

namespace baton::detail {

/// Stores with the same name, which may be empty, share one engine. It lives as long as one of these stores.
[[nodiscard]] std::shared_ptr<store> memory_store(std::string_view name);

}  // namespace baton::detail
