// When a sweep is over: after two passes over all processes in which nothing of the tree was found, since one may miss
// a process that is forked meanwhile; or after a time, because the names must pass on in the end. Pure.
#pragma once

#include <chrono>

namespace baton::agent {

class sweep_plan {
public:
    using time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::milliseconds longest{5'000};

    explicit sweep_plan(time begun) : begun_{begun} {}

    /// After a pass: `clean` if it was complete and found nothing. True if the sweep is over.
    [[nodiscard]] bool passed(bool clean, time now) {
        clean_passes_ = clean ? clean_passes_ + 1 : 0;
        return clean_passes_ == 2 || now - begun_ >= longest;
    }

private:
    time begun_;
    int clean_passes_ = 0;
};

}  // namespace baton::agent
