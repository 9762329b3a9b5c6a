// What the scripts cost inside of a real server, as paired ratios to `cad`, the compare-and-delete script that ends the
// classic lock: microseconds of the server's own accounts (INFO commandstats), so that neither socket nor client
// counts. Exits 1 if a target is missed.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/cad.hpp"
#include "private_server.hpp"
#include "ratios.hpp"
#include "server_line.hpp"
#include "stores/redis/script_reply.hpp"

namespace baton::bench {
namespace {

using namespace protocol;
using redis::server_line;

constexpr std::size_t plays = 400;     // a round; fewer overstate the cost
constexpr std::size_t sessions = 400;  // that play in turn, so that each holds one thing

std::string name_of(std::size_t index) {
    std::string digits = std::to_string(index);
    return "resource/" + std::string(11 - digits.size(), '0') + digits;
}

void require(bool as_expected, const std::string& what) {
    if (as_expected) return;
    std::fprintf(stderr, "the scene is not what it should be: %s\n", what.c_str());
    std::exit(1);
}

class scene {
public:
    explicit scene(const redis_tests::server_program& program)
        : server_{{.program = program}}, line_{server_.at().path} {
        for (const redis::script_text& script : redis::all_scripts())
            line_.ask({"SCRIPT", "LOAD", std::string{script.text}});
        cad_digest_ = line_.ask({"SCRIPT", "LOAD", std::string{cad}}).text;
        std::string out;
        encode(out, redis::hello_call("bench", {std::chrono::hours{1}, {}, false}));
        line_.send(out);
        const auto answer = redis::decode_answer(line_.answer().text, {});
        require(answer.has_value(), "hello is answered");
        lineage_ = answer->head.lineage;
        for (std::size_t i = 0; i < sessions; ++i) open(i);
        play_all();
        // Names and keys beside those that are played, so that tables neither grow nor shrink while they are.
        std::string others;
        for (std::size_t i = 0; i < 2'000; ++i) {
            enter(0, {name_of(1'000'000 + i)});
            server_line::encode(others, {"SET", name_of(i + plays), "v"});
        }
        play_all();
        line_.send(others);
        for (std::size_t i = 0; i < 2'000; ++i) (void)line_.answer();
    }

    // Each puts a command on the list.
    void open(std::size_t session) {
        add(protocol::open{id_of(session), std::chrono::hours{1}, "host.example/job:123", 1, 0, {}});
    }
    void enter(std::size_t session, const std::vector<std::string>& names) {
        std::vector<claim> claims;
        for (const std::string& name : names) claims.push_back({name, claim_mode::exclusive, 0, 0});
        entered_.emplace_back(session, ++number_);
        add(protocol::enter{{id_of(session), number_}, std::move(claims), {}});
    }
    void renew(std::size_t session) { add(protocol::renew{id_of(session)}); }
    /// Of everything that was entered since the last time, oldest first.
    void leave(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            add(protocol::leave{{id_of(entered_[i].first), entered_[i].second}, manner::clean});
        entered_.erase(entered_.begin(), entered_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    void forget_entered() { entered_.clear(); }

    /// Plays the list; what one command cost the server, in ns.
    double cost() {
        line_.ask({"CONFIG", "RESETSTAT"});
        play_all();
        const std::string stats = line_.ask({"INFO", "commandstats"}).text;
        const std::size_t at = stats.find("cmdstat_evalsha:");
        const auto field = [&](const char* name) {
            return std::stod(stats.substr(stats.find(name, at) + std::string_view{name}.size()));
        };
        return 1'000 * field("usec=") / field("calls=");
    }
    /// All is what it should be: each answer has this letter behind its head.
    void expect(char letter) { expected_ = letter; }

    void play_all() {
        line_.send(out_);
        for (; count_ > 0; --count_) {
            const resp::value answer = line_.answer();
            require(answer.kind == resp::kind::bulk || answer.kind == resp::kind::number, answer.text);
            if (expected_ != '\0') require(answer.text.size() > 64 && answer.text[64] == expected_, answer.text);
        }
        out_.clear();
        expected_ = '\0';
    }

    double cad_cost() {
        std::string keys;
        for (std::size_t i = 0; i < plays; ++i) server_line::encode(keys, {"SET", name_of(i), "v"});
        line_.send(keys);
        for (std::size_t i = 0; i < plays; ++i) (void)line_.answer();
        for (std::size_t i = 0; i < plays; ++i) {
            server_line::encode(out_, {"EVALSHA", cad_digest_, "1", name_of(i), "v"});
            ++count_;
        }
        return cost();
    }

    double used_memory() {
        const std::string info = line_.ask({"INFO", "memory"}).text;
        return std::stod(info.substr(info.find("used_memory:") + 12));
    }

private:
    static session_id id_of(std::size_t session) { return {0x9e3779b97f4a7c15ULL * (session + 1), ~session}; }
    void add(const command& command) {
        encode(out_, redis::call_of("bench", lineage_, command));
        ++count_;
    }

    redis_tests::private_server server_;
    server_line line_;
    std::string cad_digest_;
    lineage lineage_ = 0;
    std::uint64_t number_ = 0;
    std::vector<std::pair<std::size_t, std::uint64_t>> entered_;
    std::string out_;
    std::size_t count_ = 0;
    char expected_ = '\0';
};

void enter_round(scene& scene, std::size_t claims) {
    for (std::size_t i = 0; i < plays; ++i) {
        std::vector<std::string> names;
        for (std::size_t claim = 0; claim < claims; ++claim) names.push_back(name_of(i * claims + claim));
        scene.enter(i % sessions, names);
    }
    scene.expect('g');
}

void show(scene& scene, const std::string& what, double target, const std::function<double()>& subject) {
    compare(
        what.c_str(), [&] { return scene.cad_cost(); }, subject, target);
}

void show_uncontended(scene& scene, std::size_t claims, double enter_target, double leave_target) {
    const std::string which = claims == 1 ? "" : " of " + std::to_string(claims) + " claims";
    show(scene, "enter" + which, enter_target, [&] {
        enter_round(scene, claims);
        const double cost = scene.cost();
        scene.leave(plays);
        scene.play_all();
        return cost;
    });
    show(scene, "leave" + which, leave_target, [&] {
        enter_round(scene, claims);
        scene.play_all();
        scene.leave(plays);
        scene.expect('e');
        return scene.cost();
    });
}

void show_contended(scene& scene) {
    const auto fill = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) scene.enter(i % sessions, {"contended"});
    };
    compare(
        "enter behind others", [&] { return scene.cad_cost(); },
        [&] {
            fill(1);
            scene.play_all();
            fill(plays);
            scene.expect('q');
            const double cost = scene.cost();
            scene.leave(plays + 1);
            scene.play_all();
            return cost;
        },
        {});
    show(scene, "leave with a hand-off", 5.5, [&] {
        fill(plays + 1);
        scene.play_all();
        scene.leave(plays);
        const double cost = scene.cost();
        scene.leave(1);
        scene.play_all();
        return cost;
    });
}

void show_renewals(scene& scene) {
    const auto renew_all = [&] {
        for (std::size_t i = 0; i < plays; ++i) scene.renew(1 + i % (sessions - 1));
        scene.expect('a');
        return scene.cost();
    };
    show(scene, "renew, nothing held", 2.5, renew_all);
    for (std::size_t i = 0; i < sessions; ++i) scene.enter(i, {name_of(i)});
    scene.play_all();
    compare("renew, one lock held", [&] { return scene.cad_cost(); }, renew_all, {});
    scene.leave(sessions);
    scene.play_all();
}

void show_memory(scene& scene) {
    constexpr std::size_t waiters = 20'000;
    const auto report = [&](const char* what, double bytes, double target) {
        std::printf("%-52s %8.0f bytes, target %.0f", what, bytes, target);
        verdict(bytes, target);
    };
    double before = scene.used_memory();
    for (std::size_t i = 0; i < waiters; ++i) {
        scene.open(sessions + i);
        scene.enter(sessions + i, {"crowded"});
    }
    scene.play_all();
    report("one of 20,000 waiters, with a session each", (scene.used_memory() - before) / waiters, 500);
    before = scene.used_memory();
    for (std::size_t i = 0; i < waiters; ++i) scene.enter(sessions + i, {"crowded"});
    scene.play_all();
    report("a further wait of the same session", (scene.used_memory() - before) / waiters, 200);
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** arguments) {
    using namespace baton::bench;
    const auto program = baton::redis_tests::find_server(count > 1 ? arguments[1] : "");
    if (!program) {
        std::puts("no server to measure: Debian's redis-tools contains one");
        return 0;
    }
    scene scene{*program};
    scene.forget_entered();
    print_head("microseconds of the server, floor: cad");
    show_uncontended(scene, 1, 4, 2.3);
    show_contended(scene);
    show_uncontended(scene, 4, 7, 4.5);
    show_renewals(scene);
    show_memory(scene);
    return failed ? 1 : 0;
}
