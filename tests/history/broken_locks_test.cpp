// The judge must find the fault of each of four broken locks. Without the fault, and with Baton, the same load must
// pass.
//
// The load: each worker acquires one name several times. A holder holds until another worker holds too, or long enough
// for that to happen. One holder outlives its grant and then releases (`outlives`); or the server is killed while a
// worker holds, and restarts without its memory (`crash`).
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "../local/agent_process.hpp"
#include "../redis/private_server.hpp"
#include "judge.hpp"
#include "little_locks.hpp"
#include "recorder.hpp"

namespace baton::history {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t workers = 4;
constexpr std::size_t rounds = 6;
constexpr auto timeout = 10ms;          // how long a holder waits for a second holder
constexpr std::size_t crash_after = 8;  // grants

constexpr demands whole_load{.grants = workers * rounds, .processes = workers, .handoffs = workers * rounds / 2};

struct load {
    std::function<std::unique_ptr<little_lock>()> make;
    bool outlives = false;
    std::function<void()> crash = {};  // and restart
};

class run {
public:
    explicit run(load load) : load_{std::move(load)} {}

    verdict judged(const demands& least) {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < workers; ++i) threads.emplace_back([this, i] { work(i); });
        if (load_.crash) {
            // On this thread, because a process dies with the thread that started it.
            EXPECT_TRUE(eventually([this] { return crash_ == stage::ready; }));
            load_.crash();
            crash_ = stage::over;
        }
        threads.clear();
        return judge(read_file(log_), least);
    }

private:
    enum class stage : std::uint8_t { before, ready, over };

    void work(std::size_t place) {
        recorder recorder{log_, "w" + std::to_string(place)};
        const auto lock = load_.make();
        for (std::size_t round = 0; round < rounds; ++round) {
            const std::uint64_t number = recorder.asked({{"lock", claim_mode::exclusive, 0, 0}});
            const auto grant = lock->acquire();
            const moment begin = now();
            recorder.write({.at = begin,
                            .verb = verb::held,
                            .number = number,
                            .ticket = grant.ticket,
                            .fence = grant.fence,
                            .until = lock->believes_until()});
            const std::size_t mine = ++grants_;
            moment last = begin;
            hold(*lock, mine, last);
            const bool whole = believes(*lock, last);
            recorder.write({.at = last, .verb = whole ? verb::released : verb::lost, .number = number});
            lock->release();
            // Otherwise a worker that polls would acquire again before all others until the end.
            eventually([&] { return grants_ > mine; }, 5 * timeout);
        }
    }

    /// Whether the holder believes now. The time is taken first, so that it believed at `last`.
    static bool believes(const little_lock& lock, moment& last) {
        const moment at = now();
        const auto until = lock.believes_until();
        if (until && *until <= at) return false;
        last = at;
        return true;
    }

    void hold(const little_lock& lock, std::size_t mine, moment& last) {
        const auto another_holds = [&] { return grants_ > mine; };
        const auto keep = [&](std::chrono::milliseconds limit, const std::function<bool()>& enough) {
            return eventually([&] { return !believes(lock, last) || enough(); }, limit);
        };
        if (load_.crash && mine >= crash_after && claim_fault()) {
            crash_ = stage::ready;
            keep(long_enough, [&] { return crash_ == stage::over; });
            keep(long_enough, another_holds);
        } else if (load_.outlives && claim_fault()) {
            keep(long_enough, [] { return false; });
            EXPECT_TRUE(eventually(another_holds)) << "another worker acquires the expired lock";
        } else {
            keep(timeout, another_holds);
        }
    }
    /// True for the first caller: one holder has the fault.
    bool claim_fault() { return !fault_.exchange(true); }

    load load_;
    folder place_;
    std::string log_ = place_.path("log");
    std::atomic<std::size_t> grants_{0};
    std::atomic<bool> fault_{false};
    std::atomic<stage> crash_{stage::before};
};

class BrokenLock : public testing::Test {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        server = std::make_unique<redis_tests::private_server>();
    }
    enum class fault : std::uint8_t { outlives, crash };

    verdict judged(const expiring_lock_options& options, fault fault, const demands& least = whole_load) {
        load load{[this, options] { return expiring_lock(server->at(), options); }, fault == fault::outlives};
        if (fault == fault::crash)
            load.crash = [this] {
                server->kill();
                server->start();
            };
        return run{load}.judged(least);
    }
    verdict judged(discipline discipline) {
        demands least = whole_load;
        least.tickets = least.grants;
        return run{{[this, discipline] { return list_lock(server->at(), discipline); }}}.judged(least);
    }

    std::unique_ptr<redis_tests::private_server> server;
};

void expect_broken(const verdict& verdict, const std::vector<rule>& rules) {
    EXPECT_EQ(verdict.broken(), rules) << verdict.report();
}

/// Two simultaneous holders may write their lines in either order, so fences may seem to fall as well.
void expect_two_hold(const verdict& verdict) {
    const auto broken = verdict.broken();
    ASSERT_FALSE(broken.empty()) << verdict.report();
    EXPECT_EQ(broken.front(), rule::exclusion) << verdict.report();
    for (const rule rule : broken)
        EXPECT_TRUE(rule == rule::exclusion || rule == rule::fence_grows) << verdict.report();
}

TEST_F(BrokenLock, APlainDelReleasesAnotherHoldersLock) {
    // After the fault all workers hold at once and hand-offs are few, so only the sound lock must show the whole load.
    expect_two_hold(judged({.checks_owner = false}, fault::outlives, {}));
    demands least = whole_load;
    least.losses = 1;
    expect_broken(judged({}, fault::outlives, least), {});
}

TEST_F(BrokenLock, LastInFirstOutBreaksTheOrder) {
    expect_broken(judged(discipline::last_in_first_out), {rule::order});
    ASSERT_EQ(server->ask({"FLUSHALL"}).text, "OK");
    expect_broken(judged(discipline::first_in_first_out), {});
}

TEST_F(BrokenLock, AFenceByIncrRepeatsItselfAfterLostState) {
    expect_broken(judged({.clock_fence = false}, fault::crash), {rule::fence_once, rule::fence_grows});
    expect_broken(judged({}, fault::crash), {});
}

TEST_F(BrokenLock, WithoutAPauseAfterLostStateTwoProcessesHold) {
    // The holder must believe while the server restarts, however slow the machine is.
    expect_two_hold(judged({.pauses = false, .expiry = long_enough}, fault::crash, {}));
}

TEST(SoundLock, BatonPassesTheSameLoad) {
    const local_tests::workplace place;
    local_tests::agent_process agent{place, {"--max-ttl-ms", std::to_string(2 * longest_hold.count())}};
    const auto judged = [&](bool outlives, std::function<void()> crash, std::size_t losses) {
        demands least = whole_load;
        least.tickets = least.grants;
        least.losses = losses;
        return run{{[&] { return baton_lock(place.url()); }, outlives, std::move(crash)}}.judged(least);
    };
    expect_broken(judged(true, {}, 1), {});
    const auto crash = [&] {
        agent.end(SIGKILL);
        agent.start();
    };
    expect_broken(judged(false, crash, 0), {});
}

}  // namespace
}  // namespace baton::history
