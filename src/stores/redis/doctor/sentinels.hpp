// Asks the Sentinels of an address for what `baton doctor` judges. Sends only commands that read.
#pragma once

#include <optional>
#include <vector>

#include "stores/redis/doctor/facts.hpp"
#include "stores/redis/doctor/probe.hpp"

namespace baton::redis {

/// One for each Sentinel of the address, in the order of the address. All are asked at the same time; a Sentinel that
/// has not replied by the deadline has a failure.
[[nodiscard]] std::vector<sentinel_facts> ask_sentinels(const detail::redis_address& address,
                                                        probe::clock::time_point deadline);

/// The primary that the first Sentinel names that knows one.
[[nodiscard]] std::optional<detail::host_and_port> primary_of(const std::vector<sentinel_facts>& sentinels);

}  // namespace baton::redis
