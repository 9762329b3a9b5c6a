// Decides when a sweep ends: after two consecutive passes over all processes that found none of the tree, because one
// pass may miss a process that is forked meanwhile; or after 5 s, so that the names are handed off in any case. Pure.
#pragma once

#include <chrono>

namespace baton::agent {

class sweep_plan {
public:
    using time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::milliseconds longest{5'000};

    explicit sweep_plan(time begun) : begun_{begun} {}

    /// Call it after each pass; `clean`: the pass was complete and found nothing. Returns whether the sweep has ended.
    [[nodiscard]] bool passed(bool clean, time now) {
        clean_passes_ = clean ? clean_passes_ + 1 : 0;
        return clean_passes_ == 2 || now - begun_ >= longest;
    }

private:
    time begun_;
    int clean_passes_ = 0;
};

}  // namespace baton::agent
