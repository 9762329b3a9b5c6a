// The true time of a simulated fleet and its planned events. The clocks of machines are derived from it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace baton::fleet {

using micros = std::chrono::microseconds;

struct true_clock {
    using duration = micros;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<true_clock>;
};
using true_time = true_clock::time_point;

class timeline {
public:
    [[nodiscard]] true_time now() const { return now_; }

    void at(true_time when, std::function<void()> what) {
        events_.push({std::max(when, now_), ++count_, std::move(what)});
    }
    void in(micros delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }

    /// Runs the planned events until `end` or until `done` returns true.
    template <typename Done> void run_until(true_time end, Done done) {
        while (!done() && !events_.empty() && events_.top().when <= end) {
            const auto what = events_.top().what;
            now_ = events_.top().when;
            events_.pop();
            what();
        }
        if (!done()) now_ = end;
    }

private:
    struct entry {
        true_time when;
        std::uint64_t order;  // of events at the same time, the first planned comes first
        std::function<void()> what;

        bool operator<(const entry& other) const {
            return std::pair{when, order} > std::pair{other.when, other.order};  // the earliest event is on top
        }
    };

    true_time now_{};
    std::uint64_t count_ = 0;
    std::priority_queue<entry> events_;
};

}  // namespace baton::fleet
