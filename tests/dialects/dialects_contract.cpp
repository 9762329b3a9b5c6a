// Runs the contract suite on each dialect, with the capabilities of its protocol. A space is an empty database of one
// private server, and the locks of dead clients expire after 2 s.
#include "../redis/private_server.hpp"
#include "baton/contract/suite.hpp"
#include "baton/dialects.hpp"

namespace {

using namespace std::chrono_literals;

std::string fresh_database() {
    static const baton::redis_tests::private_server server{{.settings = {"--databases", "1000"}}};
    static int used = 0;
    return server.url() + "?db=" + std::to_string(++used);
}

bool add(const std::string& name, const std::string& options, const baton::contract::capabilities& can) {
    baton::register_dialects();
    return baton::contract::add({
        .name = name,
        .fresh_space =
            [options] {
                const std::string url = fresh_database() + "&dialect=" + options;
                return [url] { return baton::make_store(url); };
            },
        .can = can,
        .ttl = 2s,
        .late = 2s,
    });
}

/// The protocols have locks and queues, and neither sessions nor operators.
constexpr baton::contract::capabilities mutex{.shared = false,
                                              .permits = false,
                                              .several_names = false,
                                              .kept_sessions = false,
                                              .kept_positions = false,
                                              .slots = false,
                                              .abandoned_marks = false,
                                              .one_by_one = false,
                                              .queue_bound = false,
                                              .revoke = false,
                                              .resize = false,
                                              .labels = false,
                                              .pause = false,
                                              .chosen_ttl = false,
                                              .expiring_waiters = false};

constexpr baton::contract::capabilities semaphore = [] {
    auto can = mutex;
    can.permits = true;
    can.several_permits = false;
    return can;
}();

const bool added = add("amphp", "amphp&lock_expiration=2s", mutex) && add("redturn", "redturn&timeout=2s", mutex) &&
                   add("adv_sem", "adv-sem&heartbeat_max_interval=2s", semaphore);

}  // namespace
