#include "bench/targets.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace baton::bench {
namespace {

constexpr std::nullopt_t none = std::nullopt;

constexpr auto list = std::to_array<target>({
    // The scenarios, by store.
    {"cycle", "memory", "the engine alone", none},
    {"cycle", "local", "two echoes on a Unix socket", 1.5},
    {"cycle", "redis", "SET NX PX, compare and delete", 2},
    {"throughput", "redis", "two empty scripts", none},
    {"handoff", "local", "echo on a Unix socket", none},
    {"handoff", "redis", "PUBLISH to message", none},

    // The engine, in processor time.
    {"engine", "hand-off in one session, 1,000 waiters", "10 waiters", 2},
    {"engine", "hand-off in one session, 100,000 waiters", "10 waiters", 2},
    {"engine", "hand-off, a session each, 1,000 waiters", "10 waiters", 6},
    {"engine", "hand-off, a session each, 100,000 waiters", "10 waiters", 6},
    {"engine", "enter and leave of 16 claims", "of 1 claim", none},
    {"engine", "enter and leave beside 100,000 held names", "beside none", none},
    {"engine", "renew of one of 100,000 sessions", "of 10", none},
    {"engine", "expiry of a session that waits", "enter and leave", none},
    {"engine", "expiry of a session that holds", "enter and leave", none},
    {"engine", "enter and leave of one claim", "", 1, "us"},
    {"engine", "one of 100,000 waiters, in one session", "", 400, "bytes"},
    {"engine", "one of 100,000 waiters, with a session each", "", 900, "bytes"},

    // The client on `memory:`; acquire and release in processor time.
    {"memory", "acquire and release", "enter and leave of the engine", 2},
    {"memory", "acquire and release, uncontended", "", 2, "us"},
    {"memory", "hand-off between two threads", "condition variable", 3},
    {"memory", "one of 10,000 waiting callbacks", "", 2'048, "bytes"},
    {"memory", "threads added by the callbacks", "", 0, "threads"},

    // The client on `local:`, with `cycle` above.
    {"local", "64 threads, a cycle", "on memory:", 2},
    {"local", "hand-off between two processes", "echo on a Unix socket", 2.2},
    {"local", "hand-off in a queue of 1,000 clients", "of 10", 1.5},
    {"local", "hand-off after kill -9 of the holder", "", 5, "ms"},
    {"local", "time added by `baton run -l x -- true`", "", 20, "ms"},

    // Calls on Redis, in the server's own time.
    {"redis-calls", "enter, one exclusive", "cad", 3},
    {"redis-calls", "leave, one exclusive", "cad", none},
    {"redis-calls", "leave, one exclusive, bare", "the same commands without rules", 1.2},
    {"redis-calls", "enter, one shared", "cad", 4.5},
    {"redis-calls", "leave, one shared", "cad", 4},
    {"redis-calls", "enter, one permit of 8", "cad", 4.5},
    {"redis-calls", "leave, one permit of 8", "cad", 4},
    {"redis-calls", "enter, nowait", "cad", 4},
    {"redis-calls", "leave, nowait", "cad", none},
    {"redis-calls", "enter, with a hold limit", "cad", 4},
    {"redis-calls", "leave, with a hold limit", "cad", none},
    {"redis-calls", "enter, exclusive, shared and permit", "cad", 9},
    {"redis-calls", "leave, exclusive, shared and permit", "cad", 8},
    {"redis-calls", "enter, four exclusive", "cad", none},
    {"redis-calls", "leave, four exclusive", "cad", none},
    {"redis-calls", "enter behind others", "cad", none},
    {"redis-calls", "leave with a hand-off", "cad", 4},
    {"redis-calls", "renew, nothing held", "cad", 2.5},
    {"redis-calls", "renew, one lock held", "cad", 2.5},
    {"redis-calls", "one of 20,000 waiters, with a session each", "", 500, "bytes"},
    {"redis-calls", "a further wait of the same session", "", 200, "bytes"},

    // The server's memory.
    {"redis-memory", "a session", "", none, "bytes"},
    {"redis-memory", "a name held exclusively, each by its own session", "", none, "bytes"},
    {"redis-memory", "a waiter for one name", "", none, "bytes"},
    {"redis-memory", "a name held by one shared holder", "", none, "bytes"},
    {"redis-memory", "a permit of one semaphore", "", none, "bytes"},
    {"redis-memory", "a name held exclusively, all by one session", "", none, "bytes"},
    {"redis-memory", "an abandoned mark", "", none, "bytes"},
    {"redis-memory", "the id of a session that ended", "", none, "bytes"},
    {"redis-memory", "a connection", "", none, "bytes"},

    // A short path stays only if it saves a fifth of its call's time.
    {"redis-short-paths", "each", "the same call without its short path", 0.8},

    // The client on Redis, with `cycle` above.
    {"redis-client", "acquire and release", "SET NX PX and cad without waiting", none},
    {"redis-client", "a semaphore cycle by one caller", "a lock cycle", 1.3},
    {"redis-client", "acquire and release over TLS, one processor", "without TLS", none},
    {"redis-client", "acquire and release over TLS", "without TLS", 1.3},
    {"redis-client", "hand-off between two processes", "PUBLISH, round trip", 1.6},
    {"redis-client", "hand-off in a queue of 1,000", "of 100", 1.3},
    {"redis-client", "commands per waiter of 1,000", "", 3, "commands"},
    {"redis-client", "hand-off in a queue of 10,000", "of 100", 1.3},
    {"redis-client", "commands per waiter of 10,000", "", 3, "commands"},
    {"redis-client", "64 threads, a cycle", "the server's own time for it", 1.25},

    // How long one call blocks a Redis server.
    {"redis-blocking", "a call, the 99.9th percentile", "", 2'000, "us"},
    {"redis-blocking", "plus, for each claim of its request", "", 5, "us"},
    {"redis-blocking", "grant of a waiter after the ttl of the dead holder", "", 1'000, "ms"},
});

}  // namespace

std::span<const target> all_targets() { return list; }

const target& target_of(std::string_view part, std::string_view what) {
    const auto found =
        std::ranges::find_if(list, [&](const target& each) { return each.part == part && each.what == what; });
    if (found == list.end())
        throw std::logic_error{"not in the list of targets: " + std::string{part} + ", " + std::string{what}};
    return *found;
}

}  // namespace baton::bench
