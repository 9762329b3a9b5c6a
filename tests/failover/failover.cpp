// failover plays failovers of one kind under load: two in each run, during holds, waits and releases. It judges the
// histories of the clients, and measures the time without grants. A run is determined by its seed, but servers and
// processes are real, so histories differ. A file remembers the runs that passed, so that a long campaign can be
// continued. Exit codes: 0 all sound; 1 a run is not sound; 64 usage error; 69 no server.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../eventually.hpp"
#include "../history/hammers.hpp"
#include "../history/recorded_client.hpp"
#include "../redis/private_server.hpp"
#include "worlds.hpp"

namespace {

using namespace baton;
using namespace baton::failover;
using namespace std::chrono_literals;

constexpr int exit_failed = 1;
constexpr int exit_usage = 64;
constexpr int exit_unavailable = 69;
constexpr std::string_view usage =
    "usage: failover --kind sentinel|cluster|planned|cluster-planned [--runs N] [--seed S] [--jobs J]\n"
    "                [--servers redis|valkey|both] [--valkey PATH] [--passed FILE] [--logs FOLDER] [--pause off]\n"
    "Plays the runs of the seeds S, S+1, … S+N-1 (default 1 from 1), J at a time (default 1), with two failovers "
    "each.\n"
    "With both servers they alternate. FILE remembers the runs that passed; they are counted and not played again.\n"
    "--logs keeps the history of each run that is not sound. --pause off expects that the judge finds two holders.\n";

struct settings {
    const failover::kind* kind = nullptr;
    std::uint64_t runs = 1;
    std::uint64_t seed = 1;
    std::uint64_t jobs = 1;
    std::string servers = "redis";
    std::string valkey;
    std::string passed;
    std::string logs;
    bool pauses = true;
};

/// What a run shows, as a line of text between processes and in the file of runs that passed.
struct outcome {
    std::size_t grants = 0;
    std::size_t losses = 0;
    std::size_t max_ttl_ms = 0;
    std::vector<long> gaps_ms;   // by failover: the longest time without a grant to the clients that are led
    std::vector<long> since_ms;  // by failover: from the promotion to the next grant
    std::vector<std::string> broken;
};

std::ostream& operator<<(std::ostream& out, const outcome& outcome) {
    out << outcome.grants << ' ' << outcome.losses << ' ' << outcome.max_ttl_ms;
    for (std::size_t i = 0; i < outcome.gaps_ms.size(); ++i)
        out << ' ' << outcome.gaps_ms[i] << ' ' << outcome.since_ms[i];
    return out;
}

outcome read_outcome(std::istream& in) {
    outcome found;
    long gap = 0;
    long since = 0;
    in >> found.grants >> found.losses >> found.max_ttl_ms;
    while (in >> gap >> since) {
        found.gaps_ms.push_back(gap);
        found.since_ms.push_back(since);
    }
    return found;
}

/// The processes at one address: one that holds the contended name for long, so that it nearly always has a holder; two
/// with other claims; and one with a name of its own, which shows when the server grants.
void add_processes(history::hammers& fleet, const std::string& url, const std::string& own,
                   std::chrono::milliseconds hold) {
    fleet.add_varied({.url = url, .hold = hold, .requests = {"exclusive:a"}});
    fleet.add_varied({.url = url, .hold = 20ms, .requests = {"exclusive:b", "shared:b", "exclusive:b+permits:p:1/2"}});
    fleet.add_varied({.url = url, .hold = 5ms, .requests = {"exclusive:" + own}});
}
constexpr std::array<std::string_view, 3> led{"w1", "w2", "w3"};

bool is_led(const history::request& request) {
    return request.granted && std::ranges::find(led, request.who) != led.end();
}

/// Waits until the led clients were granted a number of names after that moment.
bool goes_on(const history::hammers& fleet, history::moment since, long more) {
    return eventually(
        [&] {
            const history::record record = fleet.so_far();
            const auto is_new = [&](const history::request& each) { return is_led(each) && each.begin > since; };
            std::this_thread::sleep_for(20ms);  // limits the load of reading
            return std::ranges::count_if(record.requests, is_new) >= more;
        },
        40s);
}

void measure(const history::record& record, const times& at, history::moment until, outcome& result) {
    std::vector<history::moment> grants;
    for (const history::request& request : record.requests)
        if (is_led(request)) grants.push_back(request.begin);
    std::ranges::sort(grants);
    history::moment longest{0};
    history::moment last = at.begun;
    for (const history::moment grant : grants) {
        if (grant < at.begun || grant > until) continue;
        longest = std::max(longest, grant - last);
        last = grant;
    }
    const auto next = std::ranges::upper_bound(grants, at.promoted);
    result.gaps_ms.push_back(longest / 1ms);
    result.since_ms.push_back(next == grants.end() ? -1 : (*next - at.promoted) / 1ms);
}

/// A client that is granted "x" by the old primary when replication is frozen, so that the new one does not know of it;
/// it believes as long as its lease lasts. Another one, which is led to the new primary, wants "x" from then on.
class lost_grant {
public:
    lost_grant(const std::string& log, const world& world, std::chrono::milliseconds ttl)
        : holder_log_{log, "holder"},
          next_log_{log, "next"},
          holder_{holder_log_, world.isolated_url(), {.ttl = ttl, .label = "holder", .close_wait = 0s}},
          next_{next_log_, world.url(), {.ttl = ttl, .label = "next", .close_wait = 0s}} {}

    /// Both are connected.
    void begin() {
        static_cast<void>(holder_.acquire(exclusive("y"), {.wait = long_enough}));
        static_cast<void>(next_.acquire(exclusive("y"), {.wait = long_enough}));
    }
    void happen() {
        auto held = holder_.acquire(exclusive("x"), {.wait = 300ms});
        if (!held) return;  // the old primary has noticed already that it is alone
        // Ends before the next failover.
        believer_ = std::jthread{[held = std::move(held)](const std::stop_token& stop) {
            while (held->believes() && !stop.stop_requested()) std::this_thread::sleep_for(1ms);
        }};
        heir_ = std::jthread{[this] { static_cast<void>(next_.acquire(exclusive("x"), {.wait = 30s})); }};
    }
    void end() {
        heir_ = {};
        believer_ = {};
    }

private:
    history::recorder holder_log_;
    history::recorder next_log_;
    history::recorded_client holder_;
    history::recorded_client next_;
    std::jthread believer_;
    std::jthread heir_;
};

outcome play(const settings& chosen, std::uint64_t seed, const std::string& server) {
    sim::dice dice{seed};
    const failover::kind& kind = *chosen.kind;
    // Half of the runs have leases that outlast the promotion, so that only the pause protects them.
    const bool is_long = !kind.planned && (dice.percent(50) || !chosen.pauses);
    const std::chrono::milliseconds max_ttl = !chosen.pauses ? 6s : is_long ? 3s : kind.max_ttl;
    const std::string options = "?max_ttl=" + std::to_string(max_ttl.count()) +
                                "ms&lag=" + std::to_string(kind.lag.count()) + "ms" +
                                (chosen.pauses ? "" : "&pause=off");
    const auto world = kind.make(dice, options);
    history::hammers fleet{{.url = world->url(), .ttl = is_long ? max_ttl : kind.ttl}};
    add_processes(fleet, world->url(), "led", 250ms);
    add_processes(fleet, world->isolated_url(), "isolated", 250ms);
    lost_grant lost{fleet.log(), *world, max_ttl};
    if (!kind.planned) lost.begin();
    std::vector<times> failovers;
    std::vector<history::moment> ends;
    outcome result;
    history::moment since{0};
    for (int round = 0; round < 2; ++round) {
        if (!goes_on(fleet, since, 10)) throw std::runtime_error{"the clients are granted nothing"};
        std::this_thread::sleep_for(std::chrono::milliseconds{dice.below(500)});  // part of the sequence, no wait
        failovers.push_back(world->fail_over(dice, [&] { lost.happen(); }));
        since = failovers.back().promoted;
        world->heal();
        if (chosen.pauses && !goes_on(fleet, since, 5))
            throw std::runtime_error{"the clients are granted nothing after the failover"};
        ends.push_back(history::now());
        lost.end();
    }
    world->settle();
    history::verdict verdict = fleet.finish({.grants = 40, .processes = 6, .handoffs = 2}, 20s);
    // The clients of the lost grant may find no server in time.
    std::erase_if(verdict.found, [](const history::contradiction& each) {
        const auto is_of = [&](const char* who) { return each.first.text.find(who) != std::string::npos; };
        return each.rule == history::rule::served && (is_of(" holder ") || is_of(" next "));
    });
    const history::record record = fleet.so_far();
    for (std::size_t i = 0; i < failovers.size(); ++i) measure(record, failovers[i], ends[i], result);
    result.max_ttl_ms = static_cast<std::size_t>(max_ttl.count());
    result.grants = verdict.seen.grants;
    result.losses = verdict.seen.losses;
    for (const history::rule rule : verdict.broken()) result.broken.emplace_back(to_string(rule));
    if (!verdict.sound()) {
        std::cout << verdict.report() << std::flush;
        if (!chosen.logs.empty()) {
            std::filesystem::create_directories(chosen.logs);
            std::filesystem::copy_file(
                fleet.log(), chosen.logs + "/" + kind.name + "-" + std::to_string(seed) + "-" + server + ".log",
                std::filesystem::copy_options::overwrite_existing);
        }
    }
    return result;
}

[[noreturn]] void fail(int code, const std::string& message) {
    std::cerr << "failover: " << message << '\n';
    if (code == exit_usage) std::cerr << usage;
    std::exit(code);
}

std::uint64_t number_in(std::string_view option, std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        fail(exit_usage, std::string{option} + " takes a number, not '" + std::string{text} + "'");
    return value;
}

settings parse(int count, char** arguments) {
    settings chosen;
    for (int index = 1; index < count; ++index) {
        const std::string_view option = arguments[index];
        const auto text = [&]() -> std::string {
            if (++index == count) fail(exit_usage, std::string{option} + " takes a value");
            return arguments[index];
        };
        if (option == "--kind")
            chosen.kind = find_kind(text());
        else if (option == "--runs")
            chosen.runs = number_in(option, text());
        else if (option == "--seed")
            chosen.seed = number_in(option, text());
        else if (option == "--jobs")
            chosen.jobs = number_in(option, text());
        else if (option == "--servers")
            chosen.servers = text();
        else if (option == "--valkey")
            chosen.valkey = text();
        else if (option == "--passed")
            chosen.passed = text();
        else if (option == "--logs")
            chosen.logs = text();
        else if (option == "--pause" && text() == "off")
            chosen.pauses = false;
        else if (option == "--help" || option == "-h")
            std::cout << usage, std::exit(0);
        else
            fail(exit_usage, "unknown option '" + std::string{option} + "'");
    }
    if (chosen.kind == nullptr) fail(exit_usage, "--kind takes sentinel, cluster, planned or cluster-planned");
    if (chosen.servers != "redis" && chosen.servers != "valkey" && chosen.servers != "both")
        fail(exit_usage, "--servers takes redis, valkey or both");
    if (chosen.servers != "redis" && chosen.valkey.empty()) fail(exit_usage, "--servers valkey needs --valkey PATH");
    if (chosen.jobs < 1 || chosen.jobs > 16) fail(exit_usage, "--jobs takes a number from 1 to 16");
    if (!redis_tests::find_server()) fail(exit_unavailable, redis_tests::no_server);
    return chosen;
}

class campaign {
public:
    explicit campaign(settings chosen) : chosen_{std::move(chosen)} {}

    bool run() {
        read_passed();
        for (std::uint64_t seed = chosen_.seed; seed < chosen_.seed + chosen_.runs; ++seed) {
            if (outcomes_.contains(name_of(seed))) continue;
            while (running_.size() >= chosen_.jobs) receive();
            if (!chosen_.pauses && violations_ > 0) break;  // it has shown what it should
            start(seed);
        }
        while (!running_.empty()) receive();
        print_table();
        if (!chosen_.pauses) return violations_ > 0;
        return violations_ == 0 && crashes_ == 0;
    }

private:
    struct job {
        std::uint64_t seed = 0;
        int pipe = -1;
        std::string received = {};
    };

    [[nodiscard]] std::string server_of(std::uint64_t seed) const {
        if (chosen_.servers != "both") return chosen_.servers;
        return seed % 2 == 0 ? "valkey" : "redis";
    }
    [[nodiscard]] std::string name_of(std::uint64_t seed) const {
        return std::string{chosen_.kind->name} + " " + std::to_string(seed) + " " + server_of(seed);
    }
    void read_passed() {
        std::ifstream file{chosen_.passed};
        for (std::string line; std::getline(file, line);) {
            std::istringstream words{line};
            std::string kind;
            std::string seed;
            std::string server;
            words >> kind >> seed >> server;
            std::uint64_t number = 0;
            std::from_chars(seed.data(), seed.data() + seed.size(), number);
            if (kind == chosen_.kind->name && number >= chosen_.seed && number < chosen_.seed + chosen_.runs)
                outcomes_[kind + " " + seed + " " + server] = read_outcome(words);
        }
    }

    void start(std::uint64_t seed) {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(exit_failed, "cannot create a pipe");
        const pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            if (server_of(seed) == "valkey") setenv("BATON_REDIS_SERVER", chosen_.valkey.c_str(), 1);
            std::ostringstream text;
            try {
                const outcome result = play(chosen_, seed, server_of(seed));
                text << (result.broken.empty() ? "passed" : "broken");
                for (const std::string& rule : result.broken) text << ',' << rule;
                text << ' ' << result;
            } catch (const std::exception& error) {
                text << "crashed " << error.what();
            }
            const std::string all = text.str();
            _exit(write(ends[1], all.data(), all.size()) == static_cast<ssize_t>(all.size()) ? 0 : 1);
        }
        close(ends[1]);
        running_[child] = {seed, ends[0]};
    }

    /// Waits for the end of a run.
    void receive() {
        const pid_t child = wait(nullptr);
        if (child < 0) fail(exit_failed, "cannot wait for a run");
        const auto found = running_.find(child);
        if (found == running_.end()) return;
        const job job = found->second;
        running_.erase(found);
        std::array<char, 4096> buffer{};
        const ssize_t size = read(job.pipe, buffer.data(), buffer.size());  // shorter than the pipe
        close(job.pipe);
        take(job.seed, std::string{buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))});
    }

    void take(std::uint64_t seed, const std::string& text) {
        const std::string name = name_of(seed);
        std::cout << name << ": " << (text.empty() ? "crashed" : text) << std::endl;
        if (!text.starts_with("passed ")) {
            text.starts_with("broken") ? ++violations_ : ++crashes_;
            return;
        }
        std::istringstream words{text.substr(7)};
        outcomes_[name] = read_outcome(words);
        if (!chosen_.passed.empty())
            std::ofstream{chosen_.passed, std::ios::app} << name << ' ' << text.substr(7) << '\n';
    }

    static void print_row(const char* what, std::vector<long> values) {
        if (values.empty()) return;
        std::ranges::sort(values);
        const auto at = [&](std::size_t percent) { return values[(values.size() - 1) * percent / 100]; };
        std::cout << std::left << std::setw(34) << what << std::right << std::setw(7) << values.size() << std::setw(9)
                  << values.front() << std::setw(9) << at(50) << std::setw(9) << at(90) << std::setw(9) << at(99)
                  << std::setw(9) << values.back() << '\n';
    }
    void print_table() const {
        struct row {
            std::vector<long> gaps;
            std::vector<long> since;
        };
        std::map<std::size_t, row> rows;  // by max_ttl
        std::size_t failovers = 0;
        std::size_t grants = 0;
        std::size_t losses = 0;
        for (const auto& [name, each] : outcomes_) {
            row& row = rows[each.max_ttl_ms];
            row.gaps.insert(row.gaps.end(), each.gaps_ms.begin(), each.gaps_ms.end());
            row.since.insert(row.since.end(), each.since_ms.begin(), each.since_ms.end());
            failovers += each.gaps_ms.size();
            grants += each.grants;
            losses += each.losses;
        }
        std::cout << "\nfailover: " << chosen_.kind->name << ", " << outcomes_.size() << " of " << chosen_.runs
                  << " runs passed, " << failovers << " failovers, " << violations_ << " runs not sound, " << crashes_
                  << " not played, " << grants << " grants, " << losses << " leases lost\n"
                  << std::left << std::setw(34) << "ms" << std::right << std::setw(7) << "times" << std::setw(9)
                  << "least" << std::setw(9) << "median" << std::setw(9) << "90 %" << std::setw(9) << "99 %"
                  << std::setw(9) << "longest\n";
        for (const auto& [max_ttl, row] : rows) {
            std::cout << "max_ttl " << max_ttl << ", lag " << chosen_.kind->lag.count() << '\n';
            print_row("  longest time without a grant", row.gaps);
            print_row("  from the promotion to a grant", row.since);
        }
        std::cout << std::flush;
    }

    const settings chosen_;
    std::map<std::string, outcome> outcomes_;
    std::map<pid_t, job> running_;
    std::size_t violations_ = 0;
    std::size_t crashes_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
    campaign campaign{parse(count, arguments)};
    return campaign.run() ? 0 : exit_failed;
}
