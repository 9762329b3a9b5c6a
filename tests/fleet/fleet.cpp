// fleet plays schedules of clients with the real session machine and servers with the real engine over a bad network:
// world.hpp has the faults, judge.hpp the promises. A failure prints the seed that replays it.
// Exit codes: 0 all promises kept; 1 a promise broken, or required coverage not reached; 64 usage error.
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../command_options.hpp"
#include "world.hpp"

namespace {

using namespace baton::fleet;
using baton::command_options;

constexpr int exit_failed = 1;
constexpr std::string_view usage =
    "usage: fleet [--schedules N] [--seed S] [--jobs J] [--stats] [--require-coverage]\n"
    "       fleet --replay SEED [--trace]\n"
    "       fleet --without PROTECTION [--schedules N] [--must-break TEXT]\n"
    "Plays N schedules (default 200) with the seeds S, S+1, … (default 1), in J threads (default 2).\n"
    "PROTECTION: pause, long-pause, suspend-clock, ended-ids, witness or knowledge. With --must-break the "
    "run succeeds if a promise breaks whose report contains TEXT.\n";

/// The coverage that --require-coverage requires.
constexpr std::array expected{
    "lost: expired",
    "lost: hold limit",
    "lost: revoked",
    "lost: the process was paused",
    "lost: closed",
    "ended: superseded",
    "ended: expired",
    "ended: gone",
    "cut",
    "outage",
    "machine asleep",
    "process paused",
    "kill",
    "close",
    "open of a session that had closed",
    "open of a session that had expired",
    "revoke",
    "list",
    "revocation repeated by a renewal",
    "in place: forgets everything",
    "in place: forgets its last commands",
    "crash: forgets everything",
    "crash: forgets its last commands",
    "failover: forgets everything",
    "failover: forgets its last commands",
    "role changes under open connections",
    "the address moves to an empty server",
    "the address moves back",
    "a server noticed that its memory was replaced",
    "a client knew more than the server",
};

struct settings {
    std::uint64_t schedules = 200;
    std::uint64_t seed = 1;
    std::uint64_t jobs = 2;
    std::optional<std::uint64_t> replay;
    bool stats = false;
    bool require_coverage = false;
    std::optional<std::string> must_break;
    run_options run;
};

void remove(removed& without, std::string_view protection, const command_options& options) {
    if (protection == "pause")
        without.pause = true;
    else if (protection == "long-pause")
        without.long_pause = true;
    else if (protection == "suspend-clock")
        without.suspend_clock = true;
    else if (protection == "ended-ids")
        without.ended_ids = true;
    else if (protection == "witness")
        without.witness = true;
    else if (protection == "knowledge")
        without.knowledge = true;
    else
        options.fail("unknown protection '" + std::string{protection} + "'");
}

settings parse(int count, char** arguments) {
    command_options options{count, arguments, "fleet", usage};
    settings chosen;
    while (const auto option = options.next()) {
        if (option == "--schedules")
            chosen.schedules = options.number();
        else if (option == "--seed")
            chosen.seed = options.number();
        else if (option == "--jobs")
            chosen.jobs = options.number(1, 256);
        else if (option == "--replay")
            chosen.replay = options.number();
        else if (option == "--without")
            remove(chosen.run.without, options.text(), options);
        else if (option == "--must-break")
            chosen.must_break = options.text();
        else if (option == "--stats")
            chosen.stats = true;
        else if (option == "--require-coverage")
            chosen.require_coverage = true;
        else if (option == "--trace")
            chosen.run.trace = &std::cout;
        else
            options.unknown();
    }
    if (chosen.run.trace != nullptr && !chosen.replay) options.fail("--trace needs --replay");
    return chosen;
}

/// The seed that this thread plays. If an assertion ends the process, `name_the_seed` prints it.
thread_local std::uint64_t playing = 0;

extern "C" void name_the_seed(int) {
    std::array<char, 64> connection{"\nreplay: fleet --replay "};
    char* end = connection.data() + std::string_view{connection.data()}.size();
    end = std::to_chars(end, connection.data() + connection.size() - 1, playing).ptr;
    *end++ = '\n';
    (void)!::write(STDERR_FILENO, connection.data(), static_cast<std::size_t>(end - connection.data()));
}

class campaign {
public:
    explicit campaign(const settings& chosen) : chosen_{chosen} {}

    bool run() {
        const auto started = std::chrono::steady_clock::now();
        std::vector<std::thread> threads;
        for (std::uint64_t job = 0; job < chosen_.jobs; ++job) threads.emplace_back([this] { work(); });
        for (std::thread& thread : threads) thread.join();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
        if (chosen_.stats)
            for (const auto& [what, count] : seen_) std::cout << count << '\t' << what << '\n';
        std::cout << played_ << " schedules in " << took.count() << " s with " << chosen_.jobs << " threads"
                  << std::endl;
        if (chosen_.must_break) return failed_;
        return !failed_ && (!chosen_.require_coverage || covered());
    }

private:
    void work() {
        coverage seen;
        for (std::uint64_t drawn = next_++; drawn < chosen_.schedules && !failed_; drawn = next_++) {
            playing = chosen_.seed + drawn;
            const auto broken = play_seed(playing, chosen_.run, seen);
            ++played_;
            if (!broken || !is_wanted(*broken) || failed_.exchange(true)) continue;
            std::cout << "seed " << playing << ", at " << *broken << "\nreplay: fleet --replay " << playing
                      << " --trace" << std::endl;
        }
        const std::lock_guard guard{mutex_};
        for (const auto& [what, count] : seen) seen_[what] += count;
    }

    /// Without a protection several promises may break; --must-break selects one.
    [[nodiscard]] bool is_wanted(const std::string& broken) const {
        return !chosen_.must_break || broken.find(*chosen_.must_break) != std::string::npos;
    }

    [[nodiscard]] bool covered() const {
        bool all = true;
        for (const char* what : expected)
            if (!seen_.contains(what)) std::cout << "never reached: " << what << '\n', all = false;
        return all;
    }

    const settings& chosen_;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<std::uint64_t> played_{0};
    std::atomic<bool> failed_{false};
    std::mutex mutex_;
    coverage seen_;
};

int replay(const settings& chosen) {
    coverage seen;
    playing = *chosen.replay;
    const auto broken = play_seed(playing, chosen.run, seen);
    std::cout << "seed " << playing << (broken ? ", at " + *broken : ": all promises kept") << std::endl;
    return broken ? exit_failed : 0;
}

}  // namespace

int main(int count, char** arguments) {
    const settings chosen = parse(count, arguments);
    std::signal(SIGABRT, name_the_seed);
    if (chosen.replay) return replay(chosen);
    return campaign{chosen}.run() ? 0 : exit_failed;
}
