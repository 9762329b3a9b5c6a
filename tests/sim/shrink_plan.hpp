// Shrinks a failing plan until it is small enough to read, for every program that plays plans.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "plan.hpp"

namespace baton::sim {

/// Finds the shortest failing prefix; then leaves out a half, a quarter, …, single steps, until every step is needed or
/// the time is over. `play` returns the failure, if there is one, with its step.
template <typename Failure, typename Play>
[[nodiscard]] Failure shrink_plan(plan& failing, Failure found, std::chrono::seconds timeout, Play play) {
    const auto give_up = std::chrono::steady_clock::now() + timeout;
    failing.steps.resize(found.step + 1);
    for (std::size_t length = failing.steps.size() / 2; length > 0;) {
        bool smaller = false;
        for (std::size_t end = failing.steps.size(); end > 0;) {
            if (std::chrono::steady_clock::now() > give_up) return found;
            const std::size_t begin = end > length ? end - length : 0;
            plan tried = failing;
            const auto first = tried.steps.begin();
            tried.steps.erase(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end));
            end = begin;
            if (auto still = play(tried)) {
                tried.steps.resize(still->step + 1);
                end = std::min(end, tried.steps.size());
                failing = std::move(tried);
                found = std::move(*still);
                smaller = true;
            }
        }
        if (!smaller || length > 1) length /= 2;
    }
    return found;
}

}  // namespace baton::sim
