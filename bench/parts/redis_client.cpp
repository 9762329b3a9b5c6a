// The client on a Redis server at the loopback interface. All processes share one processor; only the throughput
// measurement gives the server its own.
#include <time.h>

#include <functional>

#include "bench/actors/crowd.hpp"
#include "bench/actors/plain_lock.hpp"
#include "bench/actors/processors.hpp"
#include "bench/actors/server_accounts.hpp"
#include "bench/parts/parts.hpp"
#include "bench/parts/turns.hpp"
#include "bench/scene.hpp"
#include "stores/redis/function_call.hpp"
#include "stores/redis/function_reply.hpp"

namespace baton::bench {
namespace {

constexpr int cycles = 1'000;      // per round
constexpr int short_cycles = 200;  // per round
constexpr int hand_offs = 250;     // per round, there and back

/// A short round of a single caller of one client.
auto cycle_of(client& client, const claims& wanted, int plays) {
    return [&client, wanted, plays] {
        return cost_us(CLOCK_MONOTONIC, plays, [&] { const lease lease = client.acquire(wanted); });
    };
}

void show_caller(report& report, stage& server) {
    show_cycle(report, server);  // the user of the classic lock waits for both replies
    plain_lock plain{*server.redis_url()};
    client client{server.url()};
    const auto floor = [&] {
        return cost_us(CLOCK_MONOTONIC, cycles, [&] {
            plain.acquire();
            plain.release();
        });
    };
    report.compare("acquire and release", floor, cycle_of(client, exclusive("ledger"), cycles));
    report.compare("a semaphore cycle by one caller", cycle_of(client, exclusive("ledger"), short_cycles),
                   cycle_of(client, permits("pool", {.count = 1, .limit = 8}), short_cycles));
}

/// The scripts of a cycle, sent in batches of as many as there are callers, so that the server is always busy.
class bare_callers {
public:
    explicit bare_callers(const stage& server) : connection_{*server.redis_url()} {
        // The clients of earlier scenes have loaded the library.
        const auto head = play(redis::hello_call("bare", {std::chrono::hours{1}, {}, false}));
        epoch_ = redis::decode_reply(head.text, {}).value().head.epoch;
        play(call(protocol::open{id_, std::chrono::hours{1}, "bare", 1, 0, {}}));
    }

    void cycle_each() {
        std::string enters;
        std::string leaves;
        for (int i = 0; i < callers; ++i) {
            const protocol::request_id request{id_, ++number_};
            encode(enters, call(protocol::enter{request, exclusive("name " + std::to_string(i)).list(), {}}));
            encode(leaves, call(protocol::leave{request, protocol::release_kind::clean}));
        }
        for (const std::string& bytes : {enters, leaves}) {
            connection_.write(bytes);
            for (int i = 0; i < callers; ++i) connection_.answer();
        }
    }

private:
    [[nodiscard]] redis::function_call call(const protocol::command& command) const {
        return redis::call_of("bare", epoch_, command);
    }
    resp::value play(const redis::function_call& call) {
        std::string bytes;
        encode(bytes, call);
        connection_.write(bytes);
        return connection_.answer();
    }

    plain_client connection_;
    const protocol::session_id id_{1, 1};
    epoch epoch_ = 0;
    std::uint64_t number_ = 0;
};

/// Runs `measure` while the server has a processor of its own.
void with_two_processors(const stage& server, const char* what, const std::function<void()>& measure) {
    const std::vector<std::size_t> processors = all_processors();
    if (processors.size() < 2) {
        std::printf("%s: needs two processors, one for the server\n", what);
        return;
    }
    play_on({processors.back()}, server.server());
    play_on({processors.begin(), processors.end() - 1});
    measure();
    play_on({processors.back()});
}

/// On one processor the server reads a release and the next acquire together, and replies to both in one write. OpenSSL
/// gives the server one record at a time, so over TLS these are two reads and two writes.
void show_tls(report& report, const stage& server) {
    const auto url = server.tls_url();
    if (!url) {
        std::puts("over TLS: this build has no TLS");
        return;
    }
    client plain{server.url()};
    client encrypted{*url};
    const auto compare = [&](std::string_view what) {
        report.compare(what, cycle_of(plain, exclusive("ledger"), cycles),
                       cycle_of(encrypted, exclusive("ledger"), cycles));
    };
    compare("acquire and release over TLS, one processor");
    with_two_processors(server, "over TLS", [&] { compare("acquire and release over TLS"); });
}

/// The server's processor time per cycle limits the throughput.
void show_callers(report& report, const stage& server) {
    with_two_processors(server, "64 threads", [&] {
        clockid_t server_clock{};
        require(clock_getcpuclockid(server.server(), &server_clock) == 0, "the server has a clock");
        bare_callers bare{server};
        client client{server.url()};
        cycle_of_callers(client);
        report.compare(
            "64 threads, a cycle", [&] { return cost_us(server_clock, 100, [&] { bare.cycle_each(); }) / callers; },
            [&] { return cycle_of_callers(client); });
    });
}

/// The time from before a PUBLISH until another process, which sleeps, has the message, plus a round trip.
class bare_turns {
public:
    explicit bare_turns(const stage& server) : url_{*server.redis_url()} { time_of_other(); }

    double pass(int times) {
        double way = 0;
        for (int i = 0; i < times; ++i) {
            const double start = now_us();
            connection_.call({"PUBLISH", "turn", std::string(100, 'x')});
            way += time_of_other() - start;
        }
        return way / times + cost_us(CLOCK_MONOTONIC, times, [&] {
                   connection_.call({"PING", std::string(100, 'x')});
               });
    }

private:
    [[noreturn]] void listen() {
        plain_client connection{url_};
        connection.send({"SUBSCRIBE", "turn"});
        for (;;) {
            connection.receive();  // the first message confirms the subscription
            const double time = now_us();
            if (write(ends_[1], &time, sizeof time) != sizeof time) _exit(1);
        }
    }
    double time_of_other() {
        double time = 0;
        require(read(ends_[0], &time, sizeof time) == sizeof time, "the other process lives");
        return time;
    }

    const std::string url_;
    std::array<int, 2> ends_ = connected_sockets();
    child other_{[this] { listen(); }};
    plain_client connection_{url_};
};

void show_hand_off(report& report, const stage& server) {
    bare_turns floor{server};
    two_players players{server};
    report.compare(
        "hand-off between two processes", [&] { return floor.pass(2 * hand_offs); },
        [&] { return players.hand_off(hand_offs); });
}

void show_line(report& report, const stage& server, std::size_t length, const std::string& shown) {
    crowd crowd{server.url(), 20, "connection"};
    plain_client admin{*server.redis_url()};
    const auto commands_so_far = [&] { return script_totals(admin.call({"INFO", "commandstats"}).text).calls; };
    double commands = 0;
    const auto subject = [&] {
        const double before = commands_so_far();
        const double cost = crowd.drain_queues(length);
        commands = std::max(commands, (commands_so_far() - before) / static_cast<double>(length));
        return cost;
    };
    report.compare(
        "hand-off in a queue of " + shown, [&] { return crowd.drain_queues(100, 10); }, subject);
    report.figure("commands per waiter of " + shown, commands);
}

}  // namespace

void measure_redis_client(report& report, const part_options& options) {
    const auto server = private_server(options.server);
    report.head("wall-clock time");
    show_hand_off(report, *server);
    show_caller(report, *server);
    show_line(report, *server, 1'000, "1,000");
    show_line(report, *server, 10'000, "10,000");
    show_callers(report, *server);
    show_tls(report, *server);
}

}  // namespace baton::bench
