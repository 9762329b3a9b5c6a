// Mixed fleets of our clients and peers (peers/), the same in each dialect: they count under one lock, wait, time out
// and die; our connections are killed during waits, and our processes end while they reconnect.
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "dialect_facts.hpp"
#include "dialect_test.hpp"

namespace baton::dialect_tests {
namespace {

class EachFleet : public Dialect, public testing::WithParamInterface<dialect_facts> {
protected:
    EachFleet() : Dialect{GetParam().name} {}

    [[nodiscard]] std::int64_t waiting() const {
        const char* const count = GetParam().read_queue == std::string{"ZRANGE"} ? "ZCARD" : "LLEN";
        const std::int64_t holders = GetParam().holder_is_in_the_queue ? 1 : 0;
        return std::max<std::int64_t>(0, ask({count, GetParam().queue_key + "a"}).number - holders);
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

    /// Counts by GET and SET: two holders at the same time lose a count.
    void count(client& who, int times) const {
        for (int i = 0; i < times; ++i) {
            std::error_code error;
            const lease held = who.acquire(exclusive("a"), {.wait = 120s}, error);
            const std::string value = ask({"GET", "n"}).text;
            static_cast<void>(ask({"SET", "n", std::to_string((value.empty() ? 0 : std::stoi(value)) + 1)}));
            EXPECT_TRUE(held.valid()) << error.message() << ", " << to_string(held.lost_reason());
        }
    }

    /// Our clients use RESP3, the peers and this test RESP2.
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

    /// Ignores what the originals leave as well: limits of semaphores, and notifications of dead clients, which expire.
    [[nodiscard]] bool nothing_is_left() const {
        return eventually([&] {
            return std::ranges::all_of(keys(), [](const std::string& key) {
                return key.starts_with("adv-sem:semaphore_max:") ||
                       key.starts_with("adv-sem:acquisition_notification:");
            });
        });
    }
};

/// In the originals' tests 50 processes count to 100 each. Here 6 peers and 4 threads of ours count to 12, to save
/// time.
TEST_P(EachFleet, AtMostOneClientHoldsTheLock) {
    constexpr int times = 12;
    for (const wire_form& form : GetParam().forms) {
        std::vector<std::unique_ptr<line_process>> others;
        for (int i = 0; i < 6; ++i) others.push_back(peer(i % 2 == 0 ? form.peer : form.other_peer));
        const std::string wait = name_ == "amphp" ? " wait=60000" : "";
        for (const auto& other : others) other->tell("count a n " + std::to_string(times) + wait);
        client one = join(form.ours), two = join(form.ours);
        {
            std::vector<std::jthread> ours;
            for (client* each : {&one, &two, &one, &two}) ours.emplace_back([this, each] { count(*each, times); });
        }
        for (const auto& other : others) EXPECT_EQ(other->hear(60s), "counted a");
        EXPECT_EQ(ask({"GET", "n"}).text, std::to_string(10 * times));
        EXPECT_EQ(ask({"DEL", "n"}).number, 1);
    }
    EXPECT_TRUE(nothing_is_left()) << testing::PrintToString(keys());
}

/// The queue alternates between peers of both kinds and our clients, so that each hand-off goes to another program.
TEST_P(EachFleet, ClientsAreGrantedInOrderOfArrival) {
    for (const wire_form& form : GetParam().forms) {
        const auto one = peer(form.peer), other = peer(form.other_peer);
        client first = join(form.ours), second = join(form.ours);
        expect_acquires(*one, "x");
        pending second_waiter{first, "a"};
        ASSERT_TRUE(waits(1));
        other->tell("acquire y a");
        ASSERT_TRUE(waits(2));
        pending fourth_waiter{second, "a"};
        ASSERT_TRUE(waits(3));
        one->tell("acquire z a");
        ASSERT_TRUE(waits(4));
        const auto begun = std::chrono::steady_clock::now();
        expect_releases(*one, "x");
        lease held = second_waiter.held();
        EXPECT_TRUE(held.valid());
        EXPECT_TRUE(other->silent_about("acquired"));
        EXPECT_FALSE(fourth_waiter.is_over());
        held.release();
        EXPECT_EQ(other->hear(), "acquired y");
        EXPECT_FALSE(fourth_waiter.is_over());
        expect_releases(*other, "y");
        held = fourth_waiter.held();
        EXPECT_TRUE(held.valid());
        EXPECT_TRUE(one->silent_about("acquired"));
        held.release();
        EXPECT_EQ(one->hear(), "acquired z");
        EXPECT_LT(std::chrono::steady_clock::now() - begun, GetParam().four_hand_overs);
        expect_releases(*one, "z");
    }
    EXPECT_TRUE(nothing_is_left()) << testing::PrintToString(keys());
}

/// The waiter behind it moves up.
TEST_P(EachFleet, AWaiterThatTimesOutLeavesTheQueue) {
    const auto other = peer(GetParam().long_lived_peer), next = peer(GetParam().long_lived_peer);
    client ours = join(GetParam().long_lived);
    expect_acquires(*other, "x");
    pending gives_up{ours, "a", {.wait = 200ms}};
    ASSERT_TRUE(waits(1));
    next->tell("acquire y a wait=600000");
    ASSERT_TRUE(waits(2));
    const pending::result gave_up = gives_up.get();
    EXPECT_FALSE(gave_up.lease.valid());
    EXPECT_EQ(gave_up.error, errc::timed_out);
    EXPECT_FALSE(ours.try_acquire(exclusive("a")));
    ASSERT_TRUE(waits(1));
    pending last{ours, "a"};
    ASSERT_TRUE(waits(2));
    expect_releases(*other, "x");
    EXPECT_EQ(next->hear(), "acquired y");
    EXPECT_FALSE(last.is_over());
    expect_releases(*next, "y");
    lease held = last.held();
    EXPECT_TRUE(held.valid());
    if (!GetParam().gives_up.empty()) {
        other->tell("acquire z a" + GetParam().gives_up);
        EXPECT_EQ(other->hear(), "timeout z");
        EXPECT_TRUE(waits(0));
        EXPECT_TRUE(held.valid());
    }
    held.release();
    EXPECT_TRUE(nothing_is_left()) << testing::PrintToString(keys());
}

TEST_P(EachFleet, KilledProcessesOfOursArePassedOver) {
    const auto other = peer(GetParam().mortal_peer);
    const auto holding = ours(url(GetParam().mortal));
    EXPECT_EQ(holding->hear(), "acquired");
    const auto waiting = ours(url(GetParam().mortal));
    ASSERT_EQ(waiting->hear(), "queued");
    other->tell("acquire x a wait=600000");
    ASSERT_TRUE(waits(2));
    waiting->end(SIGKILL);
    EXPECT_TRUE(other->silent_about("acquired"));
    holding->end(SIGKILL);
    EXPECT_EQ(other->hear(), "acquired x");
    expect_releases(*other, "x");
    EXPECT_TRUE(nothing_is_left()) << testing::PrintToString(keys());
}

/// A client of ours with 200 waiters is stopped until their timers are due; meanwhile the server closes its connection.
/// When it continues, both are due at once. Repeated, because the last replies may still be on the network.
TEST_P(EachFleet, WaitersOfAStoppedProcessWhoseConnectionWasKilledAreServed) {
    constexpr int count = 200;
    const auto theirs = peer(GetParam().long_lived_peer), last = peer(GetParam().long_lived_peer);
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
        ASSERT_TRUE(eventually([&] { return server_ms() > stopped + GetParam().recheck_interval.count() + 20; }));
        crowd->signal(SIGCONT);
        ASSERT_TRUE(eventually([&] { return our_connections().size() == 1; }));
        EXPECT_TRUE(last->silent_about("acquired"));
        EXPECT_EQ(waiting(), count + 1) << "all keep their queue positions";
        expect_releases(*theirs, "x");
        ASSERT_EQ(crowd->hear(60s), "done") << waiting() << " still wait, round " << times;
        EXPECT_EQ(last->hear(), "acquired y");
        expect_releases(*last, "y");
        crowd->close_input();
        EXPECT_TRUE(ends(*crowd));
    }
    EXPECT_TRUE(nothing_is_left()) << testing::PrintToString(keys());
}

/// Our clients and peers count under one lock, and each of our connections is killed as soon as it is made. A waiter
/// keeps its queue position or queues again, a holder keeps its lock: no count is lost, and all clients finish.
TEST_P(EachFleet, ConnectionsKilledWhileWaitingAndHoldingLoseNothing) {
    constexpr int times = 15;
    const auto one = peer(GetParam().long_lived_peer), other = peer(GetParam().long_lived_peer);
    for (const auto* each : {&one, &other}) (*each)->tell("count a n " + std::to_string(times) + " wait=600000");
    std::atomic<int> counting = 2;
    const auto count_to_the_end = [&](client& who) {
        count(who, times);
        --counting;
    };
    std::size_t killed = 0;
    client first = join(GetParam().long_lived), second = join(GetParam().long_lived);
    {
        std::jthread aside{[&] { count_to_the_end(first); }}, more{[&] { count_to_the_end(second); }};
        while (counting > 0) {
            killed += kill_our_connections();
            // The next round begins when a client waits again.
            eventually([&] { return counting == 0 || waiting() > 0; });
        }
    }
    EXPECT_GT(killed, 10U);
    for (const auto* each : {&one, &other}) EXPECT_EQ((*each)->hear(120s), "counted a");
    EXPECT_EQ(ask({"GET", "n"}).text, std::to_string(4 * times));
    EXPECT_EQ(ask({"DEL", "n"}).number, 1);
    first.close(20s);
    second.close(20s);
    EXPECT_TRUE(nothing_is_left()) << testing::PrintToString(keys());
}

/// Two processes of ours, a holder and one with three waiters, are cut off. They end cleanly or are killed before they
/// can connect again. The peer behind them is granted the lock.
TEST_P(EachFleet, ProcessesThatEndDuringAReconnectArePassedOver) {
    for (const bool cleanly : {true, false}) {
        SCOPED_TRACE(cleanly ? "ended" : "killed");
        const folder place;
        redis_tests::proxy between{server_->at(), place.path("between")};
        const std::string way = "unix:" + between.at().path + "?dialect=" + name_ + GetParam().mortal;
        const auto behind = peer(GetParam().mortal_peer);
        const auto holding = ours(way);
        ASSERT_EQ(holding->hear("acquired"), "acquired");
        const auto waiting = ours(way, 3);
        ASSERT_EQ(waiting->hear(), "queued");
        ASSERT_TRUE(waits(3));
        behind->tell("acquire x a wait=600000");
        ASSERT_TRUE(waits(4));
        between.cut({.refuse = true});
        EXPECT_TRUE(eventually([&] { return our_connections().empty(); })) << "both are cut off";
        for (const auto* each : {&waiting, &holding}) {
            (*each)->close_input();
            if (!cleanly) (*each)->signal(SIGKILL);
        }
        between.set({});
        EXPECT_TRUE(ends(*waiting) && ends(*holding));
        EXPECT_EQ(behind->hear(60s), "acquired x");
        expect_releases(*behind, "x");
    }
    EXPECT_TRUE(nothing_is_left()) << testing::PrintToString(keys());
}

INSTANTIATE_TEST_SUITE_P(, EachFleet, testing::ValuesIn(each_dialect),
                         [](const auto& each) { return test_name(each.param.name); });

}  // namespace
}  // namespace baton::dialect_tests
