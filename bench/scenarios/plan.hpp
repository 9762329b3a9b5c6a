// The amount and duration of measurements.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "bench/result.hpp"

namespace baton::bench {

struct plan {
    bool quick = false;
    std::size_t pairs = 25;                 // of floor and subject
    std::chrono::milliseconds round{100};   // for each of a pair
    std::chrono::milliseconds span{2'000};  // of measurements without a floor
    std::vector<std::size_t> processes{2, 8, 32, 128};
    std::vector<std::size_t> callers{1, 4, 16, 64, 256};
    std::vector<std::size_t> queue{100, 1'000, 10'000};
    std::vector<std::size_t> scale{10, 100, 1'000, 10'000, 100'000};
    std::size_t repetitions = 5;
    std::chrono::milliseconds warm_up{200};

    [[nodiscard]] static plan quick_one() {
        return {true,
                15,
                std::chrono::milliseconds{20},
                std::chrono::milliseconds{400},
                {2, 8},
                {1, 16, 64},
                {100, 1'000},
                {10, 1'000},
                2,
                std::chrono::milliseconds{50}};
    }
};

/// Receives results and progress messages.
class audience {
public:
    virtual ~audience() = default;
    virtual void begin(const std::string& what) = 0;
    virtual void show(const result& result) = 0;
};

}  // namespace baton::bench
