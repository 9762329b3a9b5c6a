// Measures the time of Baton's calls inside a real server. The floor is `cad`, the compare-and-delete script that
// releases the classic lock; the floor of a bare `leave` is a script of the same Redis commands without any rules.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/parts/parts.hpp"
#include "bench/parts/redis_space.hpp"
#include "bench/scene.hpp"

namespace baton::bench {
namespace {

using namespace protocol;

constexpr std::size_t plays = 400;     // per round; fewer overstate the cost
constexpr std::size_t sessions = 400;  // call in turn, so that each holds one request

/// The Redis commands of `leave` for the only claimant of one exclusive name (src/stores/redis/lua/verbs/leave.lua,
/// form X). The benchmark checks that they are the same commands, so a change of the layout must change them here.
/// `bare_leave_words` has the ARGV.
constexpr std::string_view bare_leave = R"lua(
local call, key = redis.call, KEYS[1]
call('TIME')
call('HMGET', key, '', ARGV[1], ARGV[2])
call('HGET', key, ARGV[3])
call('HDEL', key, ARGV[3], ARGV[2])
return call('HSET', key, ARGV[1], ARGV[4])
)lua";

/// `record` is the session's record without the request.
std::vector<std::string> bare_leave_words(const std::string& digest, const request_id& request, const std::string& name,
                                          const std::string& record) {
    const std::string session = redis::to_bytes(request.session);
    std::string number = std::to_string(request.number);
    number.insert(0, 16 - number.size(), '0');
    return {"EVALSHA",  digest, "1", redis::prefix_of(redis_space::name) + "m", "x" + session, "x" + session + number,
            "n" + name, record};
}

/// Requests that are entered and released again, and the floors.
class scene {
public:
    scene(const std::string& server, bench::report& report,
          const redis::function_library& library = redis::server_library())
        : report_{report}, space_{server, library} {
        cad_digest_ = load(cad);
        bare_leave_digest_ = load(bare_leave);
        constexpr std::size_t other = 1'000'000;  // sessions and names that do not change
        for (std::size_t i = 0; i < sessions; ++i) {
            open(i);
            open(other + i);
        }
        space_.run();
        // Further names and keys, so that the server's tables neither grow nor shrink during the measurement.
        for (std::size_t i = 0; i < 2'000; ++i) {
            enter(other + i % sessions, exclusive(name_of(other + i)));
            space_.add_words({"SET", name_of(i + plays), "v"});
        }
        space_.run();
        entered_.clear();
        for (std::size_t i = 0; i < sessions; ++i)
            records_.push_back(
                space_.connection()
                    .call({"HGET", redis::prefix_of(redis_space::name) + "m", "x" + redis::to_bytes(id_of(i))})
                    .text);
    }

    [[nodiscard]] bench::report& report() { return report_; }
    [[nodiscard]] redis_space& space() { return space_; }

    // Each adds a call to the batch.
    void open(std::size_t session) {
        space_.add(protocol::open{id_of(session), std::chrono::hours{1}, "host.example/job:123", 1, 0, {}});
    }
    void enter(std::size_t session, const claims& wanted, enter_options options = {}) {
        entered_.push_back({id_of(session), space_.next_number()});
        space_.add(protocol::enter{entered_.back(), wanted.list(), options});
    }
    /// Releases the entered requests, oldest first.
    void leave(std::size_t count) {
        for (const request_id& request : take(count)) space_.add(protocol::leave{request, release_kind::clean});
    }
    /// The same by the bare commands: each session holds the exclusive name of its index.
    void leave_bare(std::size_t count) {
        std::size_t place = 0;
        for (const request_id& request : take(count)) {
            space_.add_words(bare_leave_words(bare_leave_digest_, request, name_of(place), records_[place % sessions]));
            ++place;
        }
    }

    double cad_cost() {
        for (std::size_t i = 0; i < plays; ++i) space_.add_words({"SET", name_of(i), "v"});
        space_.run();
        for (std::size_t i = 0; i < plays; ++i) space_.add_words({"EVALSHA", cad_digest_, "1", name_of(i), "v"});
        return space_.run_timed();
    }

private:
    std::string load(std::string_view script) {
        return space_.connection().call({"SCRIPT", "LOAD", std::string{script}}).text;
    }
    std::vector<request_id> take(std::size_t count) {
        const auto end = entered_.begin() + static_cast<std::ptrdiff_t>(count);
        std::vector<request_id> taken{entered_.begin(), end};
        entered_.erase(entered_.begin(), end);
        return taken;
    }

    bench::report& report_;
    redis_space space_;
    std::string cad_digest_;
    std::string bare_leave_digest_;
    std::vector<std::string> records_;  // of the sessions before the measurement
    std::vector<request_id> entered_;
};

void compare_to_cad(scene& scene, const std::string& what, const std::function<double()>& subject) {
    scene.report().compare(
        what, [&] { return scene.cad_cost(); }, subject);
}

/// An uncontended request.
struct request_kind {
    const char* what;
    claims (*wanted)(std::size_t request);
    enter_options options = {};
};

void add_enters(scene& scene, const request_kind& kind) {
    for (std::size_t i = 0; i < plays; ++i) scene.enter(i % sessions, kind.wanted(i), kind.options);
}

double enter_cost(scene& scene, const request_kind& kind) {
    add_enters(scene, kind);
    const double cost = scene.space().run_timed('g');
    scene.leave(plays);
    scene.space().run('e');
    return cost;
}

double leave_cost(scene& scene, const request_kind& kind) {
    add_enters(scene, kind);
    scene.space().run('g');
    scene.leave(plays);
    return scene.space().run_timed('e');
}

void show_uncontended(scene& scene, const request_kind& kind) {
    compare_to_cad(scene, std::string{"enter, "} + kind.what, [&] { return enter_cost(scene, kind); });
    compare_to_cad(scene, std::string{"leave, "} + kind.what, [&] { return leave_cost(scene, kind); });
}

claims one(std::size_t i) { return exclusive(name_of(i)); }

constexpr std::array<request_kind, 7> kinds{{
    {"one exclusive", one},
    {"one shared", [](std::size_t i) { return shared(name_of(i)); }},
    {"one permit of 8",
     [](std::size_t i) {
         return permits(name_of(i), {1, 8});
     }},
    {"nowait", one, {.nowait = true}},
    {"with a hold limit", one, {.hold_limit = std::chrono::hours{1}}},
    {"exclusive, shared and permit",
     [](std::size_t i) {
         return exclusive(name_of(3 * i)) & shared(name_of(3 * i + 1)) & permits(name_of(3 * i + 2), {1, 8});
     }},
    {"four exclusive",
     [](std::size_t i) {
         return exclusive(name_of(4 * i), name_of(4 * i + 1), name_of(4 * i + 2), name_of(4 * i + 3));
     }},
}};

std::string text_of(const std::map<std::string, double>& commands) {
    std::string text;
    for (const auto& [command, calls] : commands) text += " " + command + " " + std::to_string(calls / plays);
    return text;
}

/// True if the commands are the same, except in calls in which a deadline happened to be due.
bool are_alike(const std::map<std::string, double>& some, const std::map<std::string, double>& others) {
    constexpr double tolerated = 0.05 * static_cast<double>(plays);
    const auto covers = [](const auto& all, const auto& part) {
        return std::ranges::all_of(part, [&](const auto& each) {
            const auto found = all.find(each.first);
            return std::abs(each.second - (found == all.end() ? 0 : found->second)) <= tolerated;
        });
    };
    return covers(some, others) && covers(others, some);
}

void show_bare_leave(scene& scene) {
    std::map<std::string, double> bare_commands;
    std::map<std::string, double> commands;
    const auto floor = [&] {
        add_enters(scene, kinds.front());
        scene.space().run('g');
        scene.leave_bare(plays);
        const double cost = scene.space().run_timed();
        bare_commands = scene.space().commands_inside();
        return cost;
    };
    const auto subject = [&] {
        const double cost = leave_cost(scene, kinds.front());
        commands = scene.space().commands_inside();
        require(are_alike(commands, bare_commands),
                "leave calls" + text_of(commands) + ", bare_leave calls" + text_of(bare_commands));
        return cost;
    };
    scene.report().compare("leave, one exclusive, bare", floor, subject);
}

void fill_queue(scene& scene, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) scene.enter(i % sessions, exclusive("contended"));
}

double queue_cost(scene& scene) {
    fill_queue(scene, 1);
    scene.space().run('g');
    fill_queue(scene, plays);
    const double cost = scene.space().run_timed('q');
    scene.leave(plays + 1);
    scene.space().run();
    return cost;
}

double hand_off_cost(scene& scene) {
    fill_queue(scene, plays + 1);
    scene.space().run();
    scene.leave(plays);
    const double cost = scene.space().run_timed();
    scene.leave(1);
    scene.space().run();
    return cost;
}

void show_contended(scene& scene) {
    compare_to_cad(scene, "enter behind others", [&] { return queue_cost(scene); });
    compare_to_cad(scene, "leave with a hand-off", [&] { return hand_off_cost(scene); });
}

double renew_cost(scene& scene) {
    for (std::size_t i = 0; i < plays; ++i) scene.space().add(renew{id_of(1 + i % (sessions - 1))});
    return scene.space().run_timed('a');
}

double tick_cost(scene& scene) {
    for (std::size_t i = 0; i < plays; ++i) scene.space().add(tick{});
    return scene.space().run_timed();
}

void show_renewals(scene& scene) {
    redis_space& space = scene.space();
    const auto renew_all = [&] { return renew_cost(scene); };
    compare_to_cad(scene, "renew, nothing held", renew_all);
    for (std::size_t i = 0; i < sessions; ++i) scene.enter(i, exclusive(name_of(i)));
    space.run('g');
    compare_to_cad(scene, "renew, one lock held", renew_all);
    scene.leave(sessions);
    space.run('e');
}

/// The same library without its short paths, under another name.
class long_library {
public:
    long_library() {
        const redis::function_library& whole = redis::server_library();
        text_ = whole.text;
        constexpr std::string_view on = "local short_paths = true";
        const std::size_t at = text_.find(on);
        require(at != std::string::npos, "the library has a switch for its short paths");
        text_.replace(at, on.size(), "local short_paths = false");
        for (std::size_t place = text_.find(whole.name); place != std::string::npos; place = text_.find(whole.name))
            text_.replace(place, whole.name.size(), name_);
    }
    [[nodiscard]] redis::function_library get() const { return {name_, text_}; }

private:
    std::string name_ = "baton_without_short";
    std::string text_;
};

void show_memory(scene& scene) {
    constexpr std::size_t waiters = 20'000;
    redis_space& space = scene.space();
    double before = space.used_memory();
    for (std::size_t i = 0; i < waiters; ++i) {
        scene.open(sessions + i);
        scene.enter(sessions + i, exclusive("crowded"));
    }
    space.run();
    scene.report().figure("one of 20,000 waiters, with a session each", (space.used_memory() - before) / waiters);
    before = space.used_memory();
    for (std::size_t i = 0; i < waiters; ++i) scene.enter(sessions + i, exclusive("crowded"));
    space.run();
    scene.report().figure("a further wait of the same session", (space.used_memory() - before) / waiters);
}

}  // namespace

void measure_redis_calls(report& report, const part_options& options) {
    scene scene{options.server, report};
    report.head("the server's time");
    for (const request_kind& kind : kinds) show_uncontended(scene, kind);
    show_bare_leave(scene);
    show_contended(scene);
    show_renewals(scene);
    show_memory(scene);
}

void measure_redis_short_paths(report& report, const part_options& options) {
    const long_library library;
    scene scene{options.server, report};
    class scene rules {
        options.server, report, library.get()
    };
    report.head("the server's time");
    const auto show = [&](const std::string& what, auto cost) {
        report.compare(
            "each", [&] { return cost(rules); }, [&] { return cost(scene); }, what);
    };
    for (const request_kind& kind : kinds) {
        show(std::string{"enter, "} + kind.what, [&](class scene& at) { return enter_cost(at, kind); });
        show(std::string{"leave, "} + kind.what, [&](class scene& at) { return leave_cost(at, kind); });
    }
    show("enter behind others", queue_cost);
    show("leave with a hand-off", hand_off_cost);
    show("renew", renew_cost);
    show("tick", tick_cost);
}

}  // namespace baton::bench
