// Measures single parts of Baton against their targets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/actors/stage.hpp"
#include "bench/report.hpp"

namespace baton::bench {

struct part_options {
    std::string server;               // the path of a Redis server's program; empty: the default one
    std::vector<std::string> scenes;  // of redis-blocking; empty: all
    double size = 1;                  // of redis-blocking and redis-memory: multiplies the counts
};

void measure_engine(report& report, const part_options& options);
void measure_memory(report& report, const part_options& options);
void measure_local(report& report, const part_options& options);
void measure_redis_calls(report& report, const part_options& options);
void measure_redis_memory(report& report, const part_options& options);
void measure_redis_short_paths(report& report, const part_options& options);
void measure_redis_client(report& report, const part_options& options);
void measure_redis_blocking(report& report, const part_options& options);

struct part {
    const char* name;
    void (*measure)(report& report, const part_options& options);
};
[[nodiscard]] const std::vector<part>& all_parts();
[[nodiscard]] const std::vector<std::string>& blocking_scene_names();

/// Measures the named parts, or all. Returns the exit code: 1 if a target is missed.
[[nodiscard]] int play_parts(const std::vector<std::string>& names, const part_options& options);

/// The result of the scenario `cycle` on a store.
void show_cycle(report& report, stage& stage);

/// Throws `failure` if the server's program is not found.
[[nodiscard]] std::unique_ptr<stage> private_server(const std::string& program);

/// Prints the list of targets.
void print_targets();

}  // namespace baton::bench
