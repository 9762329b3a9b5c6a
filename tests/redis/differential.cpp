// differential: sends the schedules of the simulation to the engine and to the function library in a real server.
// Compares every reply and notification, and the whole state after every command; a failure prints the seed and the
// shortest list of commands found that still differs. Exit codes: 0 they agree; 1 they differ; 64 usage; 77 no server
// was found.
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

#include "../command_options.hpp"
#include "describe.hpp"
#include "difference.hpp"
#include "kept_plans.hpp"

namespace {

using namespace baton;

constexpr int exit_differ = 1;
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
    std::string library;  // its text; empty: that of this build
    bool shrinks = true;
};

std::vector<std::uint64_t> numbers_in(std::string_view text, const command_options& options) {
    std::vector<std::uint64_t> numbers;
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        numbers.push_back(options.number_in(text.substr(0, comma), 1));
        more = comma != std::string_view::npos;
        if (more) text.remove_prefix(comma + 1);
    }
    return numbers;
}

std::string contents_of(std::string_view path, const command_options& options) {
    std::ifstream file{std::filesystem::path{path}};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    if (text.empty()) options.fail("cannot read " + std::string{path});
    return text;
}

settings parse(int count, char** arguments) {
    command_options options{count, arguments, "differential", usage};
    settings chosen;
    while (const auto option = options.next()) {
        if (option == "--server")
            chosen.server = options.text();
        else if (option == "--library")
            chosen.library = contents_of(options.text(), options);
        else if (option == "--commands")
            chosen.commands = options.number(1);
        else if (option == "--seed")
            chosen.seed = options.number(1);
        else if (option == "--steps")
            chosen.steps = options.number(1);
        else if (option == "--inspect-every")
            chosen.inspect_every = options.number(1);
        else if (option == "--seeds")
            chosen.seeds = numbers_in(options.text(), options);
        else if (option == "--no-shrink")
            chosen.shrinks = false;
        else
            options.unknown();
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

/// Plays each plan twice, because viewers watch every second plan, which excludes the short paths. False if engine and
/// library differ.
bool play_kept_plans(redis::library_side& scripts, bool shrinks) {
    for (auto& [name, plan] : sim::kept_plans()) {
        auto found = redis::play(scripts, plan);
        if (!found) found = redis::play(scripts, plan);
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

int play(const settings& chosen, const redis_tests::server_program& program) {
    const redis_tests::private_server server{{.program = program}};
    redis::library_side scripts{server.at().path, chosen.library};
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
