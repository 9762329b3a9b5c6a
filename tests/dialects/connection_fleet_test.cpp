// Fleets of ours and theirs in which our connections are killed while we wait, and in which our processes end while
// they reconnect: the same stories in each dialect. The others are played by peers/.
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "../redis/proxy.hpp"
#include "dialect_test.hpp"

namespace baton::dialect_tests {
namespace {

struct fleet {
    const char* dialect;
    /// Nothing of these ends by itself during a test.
    const char* long_lived;
    /// The locks of these pass on soon after their holder or waiter died.
    const char* mortal;
    std::vector<std::string> peer;
    /// The command that counts what waits for `a`, and how much of that holds it.
    std::vector<std::string> count_waiting;
    std::int64_t holders_counted;
    /// How long a waiter of `long_lived` waits between two looks at most.
    std::chrono::milliseconds between_looks;

    friend void PrintTo(const fleet& each, std::ostream* out) { *out << each.dialect; }
};

const std::vector<fleet> fleets{
    {"amphp",
     "&lock_expiration=60s&lock_timeout=60s",
     "&lock_expiration=500ms&lock_renew_interval=100ms",
     {"--expiry-ms", "60000"},
     {"LLEN", "lock-queue:a"},
     0,
     305ms},
    {"redturn", "&timeout=60s", "&timeout=500ms", {"--timeout-ms", "60000"}, {"LLEN", "a"}, 1, 1s},
    {"adv-sem",
     "&ping_interval=500ms",
     "&heartbeat_max_interval=1s&ping_interval=100ms",
     {},
     {"ZCARD", "adv-sem:semaphore_waiting:a"},
     0,
     500ms},
};

class ConnectionFleet : public Dialect, public testing::WithParamInterface<fleet> {
protected:
    ConnectionFleet() : Dialect{GetParam().dialect} {}

    [[nodiscard]] std::int64_t waiting() const {
        return std::max<std::int64_t>(0, ask(GetParam().count_waiting).number - GetParam().holders_counted);
    }
    [[nodiscard]] bool waits(std::int64_t count) const {
        return eventually([&] { return waiting() == count; });
    }
    [[nodiscard]] std::unique_ptr<line_process> ours(const std::string& address, int count = 0) const {
        std::vector<std::string> words{BATON_ONE_OF_OURS, address, "a"};
        if (count > 0) words.push_back(std::to_string(count));
        return std::make_unique<line_process>(std::move(words));
    }
    static void expect_acquires(line_process& peer, const std::string& tag) {
        peer.tell("acquire " + tag + " a");
        EXPECT_EQ(peer.hear(), "acquired " + tag);
    }
    static void expect_releases(line_process& peer, const std::string& tag) {
        peer.tell("release " + tag);
        EXPECT_EQ(peer.hear(), "released " + tag);
    }

    /// Ours speak RESP3, the peers and this test RESP2.
    [[nodiscard]] std::vector<std::string> our_connections() const {
        std::vector<std::string> ids;
        std::istringstream lines{ask({"CLIENT", "LIST"}).text};
        for (std::string line; std::getline(lines, line);)
            if (line.find(" resp=3") != std::string::npos) ids.push_back(line.substr(3, line.find(' ') - 3));
        return ids;
    }
    std::size_t kill_our_connections() const {
        const auto ids = our_connections();
        for (const std::string& id : ids) static_cast<void>(ask({"CLIENT", "KILL", "ID", id}));
        return ids.size();
    }
    [[nodiscard]] std::int64_t server_ms() const {
        const resp::value time = ask({"TIME"});
        return std::stoll(time.items.at(0).text) * 1'000 + std::stoll(time.items.at(1).text) / 1'000;
    }
    static void stop(const line_process& process) {
        process.signal(SIGSTOP);
        siginfo_t info{};
        ASSERT_EQ(waitid(P_PID, static_cast<id_t>(process.process()), &info, WSTOPPED), 0);
    }
    static bool ends(const line_process& process) {
        return eventually([&] {
            siginfo_t info{};
            waitid(P_PID, static_cast<id_t>(process.process()), &info, WEXITED | WNOHANG | WNOWAIT);
            return info.si_pid != 0;
        });
    }

    /// All but what the originals leave behind too: the limit of a semaphore, and notices of the dead, which expire.
    [[nodiscard]] bool nothing_is_left() const {
        return eventually([&] {
            return std::ranges::all_of(keys(), [](const std::string& key) {
                return key.starts_with("adv-sem:semaphore_max:") ||
                       key.starts_with("adv-sem:acquisition_notification:");
            });
        });
    }
};

/// A client of ours with 200 waiters is stopped until their timers are due; meanwhile the server closes its connection.
/// When it continues, it finds both in one moment. Several times, since the last answers may still be on their way.
TEST_P(ConnectionFleet, WaitersOfAStoppedProcessWhoseConnectionWasKilledAreServed) {
    constexpr int count = 200;
    const auto theirs = peer(GetParam().peer), last = peer(GetParam().peer);
    for (int times = 0; times < 3; ++times) {
        expect_acquires(*theirs, "x");
        const auto crowd = ours(url(GetParam().long_lived), count);
        ASSERT_EQ(crowd->hear(60s), "queued");
        ASSERT_TRUE(waits(count));
        last->tell("acquire y a wait=600000");
        ASSERT_TRUE(waits(count + 1));
        stop(*crowd);
        const std::int64_t stopped = server_ms();
        ASSERT_EQ(kill_our_connections(), 1U);
        ASSERT_TRUE(eventually([&] { return server_ms() > stopped + GetParam().between_looks.count() + 20; }));
        crowd->signal(SIGCONT);
        ASSERT_TRUE(eventually([&] { return our_connections().size() == 1; }));
        EXPECT_TRUE(last->silent_about("acquired"));
        EXPECT_EQ(waiting(), count + 1) << "all keep their places";
        expect_releases(*theirs, "x");
        ASSERT_EQ(crowd->hear(60s), "done") << waiting() << " still wait, round " << times;
        EXPECT_EQ(last->hear(), "acquired y");
        expect_releases(*last, "y");
        crowd->close_input();
        EXPECT_TRUE(ends(*crowd));
    }
    EXPECT_TRUE(nothing_is_left()) << testing::PrintToString(keys());
}

INSTANTIATE_TEST_SUITE_P(, ConnectionFleet, testing::ValuesIn(fleets), [](const auto& each) {
    std::string name = each.param.dialect;
    std::erase(name, '-');
    return name;
});

}  // namespace
}  // namespace baton::dialect_tests
