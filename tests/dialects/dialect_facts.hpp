// What differs between the dialects in the tests that they share: options, keys, and the commands of other programs on
// these keys.
#pragma once

#include <algorithm>
#include <chrono>
#include <ostream>
#include <string>
#include <vector>

namespace baton::dialect_tests {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

/// A variant of the protocol that a whole fleet has to use, with the options of our clients and of two kinds of peers.
/// Nothing expires during a test.
struct wire_form {
    const char* ours;
    words peer;
    words other_peer;
};

struct dialect_facts {
    const char* name;
    /// Options of our clients and of peers with which nothing expires during a test.
    const char* long_lived;
    words long_lived_peer;
    /// Options with which the lock of a dead holder, or of a waiter that died before its grant, expires after 1 s or
    /// less.
    const char* mortal;
    words mortal_peer;
    /// Options with which a lease lives for at least 10 s, and is renewed every 50 ms, or every 1 s.
    const char* often_renewed;
    const char* renewed;
    std::vector<wire_form> forms;
    /// The option of `acquire` that makes a peer time out soon; empty if its program waits for ever.
    std::string gives_up = {};
    /// The prefixes of the keys of a name: of its holder, and of its waiters in order.
    std::string holder_key = {};
    std::string queue_key = {};
    bool holder_is_in_the_queue = false;
    const char* read_queue;
    /// Commands that read the holder, make another client the holder, and give the key another type.
    words (*read_holder)(const std::string& key);
    words (*occupy)(const std::string& key);
    words (*spoil)(const std::string& key);
    bool tells_abandoned = true;
    /// The longest poll interval of a waiter with the options `long_lived`.
    std::chrono::milliseconds recheck_interval;
    /// How long four hand-offs between our clients and peers may take.
    std::chrono::milliseconds four_hand_overs{4'000};
    /// How long 1,000 hand-offs within one client may take.
    std::chrono::seconds thousand{10};

    friend void PrintTo(const dialect_facts& each, std::ostream* out) { *out << each.name; }
};

/// The name of the other client.
inline const std::string stranger = "stranger";

inline const std::vector<dialect_facts> each_dialect{
    {.name = "amphp",
     .long_lived = "&lock_expiration=60s&lock_timeout=3600s",
     .long_lived_peer = {"--expiry-ms", "60000"},
     .mortal = "&lock_expiration=500ms&lock_renew_interval=100ms",
     .mortal_peer = {"--expiry-ms", "500", "--renew-ms", "100"},
     .often_renewed = "&lock_expiration=10s&lock_renew_interval=50ms",
     .renewed = "&lock_expiration=10s",
     .forms = {{"&lock_expiration=60s", {"--expiry-ms", "60000"}, {"--expiry-ms", "60000"}}},
     .gives_up = " wait=200",
     .holder_key = "lock:",
     .queue_key = "lock-queue:",
     .read_queue = "LRANGE",
     .read_holder =
         [](const std::string& key) {
             return words{"GET", key};
         },
     .occupy =
         [](const std::string& key) {
             return words{"SET", key, stranger};
         },
     .spoil =
         [](const std::string& key) {
             return words{"RPUSH", key, "no lock"};
         },
     .tells_abandoned = false,
     .recheck_interval = 305ms},
    {.name = "redturn",
     .long_lived = "&timeout=60s",
     .long_lived_peer = {"--timeout-ms", "60000"},
     .mortal = "&timeout=500ms",
     .mortal_peer = {"--timeout-ms", "60000"},
     .often_renewed = "&timeout=10s&refresh_interval=50ms",
     .renewed = "&timeout=10s&refresh_interval=1s",
     .forms = {{"&timeout=60s&notices=new",
                {"--notices", "new", "--timeout-ms", "60000"},
                {"--notices", "new", "--timeout-ms", "60000", "--arguments", "erlang"}},
               {"&timeout=60s&notices=old",
                {"--notices", "old", "--timeout-ms", "60000"},
                {"--notices", "old", "--timeout-ms", "60000", "--arguments", "erlang"}}},
     .holder_is_in_the_queue = true,
     .read_queue = "LRANGE",
     .read_holder =
         [](const std::string& key) {
             return words{"LINDEX", key, "0"};
         },
     .occupy =
         [](const std::string& key) {
             return words{"RPUSH", key, "id:" + stranger + ":600000"};
         },
     .spoil =
         [](const std::string& key) {
             return words{"SET", key, "no queue"};
         },
     .recheck_interval = 1s,
     .four_hand_overs = 900ms},
    {.name = "adv-sem",
     .long_lived = "&ping_interval=500ms",
     .long_lived_peer = {},
     .mortal = "&heartbeat_max_interval=1s&ping_interval=100ms",
     .mortal_peer = {"--heartbeat", "1", "--ping", "0.1"},
     .often_renewed = "&ping_interval=50ms",
     .renewed = "&ping_interval=1s",
     .forms = {{"", {}, {}}},
     .gives_up = " wait=0.05",
     .holder_key = "adv-sem:semaphore_main:",
     .queue_key = "adv-sem:semaphore_waiting:",
     .read_queue = "ZRANGE",
     .read_holder =
         [](const std::string& key) {
             return words{"ZRANGE", key, "0", "0"};
         },
     .occupy =
         [](const std::string& key) {
             return words{"ZADD", key, "99999999999", stranger};
         },
     .spoil =
         [](const std::string& key) {
             return words{"SET", key, "no set"};
         },
     .recheck_interval = 500ms,
     .thousand = 15s},
};

/// For the names of tests.
[[nodiscard]] inline std::string test_name(std::string dialect) {
    std::ranges::replace(dialect, '-', '_');
    return dialect;
}

}  // namespace baton::dialect_tests
