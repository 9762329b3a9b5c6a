// Measures how long one call blocks the server: scenes with the longest possible calls, each on a private server, with
// the server's time of every single call. redis_blocking.cpp runs them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/parts/redis_space.hpp"

namespace baton::bench {

struct blocking_options {
    std::string server;
    double size = 1;  // multiplies the counts of a scene: requests, names, waiters
    bench::report& report;
};

/// The time limit of a scene.
inline constexpr std::chrono::seconds longest_scene{240};

/// Kills a server at its time limit; every later call to it fails.
class time_bound {
public:
    time_bound(pid_t server, std::chrono::seconds length);

    /// Set when a server was killed.
    static inline std::atomic<bool> reached = false;

private:
    std::mutex mutex_;
    std::condition_variable_any never_;
    std::jthread thread_;
};

/// A space with sessions that hold and wait. Calls that are not timed are sent in batches.
class blocking_scene {
public:
    explicit blocking_scene(const blocking_options& options);

    [[nodiscard]] redis_space& space() { return space_; }
    [[nodiscard]] bench::report& report() { return report_; }
    [[nodiscard]] std::size_t scaled(std::size_t count) const;

    /// Adds a call to the batch.
    void open(std::size_t session, std::chrono::milliseconds ttl = std::chrono::hours{1});
    protocol::request_id enter(std::size_t session, const claims& wanted);
    /// Creates one session with that many requests, each of one exclusive name, from `first_name` on. Sends the batch.
    void fill_session(std::size_t session, std::size_t requests, std::size_t first_name = 0);

    /// The server's time of one call, in us.
    double time(const protocol::command& command, char letter = '\0') {
        return space_.ask_timed(command, letter).microseconds;
    }
    /// Enters a request and returns the server's time; the request is the last of `entered`.
    double time_enter(std::size_t session, const claims& wanted, std::vector<protocol::request_id>& entered,
                      char letter);
    /// Sends ticks until no work is due or owed; returns the time of each.
    std::vector<double> settle();

    /// Prints one line: count, p50, p99.9, maximum, and whether p99.9 is within the bound for that many claims.
    void show(const std::string& what, const std::vector<double>& times, std::size_t claims = 0);

private:
    bench::report& report_;
    double size_;
    redis_space space_;
    time_bound bound_;
};

/// Formats as "10,000".
std::string with_commas(std::size_t number);

// The scenes. Each prints its results.
void noise_scene(const blocking_options& options);
void renew_scene(const blocking_options& options);
void death_scene(const blocking_options& options);
void close_scene(const blocking_options& options);
void inspect_scene(const blocking_options& options);
void wide_scene(const blocking_options& options);
void queue_scene(const blocking_options& options);
void readers_scene(const blocking_options& options);
void permits_scene(const blocking_options& options);
void counter_scene(const blocking_options& options);

}  // namespace baton::bench
