#include "shrink.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "isolate.hpp"

namespace baton::sim {

namespace {

plan without(plan whole, std::size_t begin, std::size_t end) {
    const auto first = whole.steps.begin();
    whole.steps.erase(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end));
    return whole;
}

}  // namespace

// The shortest failing prefix first; then half of it is left out, a quarter, …, single steps, until none can be spared.
failure shrink(plan& failing, failure found, const run_options& options) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    failing.steps.resize(found.step + 1);
    for (std::size_t length = failing.steps.size() / 2; length > 0;) {
        bool smaller = false;
        for (std::size_t end = failing.steps.size(); end > 0;) {
            if (std::chrono::steady_clock::now() > give_up) return found;
            const std::size_t begin = end > length ? end - length : 0;
            plan tried = without(failing, begin, end);
            end = begin;
            if (auto still = replay_apart(tried, options, child_output::hidden)) {
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
