#include "scene.hpp"

#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "../redis/replication.hpp"

namespace baton::state_loss {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// Longer than twice the interval at which the library checks the server's role, so that the result is cached.
constexpr milliseconds max_ttl{3'000};
constexpr milliseconds lag{300};
/// Clients retry after at most 1.5 s.
constexpr milliseconds longest_backoff{1'700};

}  // namespace

std::string scene::url_at(const endpoint& where, const std::string& more) {
    return "unix:" + where.path + "?max_ttl=" + std::to_string(max_ttl.count()) +
           "ms&lag=" + std::to_string(lag.count()) + "ms" + more;
}

scene::scene(dice& dice, scene_options options)
    : dice_{dice},
      options_{std::move(options)},
      layout_{dice.percent(50) ? layout::replicas : layout::strangers},
      keeps_data_{dice.percent(30)},
      fleet_{{.url = {}, .ttl = dice.percent(50) ? 600ms : 1'000ms}},
      tail_{fleet_.log()} {
    redis_tests::server_options settings = redis_tests::replicating();
    settings.program = options_.program;
    settings.keeps_data = keeps_data_;
    settings.settings.insert(settings.settings.end(), {"--repl-backlog-ttl", "1", "--repl-timeout", "5"});
    for (std::size_t i = 0; i < 2; ++i) {
        servers_[i] = std::make_unique<private_server>(settings);
        links_[i] = std::make_unique<proxy>(servers_[i]->tcp(), endpoint{std::uint16_t{0}});
    }
    follow_again();
    start_processes();
    say(layout_ == layout::replicas ? "a primary and its replica" : "two independent servers");
    if (!goes_on(30)) throw std::runtime_error{"no process was granted a name at the beginning"};
    remember_state();
}

/// At each site: a process that holds the contended name for 800 ms, so that it nearly always has a holder; two that
/// take turns with all kinds of claims; and one with a name of its own, which shows when the server grants again.
void scene::start_processes() {
    const bool two_versions = dice_.percent(30);
    for (std::size_t site = 0; site < sites; ++site) {
        const endpoint at = place_.path("site" + std::to_string(site));
        sites_.push_back(std::make_unique<proxy>(primary().at(), at));
        const auto add = [&](milliseconds hold, std::vector<std::string> requests) {
            const bool next_version = two_versions && site % 2 == 1;
            const std::string who = fleet_.add_varied({.url = url_at(at),
                                                       .program = next_version ? BATON_NEXT_HAMMER : BATON_HAMMER,
                                                       .hold = hold,
                                                       .requests = std::move(requests)});
            site_of_[who] = site;
        };
        add(800ms, {"exclusive:a"});
        add(20ms, {"exclusive:b", "shared:b", "exclusive:b+permits:p:1/2"});
        add(20ms, {"permits:p:1/2", "exclusive:b", "permits:p:2/2"});
        add(5ms, {"exclusive:q" + std::to_string(site)});
    }
}

void scene::say(const std::string& what) const {
    if (options_.trace) std::cerr << history::now() / 1ms % 1'000'000 << " ms: " << what << std::endl;
}

bool scene::goes_on(std::size_t more, milliseconds limit) {
    const std::size_t before = tail_.grants();
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (tail_.grants() < before + more) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(5ms);  // a poll, with a deadline
    }
    return true;
}

void scene::pass_time(std::size_t least_ms, std::size_t most_ms) {
    std::this_thread::sleep_for(milliseconds{dice_.between(least_ms, most_ms)});  // part of the sequence, no wait
}

void scene::play(const event_kind& kind) {
    say(kind.name);
    events_.push_back({&kind, history::now()});
    (this->*kind.play)();
    reconnect_all();
}

history::verdict scene::end() {
    reconnect_all();
    say("the end");
    const history::verdict verdict = fleet_.finish({.grants = 60, .processes = 12, .handoffs = 4}, 15s);
    say("judged");
    return verdict;
}

// Steps of events.

/// Copies the primary's keys and files, for events that restore them later.
void scene::remember_state() {
    // A script, so that all keys are of one moment.
    const resp::value found = primary().ask({"EVAL", R"(local found = {}
        for _, key in ipairs(redis.call('KEYS', 'baton:*')) do
            found[#found + 1] = key
            found[#found + 1] = redis.call('DUMP', key)
        end
        return found)",
                                             "0"});
    older_keys_.clear();
    for (const resp::value& word : found.items) older_keys_.push_back(word.text);
    primary().copy_aside("older");
    older_server_ = primary_;
}

/// With replicas: the other server follows the primary again.
void scene::follow_again() {
    if (layout_ != layout::replicas) return;
    links_[primary_]->cut({});
    if (!redis_tests::follow(other(), links_[primary_]->at())) throw std::runtime_error{"the replica gets no data"};
}

/// From now on, writes of the primary are not replicated.
void scene::freeze_replication() {
    if (!redis_tests::catches_up(primary(), other())) throw std::runtime_error{"the replica does not catch up"};
    links_[primary_]->set({.drop_replies = true});
    pass_time(20, 600);
}

void scene::lead_all_to(const private_server& server) {
    std::vector<proxy*> order;
    for (const auto& site : sites_)
        order.insert(order.begin() + static_cast<long>(dice_.below(order.size() + 1)), site.get());
    for (proxy* site : order) {
        site->move_to(server.at());
        pass_time(0, lag.count() / sites / 2);
    }
}

void scene::cut_off_a_holder() {
    if (dice_.percent(30)) return;
    const history::record record = fleet_.so_far();
    const auto holds = [](const history::request& request) {
        return request.granted && request.open() && request.claims.front().resource == "a";
    };
    const auto found = std::ranges::find_if(record.requests, holds);
    if (found == record.requests.end()) return;
    say(found->who + " is cut off");
    cut_off(site_of_.at(found->who));
}

void scene::cut_off(std::size_t site) {
    sites_[site]->cut({.refuse = true});
    any_cut_off_ = true;
}

void scene::reconnect_all() {
    if (!std::exchange(any_cut_off_, false)) return;
    pass_time(0, 900);
    for (const auto& site : sites_) site->set({});
    reconnected_ = history::now();
}

void scene::let_all_come_back() const {
    std::this_thread::sleep_for(reconnected_ + longest_backoff - history::now());  // part of the sequence, no wait
}

}  // namespace baton::state_loss
