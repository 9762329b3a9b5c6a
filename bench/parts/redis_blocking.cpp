// Measures how long one call blocks a real server, scene by scene. Calls are sent one at a time, and the server's
// statistics (INFO commandstats) are read after each. The slow log is not used, because it also records, and so delays,
// every command inside a script.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/parts/blocking.hpp"
#include "bench/parts/parts.hpp"

namespace baton::bench {
namespace {

struct named_scene {
    const char* name;
    void (*run)(const blocking_options&);
};
constexpr std::array<named_scene, 10> scenes{{
    {"noise", noise_scene},
    {"renew", renew_scene},
    {"death", death_scene},
    {"close", close_scene},
    {"inspect", inspect_scene},
    {"wide", wide_scene},
    {"queue", queue_scene},
    {"readers", readers_scene},
    {"permits", permits_scene},
    {"counter", counter_scene},
}};

void run(const named_scene& scene, const blocking_options& options) {
    std::fprintf(stderr, "scene %s ...\n", scene.name);
    try {
        scene.run(options);
    } catch (const std::exception& error) {
        if (!time_bound::reached.exchange(false))
            return options.report.fail(std::string{"scene "} + scene.name + ": " + error.what());
        options.report.fail(std::string{"scene "} + scene.name + " stopped after " +
                            std::to_string(longest_scene.count()) + " s; try a smaller --size");
    }
}

}  // namespace

const std::vector<std::string>& blocking_scene_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const named_scene& scene : scenes) all.emplace_back(scene.name);
        return all;
    }();
    return names;
}

void measure_redis_blocking(report& report, const part_options& options) {
    std::printf("\nredis-blocking: server time of single calls, in us; bound at p99.9\n");
    std::printf("%-58s %7s %9s %9s %9s %8s\n", "", "calls", "p50", "p99.9", "max", "bound");
    for (const named_scene& scene : scenes)
        if (options.scenes.empty() || std::ranges::find(options.scenes, scene.name) != options.scenes.end())
            run(scene, {options.server, options.size, report});
}

}  // namespace baton::bench
