// differential: sends the schedules of the simulation to the engine and to the function library in a real server.
// Compares every reply and notification, and the whole state after every command; a failure prints the seed and the
// shortest list of commands found that still differs. Exit codes: 0 they agree; 1 they differ; 64 usage; 77 no server
// was found.
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "describe.hpp"
#include "difference.hpp"
#include "kept_plans.hpp"

namespace {

using namespace baton;

constexpr int exit_differ = 1;
constexpr int exit_usage = 64;
constexpr int exit_no_server = 77;
constexpr std::string_view usage =
    "usage: differential [--commands N] [--seed S] [--steps N] [--server PATH]\n"
    "       differential --seeds S,S,… [--steps N] [--server PATH]\n"
    "       --library FILE: another text of the library under the same name, as mutants are\n"
    "       --inspect-every N: compare the whole state after every Nth command only, which is several times as fast;\n"
    "       replies and notices are compared after every command\n"
    "       --no-shrink: do not shorten the list of commands that differs\n"
    "Schedules S, S+1, … of 300 steps each until N commands (default 20000) were played; or exactly those named.\n"
    "Then the kept plans.\n";

struct settings {
    std::uint64_t commands = 20'000;
    std::uint64_t seed = 1;
    std::uint64_t steps = 300;
    std::uint64_t inspect_every = 1;
    std::vector<std::uint64_t> seeds;  // if not empty: only these
    std::string server;
    std::string library;
    bool shrinks = true;
};

[[noreturn]] void fail_usage(const std::string& message) {
    std::cerr << "differential: " << message << '\n' << usage;
    std::exit(exit_usage);
}

std::uint64_t number_in(std::string_view option, std::string_view text) {
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || number == 0)
        fail_usage(std::string{option} + " takes a number above 0, not '" + std::string{text} + "'");
    return number;
}

settings parse(int count, char** arguments) {
    settings chosen;
    for (int index = 1; index < count; ++index) {
        const std::string_view option = arguments[index];
        if (option == "--help" || option == "-h") std::cout << usage, std::exit(0);
        if (option == "--no-shrink") {
            chosen.shrinks = false;
            continue;
        }
        if (++index == count) fail_usage(std::string{option} + " takes a value, or is unknown");
        const std::string_view text = arguments[index];
        if (option == "--server") {
            chosen.server = text;
        } else if (option == "--library") {
            chosen.library = text;
        } else if (option == "--commands") {
            chosen.commands = number_in(option, text);
        } else if (option == "--seed") {
            chosen.seed = number_in(option, text);
        } else if (option == "--steps") {
            chosen.steps = number_in(option, text);
        } else if (option == "--inspect-every") {
            chosen.inspect_every = number_in(option, text);
        } else if (option == "--seeds") {
            for (std::size_t from = 0; from <= text.size(); from = text.find(',', from) + 1) {
                chosen.seeds.push_back(number_in(option, text.substr(from, text.find(',', from) - from)));
                if (text.find(',', from) == std::string_view::npos) break;
            }
        } else {
            fail_usage("unknown option '" + std::string{option} + "'");
        }
    }
    return chosen;
}

void report(redis::library_side& scripts, sim::plan& ran, const redis::difference_found& found, bool shrinks) {
    std::cout << " differs after step " << found.step << " (" << sim::describe(ran.options) << "): " << found.what
              << std::endl;
    if (!shrinks) return;
    scripts.inspect_every(1);
    std::cout << "\nshrinking …" << std::endl;
    const auto least = redis::shrink(scripts, ran, found);
    std::cout << "the shortest that differs has " << ran.steps.size() << " steps (\"model\": the scripts):\n";
    for (const sim::step& step : ran.steps) std::cout << "  " << sim::describe(step) << '\n';
    std::cout << "  => " << least.what << "\n";
}

/// False if engine and library differ.
bool play_kept_plans(redis::library_side& scripts, bool shrinks) {
    for (auto& [name, plan] : sim::kept_plans()) {
        const auto found = redis::play(scripts, plan);
        if (!found) continue;
        std::cout << "the plan \"" << name << "\"";
        sim::plan failing = plan;
        report(scripts, failing, *found, shrinks);
        return false;
    }
    return true;
}

bool play_seed(redis::library_side& scripts, std::uint64_t seed, const settings& chosen) {
    sim::plan ran;
    const auto found = redis::play_seed(scripts, seed, chosen.steps, ran);
    if (!found) return true;
    std::cout << "seed " << seed;
    report(scripts, ran, *found, chosen.shrinks);
    std::cout << "\nagain: differential --seeds " << seed << std::endl;
    return false;
}

std::string contents_of(const std::string& path) {
    std::ifstream file{path};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    if (text.empty()) fail_usage("cannot read " + path);
    return text;
}

int play(const settings& chosen, const redis_tests::server_program& program) {
    const redis_tests::private_server server{{.program = program}};
    redis::library_side scripts{server.at().path, chosen.library.empty() ? "" : contents_of(chosen.library)};
    scripts.inspect_every(chosen.inspect_every);
    const auto started = std::chrono::steady_clock::now();
    std::uint64_t played = 0;
    for (const std::uint64_t seed : chosen.seeds) {
        if (!play_seed(scripts, seed, chosen)) return exit_differ;
        played += chosen.steps;
    }
    const std::uint64_t wanted = chosen.seeds.empty() ? chosen.commands : 0;
    for (std::uint64_t seed = chosen.seed; played < wanted; ++seed, played += chosen.steps)
        if (!play_seed(scripts, seed, chosen)) return exit_differ;
    if (!play_kept_plans(scripts, chosen.shrinks)) return exit_differ;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    std::cout << played << " commands on " << program.path << ": engine and scripts agree ("
              << static_cast<std::uint64_t>(static_cast<double>(played) / seconds) << " commands/s)\n";
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const settings chosen = parse(count, arguments);
    const auto program = redis_tests::find_server(chosen.server);
    if (!program || !std::filesystem::exists(program->path)) {
        std::cout << "skipped: " << redis_tests::no_server << "\n";
        return exit_no_server;
    }
    return play(chosen, *program);
}
