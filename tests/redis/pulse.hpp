// A client that acquires and releases one name continuously, and measures the longest time without a grant: a pause of
// the space is a gap between two grants.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "../eventually.hpp"
#include "baton/baton.hpp"

namespace baton::redis_tests {

class pulse {
public:
    using clock = std::chrono::steady_clock;

    /// Returns after the first grant, so that the initial pause of the space does not count.
    pulse(const std::string& url, std::string name, client_options options)
        : client_{url, options}, name_{std::move(name)} {
        static_cast<void>(client_.acquire(exclusive(name_), {.wait = long_enough}));
        begin_anew();
        thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
    }
    pulse(const pulse&) = delete;
    pulse& operator=(const pulse&) = delete;

    /// Forgets the gaps up to now.
    void begin_anew() {
        const std::lock_guard guard{mutex_};
        begun_ = last_ = clock::now();
        longest_ = {};
    }
    /// The longest time without a grant since then, including the current one.
    [[nodiscard]] std::chrono::milliseconds longest_gap() const {
        const std::lock_guard guard{mutex_};
        return std::chrono::duration_cast<std::chrono::milliseconds>(std::max(longest_, clock::now() - last_));
    }
    /// Returns at the first grant that happens at least that long after the beginning. False if there is none in time.
    [[nodiscard]] bool watch(std::chrono::milliseconds length) const {
        return eventually([&] {
            const std::lock_guard guard{mutex_};
            return last_ - begun_ >= length;
        });
    }

private:
    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::error_code error;
            const lease held = client_.acquire(exclusive(name_), {.wait = std::chrono::seconds{1}}, error);
            if (held.valid()) note_grant();
            std::this_thread::sleep_for(std::chrono::milliseconds{1});  // limits its load on the processor
        }
    }

    void note_grant() {
        const std::lock_guard guard{mutex_};
        const auto now = clock::now();
        longest_ = std::max(longest_, now - last_);
        last_ = now;
    }

    client client_;
    std::string name_;
    mutable std::mutex mutex_;
    clock::time_point begun_;
    clock::time_point last_;
    clock::duration longest_{};
    std::jthread thread_;
};

}  // namespace baton::redis_tests
