// redis_blocking [--scene NAME]… [--size X] [--server PATH]: how long one call blocks a real server, scene by scene.
// The calls are sent one at a time, and the server's accounts (INFO commandstats) are read after each; its slow log
// would also record, and so delay, every command inside of a script. Exits 1 if a target is missed.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "blocking.hpp"
#include "ratios.hpp"

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

int usage() {
    std::fputs(
        "usage: redis_blocking [--scene NAME]... [--size X] [--server PATH]\n"
        "  --size X   scale requests, names and waiters by X, above 0, at most 3; 1 unless given\n"
        "  scenes:",
        stderr);
    for (const named_scene& scene : scenes) std::fprintf(stderr, " %s", scene.name);
    std::fputs("\n", stderr);
    return 64;
}

void run(const named_scene& scene, const blocking_options& options) {
    std::fprintf(stderr, "scene %s ...\n", scene.name);
    try {
        scene.run(options);
    } catch (const std::exception& error) {
        if (time_bound::reached.exchange(false))
            std::printf("scene %s stopped after %ld s; try a smaller --size\n", scene.name,
                        static_cast<long>(longest_scene.count()));
        else
            std::printf("scene %s failed: %s\n", scene.name, error.what());
        failed = true;
    }
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** arguments) {
    using namespace baton::bench;
    std::vector<std::string_view> wanted;
    std::string server;
    double size = 1;
    for (int i = 1; i < count; i += 2) {
        const std::string_view option = arguments[i];
        if (i + 1 == count) return usage();
        if (option == "--scene")
            wanted.emplace_back(arguments[i + 1]);
        else if (option == "--size")
            size = std::atof(arguments[i + 1]);
        else if (option == "--server")
            server = arguments[i + 1];
        else
            return usage();
    }
    if (!(size > 0 && size <= 3)) return usage();
    for (const std::string_view name : wanted)
        if (std::ranges::find(scenes, name, &named_scene::name) == scenes.end()) return usage();
    const auto program = baton::redis_tests::find_server(server);
    if (!program) {
        std::puts("no server to measure: Debian's redis-tools contains one");
        return 0;
    }
    print_blocking_head();
    for (const named_scene& scene : scenes)
        if (wanted.empty() || std::ranges::find(wanted, scene.name) != wanted.end()) run(scene, {*program, size});
    return failed ? 1 : 0;
}
