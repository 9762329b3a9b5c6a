// What differs between the dialects in tests that are the same for each: options, keys, and what a client that is not
// ours does to them.
#pragma once

#include <algorithm>
#include <chrono>
#include <ostream>
#include <string>
#include <vector>

namespace baton::dialect_tests {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

/// A way to write on the wire that a whole fleet has to agree on, with options of ours and of two kinds of peers.
/// Nothing ends by itself.
struct wire_form {
    const char* ours;
    words peer;
    words other_peer;
};

struct dialect_facts {
    const char* name;
    /// Options of ours and of theirs with which nothing ends by itself during a test.
    const char* long_lived;
    words long_lived_peer;
    /// Options with which a lock passes on soon after its holder, or the waiter that it was given to, died.
    const char* mortal;
    words mortal_peer;
    /// Options with which a lease lives for 10 s at least, and is renewed every 50 ms or 1 s.
    const char* often_renewed;
    const char* renewed;
    std::vector<wire_form> forms;
    /// How a peer is told to give up soon, if it ever does.
    std::string gives_up = {};
    /// A key followed by the name: of the holder, and of those that wait, first to last.
    std::string holder_key = {};
    std::string queue_key = {};
    bool holder_is_in_the_queue = false;
    const char* read_queue;
    /// Commands: who holds the lock of this key; another client takes it; the key becomes one of another kind.
    words (*read_holder)(const std::string& key);
    words (*occupy)(const std::string& key);
    words (*spoil)(const std::string& key);
    bool tells_abandoned = true;
    /// How long a waiter of `long_lived` waits between two looks at most.
    std::chrono::milliseconds recheck_interval;
    /// How long four hand-overs between ours and theirs may take.
    std::chrono::milliseconds four_hand_overs{4'000};
    /// How long 1,000 hand-overs within one client may take.
    std::chrono::seconds thousand{10};

    friend void PrintTo(const dialect_facts& each, std::ostream* out) { *out << each.name; }
};

/// As the other client calls itself.
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
