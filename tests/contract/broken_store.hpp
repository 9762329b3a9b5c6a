// memory: with one fault, chosen by name. The contract suite must detect each of them.
#pragma once

#include <memory>
#include <string>

#include "baton/store.hpp"
#include "faults.hpp"

namespace baton::broken {

/// Throws std::invalid_argument if there is no such fault. "none" shows that the wrapper itself is sound.
[[nodiscard]] std::shared_ptr<store> store_with(const std::string& fault, std::shared_ptr<store> inner);
/// Any other fault; or none, to observe the messages.
[[nodiscard]] std::shared_ptr<store> store_with(fault fault, std::shared_ptr<store> inner);

}  // namespace baton::broken
