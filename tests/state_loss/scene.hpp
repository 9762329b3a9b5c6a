// One sequence of random events: two servers, four sites with their own connections to the space, and four processes at
// each site that acquire and release names and record their beliefs. Events happen to the servers meanwhile.
//
// The scene keeps the assumptions of docs/redis.md: an old primary gets no commands later than `lag` after its
// successor began; the servers have one clock; and a server with old state meets clients of the newer server before
// other clients. So sites move within `lag`, no processes are added, and a site that was cut off is connected again,
// for longer than the longest back-off, before the address moves back.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../history/hammers.hpp"
#include "../redis/private_server.hpp"
#include "../redis/proxy.hpp"
#include "../sim/dice.hpp"
#include "log_tail.hpp"

namespace baton::state_loss {

using redis_tests::private_server;
using redis_tests::proxy;
using sim::dice;

class scene;

enum class layout : std::uint8_t {
    replicas,   // the second server follows the first
    strangers,  // the second server is empty or has its own state
    any,
};

struct event_kind {
    const char* name;
    layout where;
    bool may_pause;  // state may be lost; without this a pause is a fault
    void (scene::*play)();
};
[[nodiscard]] const std::vector<event_kind>& event_kinds();

/// An event with its time, by the clock of the histories.
struct happened {
    const event_kind* kind;
    history::moment at;
};

struct scene_options {
    redis_tests::server_program program;
    bool trace = false;
};

class scene {
public:
    static constexpr std::size_t sites = 4;
    static constexpr std::size_t processes_at_site = 4;

    scene(dice& dice, scene_options options);

    [[nodiscard]] layout servers_are() const { return layout_; }
    /// Waits until there are `more` grants. False: not in time.
    [[nodiscard]] bool goes_on(std::size_t more, std::chrono::milliseconds limit = long_enough);
    /// Waits for a random time.
    void pass_time(std::size_t least_ms, std::size_t most_ms);
    void play(const event_kind& kind);
    /// Reconnects all sites, ends all processes and judges their history.
    history::verdict end();

    [[nodiscard]] const std::vector<happened>& events() const { return events_; }
    [[nodiscard]] history::record record() const { return fleet_.so_far(); }
    [[nodiscard]] std::string log() const { return fleet_.log(); }

    // Data.
    void flushall();
    void flushdb();
    void restore_older_keys();
    void swap_databases();
    void debug_reload();
    // Restarts.
    void restart_with_data();
    void restart_without_data();
    void restart_with_older_data();
    void restart_and_meet_pause_off();
    void restart_and_meet_another_max_ttl();
    // Roles.
    void fail_over();
    void full_resynchronisation();
    void partial_resynchronisation();
    void unreachable_primary();
    // Addresses.
    void move_to_the_other();
    void move_there_and_back();
    // Events without loss.
    void back_up();
    void first_replica();
    void flush_functions();
    void replace_functions();

private:
    [[nodiscard]] private_server& primary() const { return *servers_[primary_]; }
    [[nodiscard]] private_server& other() const { return *servers_[1 - primary_]; }
    [[nodiscard]] static std::string url_at(const endpoint& where, const std::string& more = {});
    void say(const std::string& what) const;
    void start_processes();
    void remember_state();
    void follow_again();
    void freeze_replication();
    void lead_all_to(const private_server& server);
    /// Returns when the last site that was cut off has been connected for longer than the longest back-off.
    void let_all_come_back() const;
    /// Sometimes cuts off the site whose process holds the contended name: the process believes and cannot renew.
    void cut_off_a_holder();
    void cut_off(std::size_t site);
    void reconnect_all();
    void restart(bool keeps, bool older);
    void meet_stranger(const std::string& url);

    dice& dice_;
    scene_options options_;
    layout layout_;
    bool keeps_data_;
    std::array<std::unique_ptr<private_server>, 2> servers_;
    std::array<std::unique_ptr<proxy>, 2> links_;  // the other server replicates through this
    folder place_;
    std::vector<std::unique_ptr<proxy>> sites_;
    std::size_t primary_ = 0;
    std::vector<std::string> older_keys_;  // keys and dumps alternate
    std::size_t older_server_ = 2;         // the server of these keys and files; 2: none
    history::hammers fleet_;
    std::map<std::string, std::size_t> site_of_;  // by process
    log_tail tail_;
    std::vector<happened> events_;
    bool any_cut_off_ = false;
    history::moment reconnected_{};  // the last time that a site was connected again
};

}  // namespace baton::state_loss
