// Servers that die, lose data, are disturbed by other programs, run out of memory, or whose clock steps.
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "fault_test.hpp"
#include "proxy.hpp"
#include "server_clock.hpp"

namespace baton::redis_tests {
namespace {

class RedisServerFault : public RedisFault {
protected:
    /// All clients acquire one name, and one of them has its own path to the server. Lost data are dangerous while a
    /// client with a valid lease cannot present it.
    class load_with_one_aside : public load {
    public:
        explicit load_with_one_aside(const endpoint& server)
            : load{space_at(server), 1s, 10ms, {"exclusive:a", "exclusive:a+exclusive:b"}, 3},
              proxy_{server, place_.path("proxy")} {}

        void add_one_aside() { aside_ = add(space_at(proxy_.at())); }
        [[nodiscard]] bool cut_off_while_it_holds() {
            if (!stop_holding(aside_)) return false;
            proxy_.cut({.refuse = true});
            return true;
        }
        /// The separate client checks its own clock once more, after the others have reached the server again and would
        /// have been granted its name if the server had not paused.
        [[nodiscard]] bool let_it_believe(const private_server& server) {
            const std::int64_t before = function_calls(server);
            if (!eventually([&] { return function_calls(server) >= before + 12; })) return false;
            signal(aside_, SIGCONT);
            return true;
        }
        void heal() { proxy_.set({}); }

    private:
        folder place_;
        proxy proxy_;
        std::string aside_;
    };

    /// All keys with their contents, in no particular order.
    static std::map<std::string, std::multiset<std::string>> contents(const private_server& server) {
        std::map<std::string, std::multiset<std::string>> all;
        for (const resp::value& key : server.ask({"KEYS", "*"}).items) {
            const bool hash = server.ask({"TYPE", key.text}).text == "hash";
            const auto parts =
                hash ? server.ask({"HGETALL", key.text}) : server.ask({"ZRANGE", key.text, "0", "-1", "WITHSCORES"});
            for (std::size_t i = 0; i + 1 < parts.items.size(); i += 2)
                all[key.text].insert(parts.items[i].text + " = " + parts.items[i + 1].text);
        }
        return all;
    }

    /// The number of function calls since the server started.
    static std::int64_t function_calls(const private_server& server) {
        return counter(server, "commandstats", "cmdstat_fcall:calls=");
    }

    /// The number of error replies with this name since CONFIG RESETSTAT.
    static std::int64_t errors(const private_server& server, const std::string& name) {
        return counter(server, "errorstats", "errorstat_" + name + ":count=");
    }

    /// The number in a field of INFO; 0 if there is no such field.
    static std::int64_t counter(const private_server& server, const std::string& section, const std::string& field) {
        const std::string info = server.ask({"INFO", section}).text;
        const std::size_t at = info.find(field);
        return at == std::string::npos ? 0 : std::stoll(info.substr(at + field.size()));
    }

    /// Keeps the server busy with a script until one reply is BUSY. True if other clients got that reply too.
    static bool clients_meet_a_busy_script(const private_server& server) {
        EXPECT_EQ(server.ask({"CONFIG", "RESETSTAT"}).text, "OK");
        resp_client other{server.at()};
        EXPECT_TRUE(other.say({"EVAL", "while true do end", "0"}));
        EXPECT_TRUE(eventually([&] { return server.ask({"PING"}).text.starts_with("BUSY"); }));
        EXPECT_EQ(server.ask({"SCRIPT", "KILL"}).text, "OK");
        EXPECT_TRUE(other.hear());
        return errors(server, "BUSY") > 1;  // one was the reply to PING
    }

    /// Waits for `x` with separate clients, one behind the other, and records the order in which they were granted.
    class line {
    public:
        explicit line(const endpoint& where, std::size_t size) {
            client viewer = client_at(where);
            for (std::size_t i = 0; i < size; ++i) {
                clients_.push_back(client_at(where));
                clients_.back().async_acquire(exclusive("x"), {.wait = 20s}, {},
                                              [this, i](std::error_code error, lease lease) {
                                                  EXPECT_FALSE(error) << error.message();
                                                  const std::lock_guard guard{mutex_};
                                                  served_.push_back(i);
                                                  leases_.push_back(std::move(lease));
                                              });
                EXPECT_TRUE(eventually([&] { return waiting(viewer) == i + 1; }));
            }
        }
        line(const line&) = delete;
        line& operator=(const line&) = delete;
        ~line() {
            for (client& each : clients_) each.close(5s);
        }

        [[nodiscard]] std::size_t served() {
            const std::lock_guard guard{mutex_};
            return served_.size();
        }
        /// Each client releases when it is granted.
        void expect_served_in_order() {
            std::vector<std::size_t> all;
            for (std::size_t i = 0; i < clients_.size(); ++i) {
                all.push_back(i);
                ASSERT_TRUE(eventually([&] { return served() > i; })) << i;
                lease mine;
                {
                    const std::lock_guard guard{mutex_};
                    EXPECT_EQ(served_.size(), i + 1) << "one after the other";
                    mine = std::move(leases_.at(i));
                }
                EXPECT_GT(mine.fence(), newest_);
                newest_ = mine.fence();
            }
            EXPECT_EQ(served_, all);
            for (client& each : clients_) each.close(5s);
        }

    private:
        static std::size_t waiting(client& viewer) {
            for (const resource_view& resource : viewer.inspect().resources)
                if (resource.name == "x") return resource.queue.size();
            return 0;
        }

        std::mutex mutex_;
        std::vector<std::size_t> served_;
        std::deque<lease> leases_;
        std::uint64_t newest_ = 0;
        std::vector<client> clients_;
    };
};

TEST_F(RedisServerFault, KilledUnderLoadWithItsDataOnDisk) {
    private_server server{{.keeps_data = true}};
    make_space(server);
    load load{space_at(server.at())};
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(load.goes_on());
        server.kill();
        server.start();
    }
    ASSERT_TRUE(load.goes_on());
    load.end_soundly({.grants = 60, .processes = 4, .handoffs = 20, .tickets = 60});
    expect_empty(server);
}

TEST_F(RedisServerFault, KilledWithItsDataOnDiskLosesNothing) {
    private_server server{{.keeps_data = true}};
    make_space(server);
    const folder files;
    proxy proxy{server.at(), files.path("proxy")};
    client holder = client_at(proxy.at());
    lease lease = holder.acquire(exclusive("x"));
    const auto fence = lease.fence();
    line line{proxy.at(), 3};
    proxy.set({.refuse = true});
    proxy.cut();
    const auto before = contents(server);
    server.kill();
    server.start();
    EXPECT_EQ(contents(server), before) << "before any client is back";
    proxy.set({});
    const auto until = lease.valid_until() + 50ms;  // it is computed from the clock, so it varies slightly
    ASSERT_TRUE(eventually([&] { return lease.valid_until() > until; })) << "it is renewed";
    EXPECT_TRUE(lease.valid());
    EXPECT_EQ(lease.fence(), fence);
    EXPECT_EQ(line.served(), 0U);
    lease.release();
    line.expect_served_in_order();
    holder.close(5s);
    expect_empty(server);
}

TEST_F(RedisServerFault, KilledUnderLoadWithItsDataForgotten) {
    private_server server;
    make_space(server);
    load_with_one_aside load{server.at()};
    load.add_one_aside();
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(load.goes_on());
        ASSERT_TRUE(load.cut_off_while_it_holds());
        server.kill();
        server.start();
        ASSERT_TRUE(load.let_it_believe(server));
        ASSERT_TRUE(load.goes_on());
        load.heal();
    }
    ASSERT_TRUE(load.goes_on());
    load.end_soundly({.grants = 100, .processes = 4, .handoffs = 40, .tickets = 100});
    expect_empty(server);
}

TEST_F(RedisServerFault, KilledWithItsDataForgottenKeepsLeasesAndOrder) {
    private_server server;
    make_space(server);
    client holder = client_at(server.at());
    lease lease = holder.acquire(exclusive("x"));
    const auto fence = lease.fence();
    line line{server.at(), 3};
    server.kill();
    server.start();
    const auto back = std::chrono::steady_clock::now();
    client newcomer = client_at(server.at());
    const baton::lease other = newcomer.acquire(exclusive("y"), {.wait = 10s});
    EXPECT_GE(std::chrono::steady_clock::now() - back, pause_length - 100ms) << "nothing is granted during the pause";
    EXPECT_GT(other.fence(), fence);
    EXPECT_TRUE(lease.valid());
    EXPECT_EQ(lease.lost_reason(), loss::none);
    EXPECT_EQ(line.served(), 0U);
    bool found = false;
    for (const request_view& request : newcomer.inspect().requests) found = found || request.fence == fence;
    EXPECT_TRUE(found) << "under the old fence";
    lease.release();
    line.expect_served_in_order();
    holder.close(5s);
    newcomer.close(5s);
    expect_empty(server);
}

TEST_F(RedisServerFault, ReplacedByAnOlderCopyOfItsData) {
    private_server server;
    make_space(server);
    load_with_one_aside load{server.at()};
    ASSERT_TRUE(load.goes_on());
    server.copy_aside("then");  // which does not contain the separate client
    load.add_one_aside();
    ASSERT_TRUE(load.goes_on());
    ASSERT_TRUE(load.cut_off_while_it_holds());
    server.kill();
    server.put_back("then");
    server.start();
    ASSERT_TRUE(load.let_it_believe(server));
    ASSERT_TRUE(load.goes_on());
    load.heal();
    ASSERT_TRUE(load.goes_on());
    // Once more without a separate client: all reconnect at once.
    server.kill();
    server.put_back("then");
    server.start();
    ASSERT_TRUE(load.goes_on());
    load.end_soundly({.grants = 100, .processes = 4, .handoffs = 40, .tickets = 100});
    expect_empty(server);
}

TEST_F(RedisServerFault, FunctionsAreFlushed) {
    const private_server server;
    make_space(server);
    load load{space_at(server.at())};
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(server.ask({"FUNCTION", "FLUSH"}).text, "OK");
        ASSERT_TRUE(load.goes_on(5));
    }
    load.end_soundly({.grants = 100, .processes = 4, .handoffs = 40, .tickets = 100});
    expect_empty(server);
}

/// Outside of the guarantees of exclusion and order (docs/redis.md), but clients continue, and no fence occurs twice.
TEST_F(RedisServerFault, AllIsFlushed) {
    const private_server server;
    make_space(server);
    load load{space_at(server.at()), 400ms};
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(load.goes_on(10));
        EXPECT_EQ(server.ask({"FLUSHALL"}).text, "OK");
    }
    ASSERT_TRUE(load.goes_on());
    const history::verdict verdict = load.finish({.grants = 70, .processes = 4, .handoffs = 20, .tickets = 70});
    for (const history::rule broken : verdict.broken())
        EXPECT_TRUE(broken == history::rule::exclusion || broken == history::rule::limit ||
                    broken == history::rule::slots || broken == history::rule::order ||
                    broken == history::rule::fence_grows)
            << verdict.report();
    expect_empty(server);
}

TEST_F(RedisServerFault, EveryConnectionIsKilledTwentyTimes) {
    const private_server server;
    make_space(server);
    load load{space_at(server.at())};
    ASSERT_TRUE(load.goes_on(5));
    std::int64_t killed = 0;
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(load.goes_on(1)) << "the clients reconnect and are served";
        for (const char* const type : {"pubsub", "normal"})
            killed += server.ask({"CLIENT", "KILL", "TYPE", type, "SKIPME", "yes"}).number;
    }
    EXPECT_GE(killed, 40);
    ASSERT_TRUE(load.goes_on());
    load.end_soundly({.grants = 45, .processes = 4, .handoffs = 20, .tickets = 45});
    expect_empty(server);
}

TEST_F(RedisServerFault, BusyWithAForeignScript) {
    const private_server server{{.settings = {"--lua-time-limit", "1"}}};
    make_space(server);
    load load{space_at(server.at())};
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(load.goes_on());
        // A busy server does not report its replies, so the test repeats this until clients have got BUSY.
        const bool met = eventually([&] { return clients_meet_a_busy_script(server); });
        ASSERT_TRUE(met);
    }
    ASSERT_TRUE(load.goes_on());
    load.end_soundly({.grants = 80, .processes = 4, .handoffs = 20, .tickets = 80});
    expect_empty(server);
}

TEST_F(RedisServerFault, OutOfMemory) {
    const private_server server;
    make_space(server);
    client holder = client_at(server.at());
    client other = client_at(server.at());
    lease lease = holder.acquire(exclusive("x"));
    static_cast<void>(other.acquire(exclusive("a")));  // its session is open
    ASSERT_EQ(server.ask({"CONFIG", "SET", "maxmemory", "100kb"}).text, "OK");
    const auto full_since = std::chrono::steady_clock::now();
    std::error_code error;
    static_cast<void>(other.acquire(exclusive("y"), {.wait = 5s}, error));
    EXPECT_EQ(error, errc::store_full) << error.message();
    static_cast<void>(holder.acquire(permits("p", {.count = 1, .limit = 2}) & shared("b"), {.wait = 5s}, error));
    EXPECT_EQ(error, errc::store_full) << error.message();
    EXPECT_TRUE(eventually([&] { return lease.valid_until() > full_since + 2s; }, 5s)) << "it is renewed";
    EXPECT_TRUE(lease.valid());
    lease.release();
    EXPECT_TRUE(eventually([&] { return server.ask({"HEXISTS", "baton:{default}:m", "x"}).number == 0; }, 5s));
    ASSERT_EQ(server.ask({"CONFIG", "SET", "maxmemory", "0"}).text, "OK");
    EXPECT_TRUE(other.acquire(exclusive("x"), {.wait = 5s}).valid());
    EXPECT_TRUE(holder.acquire(exclusive("x", "y"), {.wait = 5s}).valid());
    holder.close(5s);
    other.close(5s);
    expect_empty(server);
}

TEST_F(RedisServerFault, TheClockGoesBack) {
    const folder files;
    server_clock clock{files.path("clock")};
    const private_server server{{.clock = &clock}};
    make_space(server);
    load load{space_at(server.at()), 400ms};
    ASSERT_TRUE(load.goes_on());
    clock.jump(-1h);
    ASSERT_TRUE(load.goes_on());
    ASSERT_TRUE(load.stop_holding(load.names[0]));
    clock.jump(-1h);
    load.kill(load.names[0]);
    ASSERT_TRUE(load.goes_on()) << "the names of the dead pass on after a ttl, not after an hour";
    load.end_soundly({.grants = 60, .processes = 4, .handoffs = 20, .tickets = 60, .losses = 1});
    expect_empty(server);
}

/// Outside of the guarantee of exclusion (docs/redis.md): leases end early. But their holders learn of it, and clients
/// continue.
TEST_F(RedisServerFault, TheClockGoesForward) {
    const folder files;
    server_clock clock{files.path("clock")};
    const private_server server{{.clock = &clock}};
    make_space(server);
    {
        client holder = client_at(server.at());
        const lease lease = holder.acquire(exclusive("x"));
        client other = client_at(server.at());
        clock.jump(1h);
        const baton::lease next = other.acquire(exclusive("x"), {.wait = 10s});
        EXPECT_GT(next.fence(), lease.fence());
        EXPECT_TRUE(eventually([&] { return !lease.valid() && lease.lost().stop_requested(); }));
        EXPECT_TRUE(next.valid());
    }
    load load{space_at(server.at()), 400ms};
    ASSERT_TRUE(load.goes_on());
    clock.jump(1h);
    ASSERT_TRUE(load.goes_on());
    const history::verdict verdict = load.finish({.grants = 40, .processes = 4, .handoffs = 10, .tickets = 40});
    for (const history::rule broken : verdict.broken())
        EXPECT_TRUE(broken == history::rule::exclusion || broken == history::rule::limit ||
                    broken == history::rule::slots)
            << verdict.report();
    expect_empty(server);
}

/// Errors are reported, no process crashes, no call exceeds its wait, and clients recover with the keys.
TEST_F(RedisServerFault, ForeignDataUnderItsKeys) {
    const private_server server;
    // No client renews or reconnects before its acquire.
    const std::string url = server.url() + "?max_ttl=15s&pause=off";
    const client_options patient{.ttl = 15s, .label = {}};
    const std::string space = "baton:{default}:";
    struct garbage {
        std::vector<std::string> words;
        std::error_code to_known;  // of a connected client, which does not read the damaged key
        std::error_code to_newcomer;
    };
    const std::vector<garbage> all{
        {{"SET", space + "m", "nonsense"}, errc::rejected, errc::space_refused},
        {{"HSET", space + "m", "", "nonsense"}, errc::rejected, errc::space_refused},
        {{"HSET", space + "m", "", std::string(80, 'x')}, errc::rejected, errc::space_refused},
        {{"HSET", space + "m", "nx", "nonsense"}, errc::rejected, errc::rejected},
        {{"HSET", space + "m", "nx", ""}, errc::rejected, errc::rejected},
        {{"SET", space + "i", "nonsense"}, {}, errc::space_refused},
        {{"SET", space + "d", "nonsense"}, {}, errc::space_refused},
        {{"SET", space + "t", "nonsense"}, {}, errc::space_refused},
        {{"ZADD", space + "d", "1", "nonsense"}, {}, errc::space_refused},
        {{"SET", space + "q:x", "nonsense"}, {}, errc::rejected},
    };
    for (const garbage& each : all) {
        SCOPED_TRACE(each.words[0] + ' ' + each.words[1] + ' ' + each.words[2]);
        client known{url, patient};
        static_cast<void>(known.acquire(exclusive("a"), {.wait = 10s}));
        if (each.words[0] == "SET") static_cast<void>(server.ask({"DEL", each.words[1]}));
        ASSERT_NE(server.ask(each.words).kind, resp::kind::error);
        client newcomer{url, patient};
        std::error_code error;
        const lease first = known.acquire(exclusive("x"), {.wait = 10s}, error);
        EXPECT_EQ(error, each.to_known) << error.message();
        EXPECT_EQ(first.valid(), !error);
        const lease second = newcomer.acquire(exclusive("x"), {.wait = 10s}, error);
        EXPECT_EQ(error, each.to_newcomer) << error.message();
        EXPECT_FALSE(second.valid());
        // The other program removes its data.
        static_cast<void>(server.ask({"FLUSHALL"}));
        known.close(100ms);
        newcomer.close(100ms);
        client healed{url, patient};
        EXPECT_TRUE(healed.acquire(exclusive("x"), {.wait = 10s}).valid());
        healed.close(5s);
        EXPECT_EQ(left_over(server), "");
        static_cast<void>(server.ask({"FLUSHALL"}));
    }
}

/// The client reconnected meanwhile, and was refused.
TEST_F(RedisServerFault, ForeignDataUnderItsKeysForLong) {
    const private_server server;
    make_space(server);
    client known = client_at(server.at());
    const lease held = known.acquire(exclusive("x"));
    ASSERT_EQ(server.ask({"DEL", "baton:{default}:m"}).number, 1);
    ASSERT_EQ(server.ask({"SET", "baton:{default}:m", "nonsense"}).text, "OK");
    EXPECT_TRUE(eventually([&] {
        std::error_code error;
        static_cast<void>(known.acquire(exclusive("y"), {.wait = 10s}, error));
        return error == errc::space_refused;
    }));
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); })) << "leases that cannot be renewed end";
    static_cast<void>(server.ask({"FLUSHALL"}));
    EXPECT_TRUE(eventually([&] {
        std::error_code error;
        return known.acquire(exclusive("y"), {.wait = 10s}, error).valid();
    })) << "the same client after its recovery";
    known.close(5s);
    expect_empty(server);
}

}  // namespace
}  // namespace baton::redis_tests
