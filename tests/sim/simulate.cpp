// simulate plays random schedules against the engine and checks each step (see docs/rules.md). A failure prints a seed
// that replays it and the shortest list of steps found that still fails.
// Exit codes: 0 all agree; 1 a difference, or required coverage not reached; 64 usage error.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "../command_options.hpp"
#include "coverage.hpp"
#include "describe.hpp"
#include "isolate.hpp"
#include "kept_plans.hpp"
#include "run.hpp"
#include "shrink.hpp"

namespace {

using namespace baton::sim;
using baton::command_options;
using clock_type = std::chrono::steady_clock;

constexpr int exit_failed = 1;
constexpr std::string_view usage =
    "usage: simulate [--schedules N] [--steps N] [--seed S] [--jobs J] [--stats] [--require-coverage]\n"
    "       simulate --replay SEED [--steps N] [--trace]\n"
    "       simulate --self-test\n"
    "Plays random schedules against the engine and checks each step: N schedules (default 1000) with the seeds S, S+1, "
    "…\n"
    "(default 1), in J threads (default 2). --steps sets the number of steps of a schedule (default 300).\n";

struct settings {
    std::uint64_t schedules = 1'000;
    std::uint64_t seed = 1;
    std::uint64_t jobs = 2;
    std::optional<std::uint64_t> replay;
    bool stats = false;
    bool require_coverage = false;
    bool self_test = false;
    bool trace = false;
    run_options run;
};

settings parse(int count, char** arguments) {
    command_options options{count, arguments, "simulate", usage};
    settings chosen;
    while (const auto option = options.next()) {
        if (option == "--schedules")
            chosen.schedules = options.number();
        else if (option == "--steps")
            chosen.run.steps = options.number();
        else if (option == "--seed")
            chosen.seed = options.number();
        else if (option == "--jobs")
            chosen.jobs = options.number(1, 256);
        else if (option == "--replay")
            chosen.replay = options.number();
        else if (option == "--stats")
            chosen.stats = true;
        else if (option == "--require-coverage")
            chosen.require_coverage = true;
        else if (option == "--self-test")
            chosen.self_test = true;
        else if (option == "--trace")
            chosen.trace = true;
        else
            options.unknown();
    }
    if (chosen.trace && !chosen.replay) options.fail("--trace needs --replay");
    return chosen;
}

void report(std::uint64_t seed, plan& failing, const failure& found, const settings& chosen) {
    std::cout << "\nseed " << seed << " fails after step " << found.step << " (" << describe(failing.options)
              << "): " << found.what << "\n\nshrinking …" << std::flush;
    const failure least = shrink(failing, found, chosen.run);
    std::cout << " the smallest failing schedule has " << failing.steps.size() << " steps:\n";
    for (const step& step : failing.steps) std::cout << "  " << describe(step) << '\n';
    std::cout << "  => " << least.what << std::endl;
    // Played once more with its output: an assertion prints its text.
    (void)replay_apart(failing, chosen.run, child_output::shown);
    std::cout << "\nreplay: simulate --replay " << seed;
    if (chosen.run.steps != run_options{}.steps) std::cout << " --steps " << chosen.run.steps;
    std::cout << std::endl;
}

/// Distributes the seeds to the threads. `seeds` receives the seed that each thread works on.
class campaign {
public:
    campaign(const settings& chosen, std::span<std::uint64_t> seeds)
        : chosen_(chosen), seeds_(seeds), started_(clock_type::now()) {}

    /// True if nothing failed.
    bool run() {
        std::vector<std::thread> threads;
        for (std::uint64_t& seed : seeds_) threads.emplace_back([this, &seed] { work(seed); });
        show_progress();
        for (std::thread& thread : threads) thread.join();
        if (failed_) report(failed_seed_, failed_plan_, failure_, chosen_);
        return !failed_;
    }

    void summarise() const {
        const double seconds = std::chrono::duration<double>(clock_type::now() - started_).count();
        const std::uint64_t steps = steps_;
        std::cout << schedules_ << " schedules, " << steps << " steps in " << std::fixed << std::setprecision(1)
                  << seconds << " s with " << chosen_.jobs << " threads: " << std::setprecision(0)
                  << static_cast<double>(steps) / seconds << " steps/s" << std::endl;
    }

    [[nodiscard]] const coverage& seen() const { return seen_; }

private:
    void work(std::uint64_t& seed) {
        coverage seen;
        plan ran;
        for (std::uint64_t drawn = next_++; drawn < chosen_.schedules && !failed_; drawn = next_++) {
            seed = chosen_.seed + drawn;
            const auto found = run_seed(seed, chosen_.run, seen, ran);
            steps_ += ran.steps.size();
            ++schedules_;
            if (!found) continue;
            const std::lock_guard guard(mutex_);
            if (failed_.exchange(true)) break;
            failed_seed_ = seed;
            failed_plan_ = ran;
            failure_ = *found;
        }
        const std::lock_guard guard(mutex_);
        seen_.add(seen);
        ++finished_;
    }

    // On a terminal one line that is redrawn; elsewhere a line every 10 s.
    void show_progress() {
        const bool terminal = ::isatty(STDERR_FILENO) == 1;
        const auto interval = terminal ? std::chrono::milliseconds{500} : std::chrono::milliseconds{10'000};
        auto shown = started_;
        auto moved = started_;
        std::uint64_t before = 0;
        while (finished_ < chosen_.jobs) {
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
            const auto now = clock_type::now();
            const std::uint64_t done = schedules_;
            if (std::exchange(before, done) != done) moved = now;
            if (now - moved > timeout) std::abort();  // the parent process then finds out which seed hangs
            if (now - shown < interval || failed_) continue;
            shown = now;
            const double seconds = std::chrono::duration<double>(now - started_).count();
            std::cerr << (terminal ? "\r" : "") << "simulate: " << schedules_ << " of " << chosen_.schedules
                      << " schedules, " << static_cast<std::uint64_t>(static_cast<double>(steps_) / seconds)
                      << " steps/s" << (terminal ? "  " : "\n") << std::flush;
        }
        if (terminal && shown != started_) std::cerr << '\n';
    }

    const settings& chosen_;
    std::span<std::uint64_t> seeds_;
    clock_type::time_point started_;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<std::uint64_t> schedules_{0};
    std::atomic<std::uint64_t> steps_{0};
    std::atomic<std::uint64_t> finished_{0};
    std::atomic<bool> failed_{false};
    std::mutex mutex_;
    coverage seen_;
    std::uint64_t failed_seed_ = 0;
    plan failed_plan_;
    failure failure_;
};

int replay_seed(const settings& chosen) {
    plan ran;
    run_options options = chosen.run;
    if (chosen.trace) options.trace = &std::cout;
    const auto found = run_seed_apart(*chosen.replay, options, ran);
    if (!found) {
        std::cout << "seed " << *chosen.replay << " agrees in all " << ran.steps.size() << " steps\n";
        return 0;
    }
    report(*chosen.replay, ran, *found, chosen);
    return exit_failed;
}

// A model that expires sessions one microsecond early must be detected, and the schedule shrunk to a few steps.
int self_test(settings chosen) {
    chosen.run.model_early = baton::core::duration{1};
    constexpr std::uint64_t tries = 100;
    constexpr std::size_t few = 5;
    for (std::uint64_t seed = 1; seed <= tries; ++seed) {
        coverage seen;
        plan ran;
        const auto found = run_seed(seed, chosen.run, seen, ran);
        if (!found) continue;
        report(seed, ran, *found, chosen);
        if (ran.steps.size() <= few) return 0;
        std::cout << "self-test: the failing schedule did not shrink to " << few << " steps\n";
        return exit_failed;
    }
    std::cout << "self-test: the planted fault was not found in " << tries << " schedules\n";
    return exit_failed;
}

bool run_campaign(const settings& chosen, std::span<std::uint64_t> seeds) {
    campaign all(chosen, seeds);
    const bool agreed = all.run();
    if (chosen.stats) all.seen().print(std::cout);
    all.summarise();
    const auto missing = chosen.require_coverage && agreed ? all.seen().missing() : std::vector<std::string>{};
    for (const std::string& never : missing) std::cout << "never reached: " << never << '\n';
    return agreed && missing.empty();
}

/// False if engine and model differ on a fixed plan.
bool play_kept_plans(const settings& chosen) {
    for (const auto& [name, plan] : kept_plans()) {
        const auto found = replay(plan, chosen.run);
        if (!found) continue;
        std::cout << "the plan \"" << name << "\" fails after step " << found->step << ": " << found->what << std::endl;
        return false;
    }
    return true;
}

// Runs in a child: if an assertion or a sanitizer ends it, one of the seeds that it worked on is the cause.
int simulate(const settings& chosen) {
    if (!play_kept_plans(chosen)) return exit_failed;
    const shared_numbers seeds(chosen.jobs);
    const auto agreed = run_apart([&] { return run_campaign(chosen, seeds.all()); });
    if (agreed) return *agreed ? 0 : exit_failed;
    for (const std::uint64_t seed : seeds.all()) {
        plan ran;
        const auto found = run_seed_apart(seed, chosen.run, ran);
        if (!found) continue;
        report(seed, ran, *found, chosen);
        return exit_failed;
    }
    std::cout << "the engine died, and none of these seeds reproduces it:";
    for (const std::uint64_t seed : seeds.all()) std::cout << ' ' << seed;
    std::cout << std::endl;
    return exit_failed;
}

}  // namespace

int main(int count, char** arguments) {
    const settings chosen = parse(count, arguments);
    if (chosen.self_test) return self_test(chosen);
    if (chosen.replay) return replay_seed(chosen);
    return simulate(chosen);
}
