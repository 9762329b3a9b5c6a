// The events of a scene.
#include <stdexcept>

#include "../redis/replication.hpp"
#include "baton/baton.hpp"
#include "scene.hpp"

namespace baton::state_loss {

using namespace std::chrono_literals;

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
    std::vector<std::string> words{
        "EVAL", R"(for _, key in ipairs(redis.call('KEYS', 'baton:*')) do redis.call('UNLINK', key) end
        for i = 1, #ARGV, 2 do redis.call('RESTORE', ARGV[i], '0', ARGV[i + 1]) end)",
        "0"};
    words.insert(words.end(), older_keys_.begin(), older_keys_.end());
    const resp::value answer = primary().ask(words);
    if (answer.kind == resp::kind::error) throw std::runtime_error{"cannot restore the older keys: " + answer.text};
}

/// Database 1 has no space or an earlier state of the space.
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

/// A client with other settings in its address connects to the server before all other clients.
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
    // Otherwise the old primary could have commands that the new primary does not have.
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

// Events without loss.

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
