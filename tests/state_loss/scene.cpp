#include "scene.hpp"

#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "../redis/replication.hpp"
#include "baton/baton.hpp"

namespace baton::state_loss {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds max_ttl{1'000};
constexpr milliseconds lag{300};
/// A client tries again after at most 1.5 s.
constexpr milliseconds longest_backoff{1'700};

std::string url_at(const endpoint& where, const std::string& more = {}) {
    return "unix:" + where.path + "?max_ttl=" + std::to_string(max_ttl.count()) +
           "ms&lag=" + std::to_string(lag.count()) + "ms" + more;
}

}  // namespace

scene::scene(dice& dice, scene_options options)
    : dice_{dice},
      options_{std::move(options)},
      layout_{dice.percent(50) ? layout::replicas : layout::strangers},
      keeps_data_{dice.percent(30)},
      fleet_{{.url = {}, .ttl = dice.percent(50) ? 600ms : max_ttl}},
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
    say(layout_ == layout::replicas ? "a primary and its replica" : "two servers that do not know each other");
    if (!goes_on(30)) throw std::runtime_error{"nothing is granted at the beginning"};
    remember_state();
}

/// At each site: a process that holds the contended name for long, so that somebody believes in it whatever happens;
/// two that take turns with all kinds of claims; and one whose name nobody else wants, to see when anything is granted.
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
    history::verdict verdict = fleet_.finish({.grants = 60, .processes = 12, .handoffs = 4}, 15s);
    const history::record record = fleet_.so_far();
    std::erase_if(verdict.found, [&](const auto& found) { return is_excused(found, record); });
    say("judged");
    return verdict;
}

// Parts of events.

/// A copy of the primary's keys and files, for events that bring old ones back.
void scene::remember_state() {
    older_keys_.clear();
    for (const resp::value& key : primary().ask({"KEYS", "baton:*"}).items)
        if (const resp::value dump = primary().ask({"DUMP", key.text}); dump.kind == resp::kind::bulk)
            older_keys_[key.text] = dump.text;
    primary().copy_aside("older");
    older_server_ = primary_;
}

/// Where servers are replicas: the one that is not the primary follows it again, from wherever it was.
void scene::follow_again() {
    if (layout_ != layout::replicas) return;
    links_[primary_]->cut({});
    if (!redis_tests::follow(other(), links_[primary_]->at())) throw std::runtime_error{"the replica gets no data"};
}

/// From now on the primary is alone with what it writes.
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
    outages_.push_back({site, history::now()});
}

void scene::reconnect_all() {
    if (outages_.empty() || outages_.back().until != history::moment::max()) return;
    pass_time(0, 900);
    for (const auto& site : sites_) site->set({});
    reconnected_ = history::now();
    for (outage& outage : outages_) outage.until = std::min(outage.until, reconnected_);
}

bool scene::is_excused(const history::contradiction& found, const history::record& record) const {
    if (found.rule != history::rule::order) return false;
    const auto overtaken = std::ranges::find_if(record.requests, [&](const history::request& request) {
        return request.held_line.number == found.second.number;
    });
    if (overtaken == record.requests.end()) return false;
    const std::size_t site = site_of_.at(overtaken->who);
    return std::ranges::any_of(outages_, [&](const outage& outage) {
        return outage.site == site && outage.from < overtaken->begin &&
               outage.until + longest_backoff > overtaken->asked;
    });
}

void scene::let_all_come_back() const {
    std::this_thread::sleep_for(reconnected_ + longest_backoff - history::now());  // part of the sequence, no wait
}

// Data.

void scene::flushall() {
    cut_off_a_holder();
    static_cast<void>(primary().ask({"FLUSHALL"}));
}

void scene::flushdb() {
    cut_off_a_holder();
    static_cast<void>(primary().ask({"FLUSHDB"}));
}

void scene::restore_older_keys() {
    cut_off_a_holder();
    resp_client line{primary().at()};
    const auto keys = line.call({"KEYS", "baton:*"}).value().items;
    static_cast<void>(line.call({"MULTI"}));
    for (const resp::value& key : keys) static_cast<void>(line.call({"UNLINK", key.text}));
    for (const auto& [key, dump] : older_keys_) static_cast<void>(line.call({"RESTORE", key, "0", dump}));
    static_cast<void>(line.call({"EXEC"}));
}

/// The space in database 1 is none, or the one of an earlier time.
void scene::swap_databases() {
    cut_off_a_holder();
    static_cast<void>(primary().ask({"SWAPDB", "0", "1"}));
}

void scene::debug_reload() {
    cut_off_a_holder();
    static_cast<void>(primary().ask({"DEBUG", "RELOAD"}));
}

// Restarts.

void scene::restart(bool keeps, bool older) {
    primary().kill();
    if (!keeps) primary().forget();
    if (older && older_server_ == primary_) primary().put_back("older");
    primary().start();
    follow_again();
}

void scene::restart_with_data() {
    if (!keeps_data_) return restart_with_older_data();
    cut_off_a_holder();
    restart(true, false);
}

void scene::restart_without_data() {
    cut_off_a_holder();
    restart(false, false);
}

void scene::restart_with_older_data() {
    cut_off_a_holder();
    restart(false, true);
}

/// A client whose address has other terms comes to the server before all others do.
void scene::meet_stranger(const std::string& url) {
    for (std::size_t site = 0; site < sites; ++site) cut_off(site);
    restart(false, dice_.percent(50));
    client stranger{url, {.ttl = 200ms, .label = "stranger", .close_wait = 0s}};
    std::error_code ignored;
    stranger.connect(500ms, ignored);
}

void scene::restart_and_meet_pause_off() { meet_stranger(url_at(primary().at(), "&pause=off")); }
void scene::restart_and_meet_another_max_ttl() {
    meet_stranger("unix:" + primary().at().path + "?max_ttl=200ms&lag=0s");
}

// Roles.

void scene::fail_over() {
    freeze_replication();
    cut_off_a_holder();
    const bool dies = dice_.percent(50);
    if (dies) primary().kill();
    const bool promoted_first = dice_.percent(50);
    if (promoted_first) redis_tests::promote(other());
    lead_all_to(other());
    if (!promoted_first) redis_tests::promote(other());
    primary_ = 1 - primary_;
    pass_time(0, 1'000);
    if (dies) other().start();
    follow_again();
}

void scene::full_resynchronisation() {
    freeze_replication();
    cut_off_a_holder();
    redis_tests::promote(other());
    links_[1 - primary_]->cut({});
    static_cast<void>(redis_tests::follow(primary(), links_[1 - primary_]->at()));
    redis_tests::promote(primary());
    follow_again();
}

void scene::partial_resynchronisation() {
    cut_off_a_holder();
    // Without the last words of the primary, it would have more than its new primary.
    static_cast<void>(primary().ask({"CLIENT", "PAUSE", "1000", "WRITE"}));
    static_cast<void>(redis_tests::catches_up(primary(), other()));
    redis_tests::promote(other());
    links_[1 - primary_]->cut({});
    static_cast<void>(redis_tests::follow(primary(), links_[1 - primary_]->at()));
    static_cast<void>(primary().ask({"CLIENT", "UNPAUSE"}));
    pass_time(0, 300);
    redis_tests::promote(primary());
    follow_again();
}

void scene::unreachable_primary() {
    cut_off_a_holder();
    redis_tests::begin_to_follow(primary(), endpoint{std::uint16_t{1}});
    pass_time(0, 300);
    redis_tests::promote(primary());
    follow_again();
}

// Addresses.

void scene::move_to_the_other() {
    let_all_come_back();
    cut_off_a_holder();
    lead_all_to(other());
    primary_ = 1 - primary_;
}

void scene::move_there_and_back() {
    let_all_come_back();
    cut_off_a_holder();
    lead_all_to(other());
    reconnect_all();
    let_all_come_back();
    pass_time(0, 1'500);
    cut_off_a_holder();
    lead_all_to(primary());
}

// Nothing is lost.

void scene::back_up() {
    if (!redis_tests::back_up(primary(), place_.path("backup.rdb"))) throw std::runtime_error{"no backup"};
}

void scene::first_replica() {
    redis_tests::server_options settings = redis_tests::replicating();
    settings.program = options_.program;
    const private_server replica{settings};
    static_cast<void>(redis_tests::follow(replica, primary().tcp()));
    pass_time(0, 500);
}

void scene::flush_functions() { static_cast<void>(primary().ask({"FUNCTION", "FLUSH"})); }

void scene::replace_functions() {
    const std::string dump = primary().ask({"FUNCTION", "DUMP"}).text;
    static_cast<void>(primary().ask({"FUNCTION", "RESTORE", dump, dice_.percent(50) ? "REPLACE" : "FLUSH"}));
}

const std::vector<event_kind>& event_kinds() {
    static const std::vector<event_kind> all{
        {"flushall", layout::any, true, &scene::flushall},
        {"flushdb", layout::any, true, &scene::flushdb},
        {"restore-older-keys", layout::any, true, &scene::restore_older_keys},
        {"swapdb", layout::any, true, &scene::swap_databases},
        {"debug-reload", layout::any, false, &scene::debug_reload},
        {"restart-with-data", layout::any, true, &scene::restart_with_data},
        {"restart-without-data", layout::any, true, &scene::restart_without_data},
        {"restart-with-older-data", layout::any, true, &scene::restart_with_older_data},
        {"pause-off-first", layout::any, true, &scene::restart_and_meet_pause_off},
        {"other-max-ttl-first", layout::any, true, &scene::restart_and_meet_another_max_ttl},
        {"failover", layout::replicas, true, &scene::fail_over},
        {"full-resync", layout::replicas, true, &scene::full_resynchronisation},
        {"partial-resync", layout::replicas, true, &scene::partial_resynchronisation},
        {"unreachable-primary", layout::any, true, &scene::unreachable_primary},
        {"address-moves", layout::strangers, true, &scene::move_to_the_other},
        {"there-and-back", layout::strangers, true, &scene::move_there_and_back},
        {"backup", layout::any, false, &scene::back_up},
        {"first-replica", layout::any, false, &scene::first_replica},
        {"flush-functions", layout::any, false, &scene::flush_functions},
        {"replace-functions", layout::any, false, &scene::replace_functions},
    };
    return all;
}

}  // namespace baton::state_loss
