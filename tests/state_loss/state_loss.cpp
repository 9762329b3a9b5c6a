// state_loss plays random sequences of events after which a server may have lost state, with 16 client processes. It
// judges their histories and measures the times without grants. Several sequences run at the same time, each in its own
// process. Exit codes: 0 all sound; 1 a sequence is not sound; 64 usage error; 69 no server.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "../command_options.hpp"
#include "sequence.hpp"

namespace {

using namespace baton::state_loss;
using baton::command_options;
using std::chrono::steady_clock;

constexpr int exit_failed = 1;
constexpr int exit_unavailable = 69;
constexpr std::string_view usage =
    "usage: state_loss [--runs N] [--seed S] [--jobs J] [--servers redis|valkey|both] [--only EVENT,EVENT…]\n"
    "                  [--logs FOLDER] [--trace] [--fail-fast]\n"
    "Plays the sequences of the seeds S, S+1, … S+N-1 (default 300 from a random seed), J at a time\n"
    "(default 3). With both servers they alternate. --logs keeps the history of each sequence that is not\n"
    "sound in FOLDER. --trace prints events as they happen. --valkey PATH is the Valkey server. --fail-fast\n"
    "stops at the first sequence that is not sound.\n";

struct settings {
    std::uint64_t runs = 300;
    std::uint64_t seed = std::random_device{}() % 1'000'000'000U;
    std::uint64_t jobs = 3;
    std::string servers = "redis";
    std::string valkey;
    std::string logs;
    bool fail_fast = false;
    sequence_options sequence;
};

[[noreturn]] void fail(int code, const std::string& message) {
    std::cerr << "state_loss: " << message << '\n';
    std::exit(code);
}

std::vector<std::string> kinds_in(std::string_view text, const command_options& options) {
    std::vector<std::string> names;
    std::istringstream list{std::string{text}};
    for (std::string name; std::getline(list, name, ',');) {
        const auto is_it = [&](const event_kind& kind) { return kind.name == name; };
        if (std::ranges::none_of(event_kinds(), is_it)) {
            std::string known;
            for (const event_kind& kind : event_kinds()) known += std::string{" "} + kind.name;
            options.fail("unknown event '" + name + "'; known events:" + known);
        }
        names.push_back(name);
    }
    return names;
}

settings parse(int count, char** arguments) {
    command_options options{count, arguments, "state_loss", usage};
    settings chosen;
    while (const auto option = options.next()) {
        if (option == "--runs")
            chosen.runs = options.number();
        else if (option == "--seed")
            chosen.seed = options.number();
        else if (option == "--jobs")
            chosen.jobs = options.number(1, 64);
        else if (option == "--servers")
            chosen.servers = options.text();
        else if (option == "--valkey")
            chosen.valkey = options.text();
        else if (option == "--only")
            chosen.sequence.only = kinds_in(options.text(), options);
        else if (option == "--logs")
            chosen.logs = options.text();
        else if (option == "--trace")
            chosen.sequence.scene.trace = true;
        else if (option == "--fail-fast")
            chosen.fail_fast = true;
        else
            options.unknown();
    }
    if (chosen.servers != "redis" && chosen.servers != "valkey" && chosen.servers != "both")
        options.fail("--servers takes redis, valkey or both");
    return chosen;
}

volatile std::sig_atomic_t interrupted = 0;
extern "C" void interrupt(int) { interrupted = 1; }

class campaign {
public:
    explicit campaign(settings chosen) : chosen_{std::move(chosen)} {
        if (chosen_.servers != "valkey") add_server("redis", {});
        if (chosen_.servers != "redis") add_server("valkey", chosen_.valkey);
        if (!chosen_.logs.empty()) std::filesystem::create_directories(chosen_.logs);
    }

    bool run() {
        begun_ = steady_clock::now();
        while (!stops() || !running_.empty()) {
            while (!stops() && running_.size() < chosen_.jobs) start(chosen_.seed + started_++);
            receive();
            show_progress();
        }
        if (isatty(STDERR_FILENO) != 0) std::cerr << '\n';
        print_table();
        return violations_ == 0 && played_ == chosen_.runs;
    }

private:
    struct server {
        std::string name;
        baton::redis_tests::server_program program;
    };
    struct job {
        std::uint64_t seed;
        std::string server;
        pid_t process;
        int pipe;
        std::string received = {};
    };

    void add_server(const std::string& name, const std::string& path) {
        if (name == "valkey" && path.empty()) fail(exit_unavailable, "--servers valkey and both need --valkey PATH");
        const auto found = baton::redis_tests::find_server(path);
        if (!found) fail(exit_unavailable, baton::redis_tests::no_server);
        servers_.push_back({name, *found});
    }
    [[nodiscard]] bool stops() const {
        return started_ == chosen_.runs || interrupted != 0 || (chosen_.fail_fast && violations_ > 0);
    }

    void start(std::uint64_t seed) {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(exit_failed, "cannot create a pipe");
        const server& server = servers_[seed % servers_.size()];
        const pid_t child = fork();
        if (child == 0) {
            std::signal(SIGINT, SIG_DFL);
            close(ends[0]);
            _exit(play(seed, server, ends[1]));
        }
        close(ends[1]);
        running_.push_back({seed, server.name, child, ends[0]});
    }

    int play(std::uint64_t seed, const server& server, int pipe) const {
        sequence_options options = chosen_.sequence;
        options.scene.program = server.program;
        if (!chosen_.logs.empty())
            options.keep_log = chosen_.logs + "/" + std::to_string(seed) + "-" + server.name + ".log";
        sequence_result result;
        try {
            play_sequence(seed, options, result);
        } catch (const std::exception& error) {
            result.broken["crashed"] = 1;
            result.report = error.what();
        }
        const std::string text = to_text(result);
        return write(pipe, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1;
    }

    void receive() {
        std::vector<pollfd> ready;
        for (const job& job : running_) ready.push_back({job.pipe, POLLIN, 0});
        poll(ready.data(), ready.size(), 500);
        for (std::size_t i = ready.size(); i > 0; --i) {
            if ((ready[i - 1].revents & (POLLIN | POLLHUP)) == 0) continue;
            job& job = running_[i - 1];
            std::array<char, 65'536> buffer{};
            const ssize_t size = read(job.pipe, buffer.data(), buffer.size());
            if (size > 0) {
                job.received.append(buffer.data(), static_cast<std::size_t>(size));
                continue;
            }
            close(job.pipe);
            waitpid(job.process, nullptr, 0);
            if (interrupted == 0)
                take(job);
            else
                unfinished_.push_back(job.seed);
            running_.erase(running_.begin() + static_cast<long>(i - 1));
        }
    }

    void take(const job& job) {
        sequence_result result = from_text(job.received);
        if (job.received.empty()) result.broken["crashed"] = 1;
        ++played_;
        grants_ += result.grants;
        for (const auto& [event, gaps] : result.gaps_ms)
            gaps_[event].insert(gaps_[event].end(), gaps.begin(), gaps.end());
        for (const auto& [rule, times] : result.broken) ++sequences_breaking_[rule];
        if (result.sound()) return;
        ++violations_;
        if (isatty(STDERR_FILENO) != 0) std::cerr << "\r\033[K";
        std::cout << "seed " << job.seed << " on " << job.server << ":";
        for (const std::string& event : result.events) std::cout << ' ' << event;
        std::cout << '\n';
        std::istringstream report{result.report};
        for (std::string line; std::getline(report, line);) std::cout << "    " << line << '\n';
        std::cout << "replay: scripts/state-loss --runs 1 --trace --seed " << job.seed << " --servers " << job.server
                  << std::endl;
    }

    void show_progress() const {
        if (isatty(STDERR_FILENO) == 0) return;
        const auto took = std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - begun_).count();
        std::cerr << "\rstate-loss: " << played_ << " of " << chosen_.runs << " sequences from seed " << chosen_.seed
                  << ", " << grants_ << " grants, " << violations_ << " not sound, " << took << " s " << std::flush;
    }

    void print_table() {
        std::cout << "state-loss: " << played_ << " of " << chosen_.runs << " sequences from seed " << chosen_.seed
                  << " on " << chosen_.servers << ", " << grants_ << " grants, " << violations_ << " not sound";
        for (const auto& [rule, times] : sequences_breaking_) std::cout << ", " << rule << ' ' << times;
        std::cout << "\n\nlongest time without a grant, ms\n"
                  << std::left << std::setw(26) << "event" << std::setw(10) << "may pause" << std::right << std::setw(7)
                  << "times" << std::setw(9) << "median" << std::setw(9) << "90 %" << std::setw(9) << "longest\n";
        for (const event_kind& kind : event_kinds()) {
            std::vector<long>& gaps = gaps_[kind.name];
            if (gaps.empty()) continue;
            std::ranges::sort(gaps);
            std::cout << std::left << std::setw(26) << kind.name << std::setw(10) << (kind.may_pause ? "yes" : "no")
                      << std::right << std::setw(7) << gaps.size() << std::setw(9) << gaps[gaps.size() / 2]
                      << std::setw(9) << gaps[gaps.size() * 9 / 10] << std::setw(9) << gaps.back() << '\n';
        }
        if (played_ < chosen_.runs && interrupted != 0) {
            std::uint64_t next = chosen_.seed + started_;
            for (const std::uint64_t seed : unfinished_) next = std::min(next, seed);
            std::cout << "interrupted; continue with --seed " << next << " --runs "
                      << chosen_.seed + chosen_.runs - next << '\n';
        }
        std::cout << std::flush;
    }

    const settings chosen_;
    std::vector<server> servers_;
    std::vector<job> running_;
    std::vector<std::uint64_t> unfinished_;
    steady_clock::time_point begun_;
    std::uint64_t started_ = 0;
    std::uint64_t played_ = 0;
    std::uint64_t violations_ = 0;
    std::uint64_t grants_ = 0;
    std::map<std::string, std::vector<long>> gaps_;
    std::map<std::string, std::uint64_t> sequences_breaking_;
};

}  // namespace

int main(int count, char** arguments) {
    campaign campaign{parse(count, arguments)};
    std::signal(SIGINT, interrupt);
    return campaign.run() ? 0 : exit_failed;
}
