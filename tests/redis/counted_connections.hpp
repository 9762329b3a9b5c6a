// Counts how often a client was connected.
#pragma once

#include <atomic>

#include "baton/baton.hpp"

namespace baton::redis_tests {

struct counted_connections final : observer {
    std::atomic<int> lost{0};
    std::atomic<int> made{0};
    void connected() override { ++made; }
    void reconnecting(std::error_code, const std::string&) override { ++lost; }
    void reconnected() override { ++made; }
};

}  // namespace baton::redis_tests
