// memory: with one fault, chosen by name: the contract suite must notice each of them.
#pragma once

#include <memory>
#include <string>

#include "baton/store.hpp"
#include "faults.hpp"

namespace baton::broken {

/// Throws std::invalid_argument if there is no such fault. "none" is there to show that the wrapper itself is sound.
[[nodiscard]] std::shared_ptr<store> store_with(const std::string& fault, std::shared_ptr<store> inner);
/// Any other fault; or none, to listen to what passes.
[[nodiscard]] std::shared_ptr<store> store_with(fault fault, std::shared_ptr<store> inner);

}  // namespace baton::broken
