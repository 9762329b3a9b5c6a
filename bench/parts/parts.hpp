// The measurements of single parts of Baton, each against its targets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/actors/stage.hpp"
#include "bench/report.hpp"

namespace baton::bench {

struct part_options {
    std::string server;               // the path of a Redis server's program; empty: the one that is found
    std::vector<std::string> scenes;  // of redis-blocking; none: all
    double size = 1;                  // of redis-blocking: of all that is counted in a scene
};

void measure_engine(report& report, const part_options& options);
void measure_memory(report& report, const part_options& options);
void measure_local(report& report, const part_options& options);
void measure_redis_calls(report& report, const part_options& options);
void measure_redis_short_paths(report& report, const part_options& options);
void measure_redis_client(report& report, const part_options& options);
void measure_redis_blocking(report& report, const part_options& options);

struct part {
    const char* name;
    void (*measure)(report& report, const part_options& options);
};
[[nodiscard]] const std::vector<part>& all_parts();
[[nodiscard]] const std::vector<std::string>& blocking_scene_names();

/// Measures those that are named, or all. Gives the exit code: 1 if a target is missed.
[[nodiscard]] int play_parts(const std::vector<std::string>& names, const part_options& options);

/// What the scenario `cycle` measures there.
void show_cycle(report& report, stage& stage);

/// Throws `failure` if there is no program to start.
[[nodiscard]] std::unique_ptr<stage> private_server(const std::string& program);

/// Prints the list of targets.
void print_targets();

}  // namespace baton::bench
