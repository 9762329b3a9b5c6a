// The client's targets on a Redis server at the loopback interface, as paired ratios. All processes share one
// processor, so that what is counted is work and not who sleeps where; only for the question whether the server is kept
// busy it has one to itself. Exits 1 if a target is missed.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <barrier>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "bench/plain_lock.hpp"
#include "bench/processors.hpp"
#include "hand_off.hpp"
#include "private_server.hpp"
#include "ratios.hpp"
#include "server_time.hpp"
#include "stores/redis/function_call.hpp"
#include "stores/redis/function_reply.hpp"

namespace baton::bench {
namespace {

using redis_tests::private_server;

constexpr int cycles = 1'000;      // a round
constexpr int short_cycles = 200;  // a round
constexpr int hand_offs = 250;     // a round, there and back
constexpr int callers = 64;

void require(bool as_expected, const std::string& what) {
    if (!as_expected) throw std::runtime_error{"the scene is not what it should be: " + what};
}

std::string url_of(const private_server& server) {
    return "redis://127.0.0.1:" + std::to_string(server.tcp().port) + "/0?pause=off";
}

/// A connection without a client.
class bare_line : public resp_client {
public:
    explicit bare_line(const private_server& server) : resp_client{server.tcp()} {
        const int on = 1;
        setsockopt(socket(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        require(call({"HELLO", "3"}).has_value(), "the server greets");
    }
    resp::value answer() {
        auto heard = hear();
        require(heard.has_value() && heard->kind != resp::kind::error, heard ? heard->text : "silence");
        return std::move(*heard);
    }
};

void show_cycle(const private_server& server) {
    plain_lock plain{url_of(server)};
    client client{url_of(server)};
    const claims wanted = exclusive("ledger");
    const auto subject = [&] {
        return cost_of(CLOCK_MONOTONIC, cycles, [&] { const lease lease = client.acquire(wanted); });
    };
    const auto floor = [&] {
        return cost_of(CLOCK_MONOTONIC, cycles, [&] {
            plain.acquire();
            plain.release();
        });
    };
    const auto waiting_floor = [&] {
        return cost_of(CLOCK_MONOTONIC, cycles, [&] {
            plain.acquire();
            plain.release_and_wait();
        });
    };
    // As the classic lock is used: its user waits for both answers.
    compare("acquire and release / SET NX PX and cad", waiting_floor, subject, 2);
    compare("  the same / the answer to cad not waited for", floor, subject, {});
}

/// Both cycles by one caller of one client, in short rounds in turn.
void show_semaphore(const private_server& server) {
    client client{url_of(server)};
    const auto cycle_of = [&client](const claims& wanted) {
        return [&client, wanted] {
            return cost_of(CLOCK_MONOTONIC, short_cycles, [&] { const lease lease = client.acquire(wanted); });
        };
    };
    compare("a semaphore cycle by one caller / a lock cycle", cycle_of(exclusive("ledger")),
            cycle_of(permits("pool", {.count = 1, .limit = 8})), 1.3);
}

/// The scripts of a cycle, sent in goes of as many as there are callers: a server that has always something to do.
class bare_callers {
public:
    explicit bare_callers(const private_server& server) : line_{server} {
        // The clients of the scenes before have loaded the library.
        const auto head = play(redis::hello_call("bare", {std::chrono::hours{1}, {}, false}));
        lineage_ = redis::decode_reply(head.text, {}).value().head.lineage;
        play(call(protocol::open{id_, std::chrono::hours{1}, "bare", 1, 0, {}}));
    }

    void cycle_each() {
        std::string enters;
        std::string leaves;
        for (int i = 0; i < callers; ++i) {
            const protocol::request_id request{id_, ++number_};
            encode(enters, call(protocol::enter{request, exclusive("name " + std::to_string(i)).list(), {}}));
            encode(leaves, call(protocol::leave{request, protocol::manner::clean}));
        }
        for (const std::string& bytes : {enters, leaves}) {
            line_.say_bytes(bytes);
            for (int i = 0; i < callers; ++i) (void)line_.answer();
        }
    }

private:
    [[nodiscard]] redis::function_call call(const protocol::command& command) const {
        return redis::call_of("bare", lineage_, command);
    }
    resp::value play(const redis::function_call& call) {
        std::string bytes;
        encode(bytes, call);
        line_.say_bytes(bytes);
        return line_.answer();
    }

    bare_line line_;
    const protocol::session_id id_{1, 1};
    lineage lineage_ = 0;
    std::uint64_t number_ = 0;
};

/// Each cycles on a name of its own. The time on the wall that one cycle takes, of all.
double call_together(client& client) {
    constexpr int each = 100;
    std::barrier begin{callers + 1};
    std::vector<std::jthread> threads;
    for (int i = 0; i < callers; ++i)
        threads.emplace_back([&, wanted = exclusive("name " + std::to_string(i))] {
            begin.arrive_and_wait();
            for (int turn = 0; turn < each; ++turn) const lease lease = client.acquire(wanted);
        });
    begin.arrive_and_wait();
    const std::int64_t start = clock_now();
    threads.clear();
    return static_cast<double>(clock_now() - start) / (callers * each);
}

/// What the server's processor needs for a cycle is what it allows.
void show_callers(const private_server& server) {
    std::vector<std::size_t> processors = all_processors();
    if (processors.size() < 2) {
        std::puts("64 callers: needs two processors, one for the server");
        return;
    }
    clockid_t server_clock{};
    require(clock_getcpuclockid(server.process(), &server_clock) == 0, "the server has a clock");
    const std::vector<std::size_t> others{processors.begin(), processors.end() - 1};
    play_on({processors.back()}, server.process());
    play_on(others);
    {
        bare_callers bare{server};
        client client{url_of(server)};
        (void)call_together(client);
        const auto floor = [&] { return cost_of(server_clock, 100, [&] { bare.cycle_each(); }) / callers; };
        compare(
            "64 callers, a cycle / the server's own time for it", floor, [&] { return call_together(client); }, 1.25);
    }
    play_on({processors.back()});
}

/// From before a PUBLISH until another process, which sleeps for it, has it; and a round trip.
class bare_turns {
public:
    bare_turns(const private_server& server, shared_board& board)
        : board_{board}, other_{[this, &server] { listen(server); }}, line_{server} {
        hear_from_other();
    }

    double pass(int times) {
        board_.total = 0;
        for (int i = 0; i < times; ++i) {
            board_.passed_at = clock_now();
            line_.say({"PUBLISH", "turn", std::string(100, 'x')});
            (void)line_.answer();
            hear_from_other();
        }
        const double way = static_cast<double>(board_.total) / times;
        return way + cost_of(CLOCK_MONOTONIC, times, [&] {
                   line_.say({"PING", std::string(100, 'x')});
                   (void)line_.answer();
               });
    }

private:
    [[noreturn]] void listen(const private_server& server) {
        bare_line line{server};
        line.say({"SUBSCRIBE", "turn"});
        for (;;) {
            (void)line.answer();  // the first one confirms
            board_.total += clock_now() - board_.passed_at;
            if (write(ends_[1], "x", 1) != 1) _exit(1);
        }
    }
    void hear_from_other() {
        char taken = 0;
        require(read(ends_[0], &taken, 1) == 1, "the other one lives");
    }

    shared_board& board_;
    std::array<int, 2> ends_ = connected_sockets();
    process other_;
    bare_line line_;
};

void show_hand_off(const private_server& server) {
    bare_turns floor{server, make_board()};
    two_players players{url_of(server), make_board()};
    compare(
        "hand-off between two processes / PUBLISH, round trip", [&] { return floor.pass(2 * hand_offs); },
        [&] { return players.hand_over(hand_offs); }, 1.6);
}

/// Hears that a request of a client was put into the queue.
class queue_watch final : public observer {
public:
    void queued(const claim_list&) override {
        const std::lock_guard lock{mutex_};
        ++count_;
        changed_.notify_one();
    }
    int count() {
        const std::lock_guard lock{mutex_};
        return count_;
    }
    void wait_for(int count) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return count_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int count_ = 0;
};

/// Clients that wait in turn, so that each hand-off goes to another one.
class crowd {
public:
    explicit crowd(const private_server& server) : holder_{url_of(server)} {
        for (int i = 0; i < 20; ++i)
            clients_.emplace_back(
                url_of(server),
                client_options{.ttl = std::chrono::seconds{15}, .label = "one of many", .observer = watch_});
    }

    /// What one hand-off of a line of so many costs.
    double drain(int length) {
        lease first = holder_.acquire(wanted_);
        next_ = 0;
        length_ = length;
        int queued = watch_->count();
        for (int i = 0; i < length; ++i) {
            client_of(i).async_acquire(wanted_, {}, {}, [this, i](std::error_code error, lease lease) {
                require(!error && lease.fence() != 0, "it is granted");
                served(i);
            });
            watch_->wait_for(++queued);
        }
        const std::int64_t start = clock_now();
        first.release();
        std::unique_lock lock{mutex_};
        done_.wait(lock, [this] { return next_ == length_; });
        return static_cast<double>(clock_now() - start) / length;
    }

private:
    client& client_of(int waiter) { return clients_[static_cast<std::size_t>(waiter) % clients_.size()]; }
    void served(int waiter) {
        const std::lock_guard lock{mutex_};
        require(waiter == next_, "in order of arrival");
        if (++next_ == length_) done_.notify_one();
    }

    std::shared_ptr<queue_watch> watch_ = std::make_shared<queue_watch>();
    claims wanted_ = exclusive("line");
    std::mutex mutex_;
    std::condition_variable done_;
    int next_ = 0;
    int length_ = 0;
    client holder_;                // not watched: it may have to wait for the end of the last line
    std::vector<client> clients_;  // the first to go
};

double commands_so_far(const private_server& server) {
    return script_totals(server.ask({"INFO", "commandstats"}).text).calls;
}

void show_line(const private_server& server, int length) {
    crowd crowd{server};
    const std::string count = std::to_string(length);
    const auto floor = [&] {
        double total = 0;
        for (int i = 0; i < 10; ++i) total += crowd.drain(100);
        return total / 10;
    };
    double commands = 0;
    const auto subject = [&] {
        const double before = commands_so_far(server);
        const double cost = crowd.drain(length);
        commands = std::max(commands, (commands_so_far(server) - before) / length);
        return cost;
    };
    compare(("hand-off in a line of " + count + " / of 100").c_str(), floor, subject, 1.3);
    std::printf("%-52s %8.2f, target 3", "  commands of each of them, all in all, at most", commands);
    verdict(commands, 3);
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** arguments) {
    using namespace baton::bench;
    const auto program = baton::redis_tests::find_server(count > 1 ? arguments[1] : "");
    if (!program) {
        std::puts("no server to measure: Debian's redis-tools contains one");
        return 0;
    }
    const private_server server{{.program = program, .tcp = true}};
    print_head("time on the wall");
    show_hand_off(server);  // first: it starts processes, and this one has no threads yet
    show_cycle(server);
    show_semaphore(server);
    show_line(server, 1'000);
    show_line(server, 10'000);
    show_callers(server);
    return failed ? 1 : 0;
}
