#include "bench/scenarios/play.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>

#include "bench/actors/interrupt.hpp"
#include "bench/actors/processors.hpp"
#include "bench/scenarios/scenarios.hpp"
#include "bench/table.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"
#include "json.hpp"
#include "version.hpp"

namespace baton::bench {
namespace {

using cli::exit_code;
using cli::failure;

class printer final : public audience {
public:
    void begin(const std::string& what) override {
        const bool redraws = isatty(STDERR_FILENO) == 1;
        std::fprintf(stderr, redraws ? "\r\033[Kbaton: %s" : "baton: %s\n", what.c_str());
        drawn_ = redraws;
    }
    void show(const result& result) override { results_.push_back(result); }
    void end() const {
        if (drawn_) std::fputs("\r\033[K", stderr);
    }
    [[nodiscard]] const std::vector<result>& results() const { return results_; }

private:
    std::vector<result> results_;
    bool drawn_ = false;
};

std::string machine() {
    utsname name{};
    uname(&name);
    std::ifstream info{"/proc/cpuinfo"};
    std::string model = name.machine;
    for (std::string line; std::getline(info, line);)
        if (line.starts_with("model name")) {
            model = line.substr(line.find(':') + 2);
            break;
        }
    return std::to_string(all_processors().size()) + " × " + model + ", Linux " + name.release;
}

/// Each line is a name and the command line that starts the peer.
std::vector<cast> read_peers(const std::string& path) {
    std::ifstream file{path};
    if (!file)
        throw failure{exit_code::usage, "--peers " + path + ": cannot be read; bench/peers/list writes such a file"};
    std::vector<cast> peers;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words{line};
        cast peer;
        words >> peer.subject;
        for (std::string word; words >> word;) peer.words.push_back(word);
        if (peer.words.empty()) throw failure{exit_code::usage, "--peers: each line must be a name and a command line"};
        peers.push_back(std::move(peer));
    }
    return peers;
}

bool chosen(const std::vector<std::string>& list, const std::string& name) {
    return list.empty() || std::ranges::find(list, name) != list.end();
}

/// Pins all processes to one processor, so that the figures measure work and not sleep; or the server to its own.
void place(const stage& stage, bool apart) {
    const auto processors = all_processors();
    const std::size_t last = processors.back();
    if (apart && processors.size() > 1)
        play_on({processors.begin(), processors.end() - 1});
    else
        play_on({last});
    if (stage.server() != 0) play_on({last}, stage.server());
}

class programme {
public:
    programme(const play_options& options, audience& audience)
        : options_{options}, plan_{options.quick ? plan::quick_one() : plan{}}, audience_{audience} {}

    void play(stage& stage, const std::vector<cast>& peers) {
        const cast ours;
        const std::map<std::string, std::function<void()>> all{
            {"cycle", [&] { cycle(stage, plan_, audience_); }},
            {"throughput", [&] { throughput(stage, plan_, audience_); }},
            {"handoff", [&] { handoff(stage, ours, plan_, audience_); }},
            {"drain",
             [&] {
                 drain(stage, plan_, audience_);
                 if (!peers.empty()) drain_processes(stage, ours, plan_, audience_);
             }},
            {"crash", [&] { crash(stage, plan_, audience_); }},
            {"multi", [&] { multi(stage, ours, plan_, audience_); }},
            {"semaphore", [&] { semaphore(stage, ours, plan_, audience_); }},
            {"scale", [&] { scale(stage, plan_, audience_); }}};
        for (const std::string& name : scenario_names) {
            if (!chosen(options_.scenarios, name)) continue;
            place(stage, name == "throughput");
            attempt(stage, "baton", name, all.at(name));
            for (const cast& peer : peers) play_peer(stage, peer, name);
        }
    }

private:
    /// A hundred processes of Baton fit into a machine, but not those of peers that need a runtime or a virtual machine
    /// each.
    [[nodiscard]] plan plan_for(const cast& peer) const {
        const std::size_t most = peer.subject.starts_with("redisson") ? 8 : 32;
        plan smaller = plan_;
        std::erase_if(smaller.processes, [most](std::size_t size) { return size > most; });
        smaller.warm_up = std::max(plan_.warm_up, std::chrono::milliseconds{1'000});  // for just-in-time compilers
        return smaller;
    }

    /// Records a failure in the results; the other scenarios continue.
    void attempt(const stage& stage, const std::string& subject, const std::string& scenario,
                 const std::function<void()>& play) {
        try {
            play();
        } catch (const std::exception& failed) {
            result shown{.scenario = scenario, .store = stage.name(), .subject = subject};
            shown.note = std::string{"failed: "} + failed.what();
            audience_.show(shown);
        }
    }

    /// The name of a peer identifies its library.
    void play_peer(stage& stage, const cast& peer, const std::string& scenario) {
        const plan plan = plan_for(peer);
        const bool permits = peer.subject.find("permits") != std::string::npos;
        const bool several = peer.subject.find("multi") != std::string::npos;
        attempt(stage, peer.subject, scenario, [&] {
            if (scenario == "semaphore" && permits) return semaphore(stage, peer, plan, audience_);
            if (permits) return;
            if (scenario == "multi" && (several || peer.subject == "redlock"))
                return multi(stage, peer, plan, audience_);
            if (several) return;
            if (scenario == "handoff") return handoff(stage, peer, plan, audience_);
            if (scenario == "drain") return drain_processes(stage, peer, plan, audience_);
        });
    }

    const play_options& options_;
    const plan plan_;
    audience& audience_;
};

void write_json(const std::string& path, const std::string& text) {
    if (path == "-") {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return;
    }
    std::ofstream file{path, std::ios::binary};
    file << text;
    if (!file.flush()) throw failure{exit_code::internal, "--json " + path + ": cannot be written"};
}

}  // namespace

int play_scenarios(const play_options& options) {
    prepare_for_interrupts();
    printer printer;
    programme programme{options, printer};
    if (!options.peers.empty() && !options.url.empty())
        throw failure{exit_code::usage,
                      "--peers and --url: peers play on a server of their own, as their keys have no space"};
    std::vector<cast> peers = options.peers.empty() ? std::vector<cast>{} : read_peers(options.peers);
    if (!options.json.empty() && options.json != "-")
        write_json(options.json, "");  // report a file that cannot be written before measuring
    setting setting{
        std::string{cli::version}, cli::time_text(std::chrono::system_clock::now()), machine(), {}, options.quick};
    // Child processes inherit the processor.
    play_on({all_processors().back()});
    const auto play_on_stage = [&](std::unique_ptr<stage> stage, const std::vector<cast>& with) {
        setting.stores.push_back(stage->described());
        programme.play(*stage, with);
    };
    // Report missing stores before measuring.
    std::string warning;
    std::unique_ptr<stage> redis;
    if (chosen(options.stores, "redis")) {
        redis = options.url.empty() ? private_redis_stage() : redis_stage(options.url, warning);
        if (!redis && !options.stores.empty())
            throw failure{exit_code::unreachable,
                          "no redis-server or valkey-server is installed here; --url names one elsewhere, and Debian's "
                          "redis-tools contains one"};
        if (!redis) warning = "skipping redis: redis-server is not installed; select another server with --url";
        if (!warning.empty()) std::fprintf(stderr, "baton: %s\n", warning.c_str());
    }
    if (chosen(options.stores, "memory")) play_on_stage(memory_stage(), {});
    if (chosen(options.stores, "local")) play_on_stage(local_stage(), {});
    if (redis) {
        for (cast& peer : peers) peer.words.push_back(*redis->redis_url());
        play_on_stage(std::move(redis), peers);
    }
    printer.end();
    const bool only_json = options.json == "-";
    if (!only_json) {
        std::printf("baton %s, %s\n%s\n", setting.version.c_str(), setting.date.c_str(), setting.machine.c_str());
        for (const std::string& store : setting.stores) std::printf("%s\n", store.c_str());
        std::printf("\n%s", table_of(printer.results()).c_str());
    }
    if (!options.json.empty()) write_json(options.json, json_of(setting, printer.results()));
    const bool missed = std::ranges::any_of(printer.results(), [](const result& each) {
        return each.ratio && each.target && each.ratio->median > *each.target;
    });
    return options.gate && missed ? number(exit_code::no) : number(exit_code::ok);
}

}  // namespace baton::bench
