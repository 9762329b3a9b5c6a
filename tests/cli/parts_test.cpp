// The parts of the program that need no process: durations, claims, the stop sequence, the keeper, the status line.
#include <gtest/gtest.h>

#include "agent/sweep_plan.hpp"
#include "baton/client.hpp"
#include "claim_spec.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "run/environment.hpp"
#include "run/keeper.hpp"
#include "run/refusals.hpp"
#include "run/status_line.hpp"
#include "run/stop_sequence.hpp"
#include "system/control_group.hpp"

namespace baton::cli {
namespace {

using namespace std::chrono_literals;

const steady_time start{1'000s};

TEST(Duration, ParsesNumbersWithUnits) {
    EXPECT_EQ(parse_duration("250ms"), 250ms);
    EXPECT_EQ(parse_duration("5s"), 5s);
    EXPECT_EQ(parse_duration("5"), 5s);
    EXPECT_EQ(parse_duration("0"), 0s);
    EXPECT_EQ(parse_duration("10m"), 10min);
    EXPECT_EQ(parse_duration("2h"), 2h);
    EXPECT_EQ(parse_duration("1.5s"), 1500ms);
    EXPECT_EQ(parse_duration("0.25"), 250ms);
    EXPECT_EQ(parse_duration("8784h"), 366 * 24h);
}

TEST(Duration, RefusesOtherTexts) {
    for (const char* wrong : {"", "s", "-1", "+1", "1 s", " 1", "1d", "1.", ".5", "1.5.2", "ms", "0x10", "1e3", "8785h",
                              "99999999999999999999", "99999999999999999999h", "1,5"})
        EXPECT_FALSE(parse_duration(wrong)) << wrong;
}

TEST(Duration, ShowsARequestedDurationExactly) {
    EXPECT_EQ(show_exactly(0ms), "0 ms");
    EXPECT_EQ(show_exactly(999ms), "999 ms");
    EXPECT_EQ(show_exactly(1500ms), "1.5 s");
    EXPECT_EQ(show_exactly(1050ms), "1.05 s");
    EXPECT_EQ(show_exactly(5s), "5 s");
    EXPECT_EQ(show_exactly(90s), "1 min 30 s");
    EXPECT_EQ(show_exactly(2h + 5s), "2 h 5 s");
    EXPECT_EQ(show_exactly(25h + 60001ms), "1 d 1 h 1 min 0.001 s");
}

TEST(Duration, ShowsAnAgeInAtMostTwoUnits) {
    EXPECT_EQ(show_duration(0ms), "0 ms");
    EXPECT_EQ(show_duration(-5ms), "0 ms");
    EXPECT_EQ(show_duration(999ms), "999 ms");
    EXPECT_EQ(show_duration(5s), "5 s");
    EXPECT_EQ(show_duration(200s), "3 min 20 s");
    EXPECT_EQ(show_duration(2h), "2 h");
    EXPECT_EQ(show_duration(2h + 5s), "2 h");
    EXPECT_EQ(show_duration(76h), "3 d 4 h");
}

TEST(Permits, AreReadFromTheRight) {
    EXPECT_EQ(parse_permits("gpu/8"), (claim{"gpu", claim_mode::permits, 1, 8}));
    EXPECT_EQ(parse_permits("team/gpu:2/8"), (claim{"team/gpu", claim_mode::permits, 2, 8}));
    EXPECT_EQ(parse_permits("a:b:1/8"), (claim{"a:b", claim_mode::permits, 1, 8}));
    EXPECT_EQ(parse_permits("a:2:1/8"), (claim{"a:2", claim_mode::permits, 1, 8}));
    EXPECT_EQ(parse_permits("a::1/8"), (claim{"a:", claim_mode::permits, 1, 8}));
    EXPECT_EQ(parse_permits("a = b:3/8"), (claim{"a = b", claim_mode::permits, 3, 8}));
    for (const char* wrong : {"", "gpu", "gpu/", "/8", "gpu:0/8", "gpu:9/8", "gpu/0", "gpu/65537", "gpu/-1", "gpu/8 "})
        EXPECT_THROW(static_cast<void>(parse_permits(wrong)), failure) << wrong;
}

/// A mistyped count must not become a part of the name.
TEST(Permits, RefusesANameThatMayContainAMistypedCount) {
    for (const char* wrong : {"gpu:two/8", "gpu:-1/8", "gpu:+1/8", "gpu: 2/8", "gpu:2 /8", "gpu:2.0/8", "gpu:0x2/8",
                              "gpu=2/8", "gpu 2/8", "gpu\t2/8", "a:b/8", "a:/8", "gpu:99999999999/8"})
        EXPECT_THROW(static_cast<void>(parse_permits(wrong)), failure) << wrong;
}

TEST(StopSequence, ReturnsTermOnceAndThenKillAtEveryCall) {
    stop_sequence stop;
    EXPECT_EQ(stop.due(start), stop_step::none);
    stop.begin(start + 1s);
    EXPECT_EQ(stop.due(start), stop_step::terminate);
    EXPECT_EQ(stop.due(start + 999ms), stop_step::none);
    EXPECT_EQ(stop.due(start + 1s), stop_step::kill);
    EXPECT_EQ(stop.due(start + 2s), stop_step::kill);
}

TEST(StopSequence, KeepsTheEarliestTimeOfKill) {
    stop_sequence stop;
    stop.begin(start + 2s);
    stop.begin(start + 1s);
    stop.begin(start + 3s);
    EXPECT_EQ(stop.next(), start + 1s);
}

TEST(StopSequence, LeavesTimeForKillBeforeTheLeaseEnds) {
    const stop_times times = stop_times_for({.ttl = 10s}, {});
    EXPECT_EQ(times.kill_after, 2500ms);
    const steady_time end = start + 10s;
    EXPECT_LT(times.kill_at(end), end);
    EXPECT_EQ(times.terminate_at(end), end - times.reserve - 2500ms);
    EXPECT_EQ(times.kill_after_term(start, end), start + 2500ms);
    EXPECT_EQ(times.kill_after_term(end - 1s, end), end - times.reserve) << "less time if there is less";
    EXPECT_EQ(stop_times_for({.ttl = 10s}, 9s).kill_after, 5s) << "half of the ttl at most";
}

/// A lease is renewed every third of the ttl. TERM must not be due in the time that is left just before a renewal.
TEST(StopSequence, DoesNotBeginBetweenTwoRenewals) {
    for (const milliseconds ttl : {100ms, 1'000ms, 10'000ms, 15'000ms}) {
        const stop_times times = stop_times_for({.ttl = ttl}, ttl / 2);
        const milliseconds margin = std::max(ttl * 3 / 100, 20ms);
        const milliseconds least = ttl - margin - ttl / 3;
        EXPECT_LT(times.kill_after + times.reserve, least) << ttl.count();
    }
}

/// A store may prescribe a renewal interval that is longer than a third of the ttl.
TEST(StopSequence, DoesNotBeginBetweenTwoRenewalsThatTheStorePrescribes) {
    const stop_times times = stop_times_for({.ttl = 3s, .renew_every = 1500ms}, 1500ms);
    EXPECT_LT(times.kill_after + times.reserve, 3s - 90ms - 1500ms);
}

/// A hold limit may be much shorter than the ttl, which only says how often the lease is renewed.
TEST(StopSequence, FitsIntoAHoldLimit) {
    const stop_times times = stop_times_for({.ttl = 180s, .hold_limit = 2s}, {});
    EXPECT_EQ(times.kill_after, 500ms);
    EXPECT_GT(times.terminate_at(start + 2s), start + 1s);
    EXPECT_EQ(stop_times_for({.ttl = 180s, .hold_limit = 2s}, 9s).kill_after, 1s) << "half of the limit at most";
    EXPECT_EQ(stop_times_for({.ttl = 10s, .hold_limit = 1h}, {}).kill_after, 2500ms)
        << "a longer limit changes nothing";
}

TEST(Keeper, RenewsForAStoppedBaton) {
    keeper keeper;
    EXPECT_FALSE(keeper.due(start)) << "there is no session yet";
    EXPECT_FALSE(keeper.interval());
    keeper.keep({.address = "local:", .session = {1, 2}, .ttl = 900ms});
    EXPECT_TRUE(keeper.due(start)) << "baton's last renewal may be a third of the ttl old";
    EXPECT_FALSE(keeper.due(start + 299ms));
    EXPECT_TRUE(keeper.due(start + 300ms));
    keeper.saw_running();
    EXPECT_TRUE(keeper.due(start + 310ms)) << "stopped again";
}

/// Baton renews every third of the ttl, and may then be stopped for `interval` before the guardian notices.
TEST(Keeper, NoticesAStoppedBatonInTime) {
    keeper keeper;
    keeper.keep({.address = "local:", .session = {1, 2}, .ttl = 900ms});
    EXPECT_LT(*keeper.interval() + 300ms, 450ms) << "before half of the ttl has passed";
}

TEST(StatusLine, IsDueAfter1And10And60SecondsAndThenEvery5Minutes) {
    EXPECT_EQ(next_line(0ms), 1s);
    EXPECT_EQ(next_line(1s), 10s);
    EXPECT_EQ(next_line(10s), 60s);
    EXPECT_EQ(next_line(60s), 300s);
    EXPECT_EQ(next_line(300s), 600s);
}

TEST(StatusLine, NamesTheHolderAndTheQueuePosition) {
    client holder{"memory:waiting-line", {.label = "job 1 on here · nightly\x1b[31m"}};
    client ahead{"memory:waiting-line", {.label = "job 2 on here"}};
    client us{"memory:waiting-line", {.label = "job 3 on here"}};
    const lease held = holder.acquire(exclusive("a"));
    std::stop_source stop;
    ahead.async_acquire(exclusive("a"), {}, stop.get_token(), [](std::error_code, lease) {});
    static_cast<void>(ahead.inspect());
    us.async_acquire(exclusive("a", "b"), {}, stop.get_token(), [](std::error_code, lease) {});
    const claim_list claims = exclusive("a", "b").list();
    const snapshot seen = us.inspect();
    const waiting_view view = view_of(seen, "job 3 on here", claims);
    EXPECT_EQ(view.position, 2U);
    EXPECT_TRUE(view.holds);
    const std::string text = waiting_text(view, claims, 65s);
    EXPECT_TRUE(text.starts_with("waiting for a, b, 1 min 5 s, position 2; a held for ")) << text;
    EXPECT_NE(text.find(" by job 1 on here · nightly\\x1b[31m, alive "), std::string::npos) << text;
    stop.request_stop();
}

TEST(StatusLine, LeavesOutUnknownParts) {
    EXPECT_EQ(waiting_text({}, exclusive("a").list(), 1s), "waiting for a, 1 s");
    waiting_view paused;
    paused.paused = 9s;
    EXPECT_NE(waiting_text(paused, exclusive("a").list(), 1s).find("paused for another 9 s"), std::string::npos);
}

/// The holder's note is left out last.
TEST(StatusLine, KeepsTheNoteOnANarrowTerminal) {
    waiting_view view;
    view.position = 1;
    view.resource = "nightly";
    view.holder = "job.sh 4711 on web1.example.org · web 4.2";
    view.holds = true;
    view.since = 200s;
    view.silence = 2s;
    const claim_list claims = exclusive("nightly").list();
    EXPECT_EQ(waiting_text(view, claims, 12s, 200),
              "waiting for nightly, 12 s, next in the queue; held for 3 min 20 s by job.sh 4711 on web1.example.org · "
              "web 4.2, alive 2 s ago");
    EXPECT_EQ(waiting_text(view, claims, 12s, 72),
              "waiting for nightly, 12 s; held for 3 min 20 s by job.sh 4711 · web 4.2");
    EXPECT_EQ(waiting_text(view, claims, 12s, 50), "waiting for nightly, 12 s; held by job.sh · web 4…");
    view.holder = "a program of another kind";
    EXPECT_EQ(waiting_text(view, claims, 12s, 60), "waiting for nightly, 12 s; held by a program of another kind");
}

TEST(StatusLine, IsCutBetweenCharacters) {
    EXPECT_EQ(cut("abcdef", 6), "abcdef");
    EXPECT_EQ(cut("abcdef", 5), "abcd…");
    EXPECT_EQ(cut("äöüäöü", 5), "äöüä…");
}

TEST(Environment, FindsEnclosingRunsAtTheSameAddressOnly) {
    run_options options;
    options.claims = {{"a", claim_mode::exclusive, 0, 0}};
    options.address = {"local:", ""};
    const std::vector<std::string> around{"BATON_AROUND=redis://h\tb\nlocal:\ta", "BATON_URL=local:"};
    EXPECT_EQ(held_around(around, options), "a");
    options.address.space = "default";
    EXPECT_EQ(held_around(around, options), "a");
    options.address.space = "other";
    EXPECT_FALSE(held_around(around, options));
    options.address = {"redis://h", ""};
    EXPECT_FALSE(held_around(around, options));
    options.address = {"local:", ""};
    options.claims = {{"b\nlocal:\ta", claim_mode::exclusive, 0, 0}};
    EXPECT_FALSE(held_around(around, options)) << "a line break in a name is not one between names";
}

/// Scans may miss a chain of processes that fork and exit for a second: that is not a refusal.
TEST(Refusals, ProcessesThatAreNotFoundAreNotSurvivors) {
    refusals refusals{milliseconds{1'000}};
    steady_time now;
    for (int round = 0; round < 1'000; ++round)
        refusals.note({.reached = 0, .refused = 0, .unknown = 0}, now += milliseconds{5});
    EXPECT_EQ(refusals.survivors(), 0U);
}

TEST(Refusals, ProcessesThatCannotBeInspectedAreNotSurvivors) {
    refusals refusals{milliseconds{1'000}};
    steady_time now;
    for (int round = 0; round < 1'000; ++round)
        refusals.note({.reached = 0, .refused = 2, .unknown = 1}, now += milliseconds{5});
    EXPECT_EQ(refusals.survivors(), 0U);
}

TEST(Refusals, ProcessesThatCannotBeKilledForASecondAreSurvivors) {
    refusals refusals{milliseconds{1'000}};
    steady_time now;
    for (int round = 0; round < 150; ++round)
        refusals.note({.reached = 0, .refused = 2, .unknown = 0}, now += milliseconds{5});
    refusals.note({.reached = 1, .refused = 2, .unknown = 0}, now += milliseconds{5});
    for (int round = 0; round < 150; ++round)
        refusals.note({.reached = 0, .refused = 2, .unknown = 0}, now += milliseconds{5});
    EXPECT_EQ(refusals.survivors(), 0U) << "a process was killed in between";
    for (int round = 0; round < 100; ++round)
        refusals.note({.reached = 0, .refused = 2, .unknown = 0}, now += milliseconds{5});
    EXPECT_EQ(refusals.survivors(), 2U);
}

TEST(SweepPlan, EndsAfterTwoCleanPassesInARow) {
    agent::sweep_plan plan{steady_time{}};
    steady_time now;
    EXPECT_FALSE(plan.passed(true, now += milliseconds{5}));
    EXPECT_FALSE(plan.passed(false, now += milliseconds{5}));
    EXPECT_FALSE(plan.passed(true, now += milliseconds{5}));
    EXPECT_TRUE(plan.passed(true, now += milliseconds{5}));
}

TEST(SweepPlan, EndsAtItsTimeLimit) {
    agent::sweep_plan plan{steady_time{}};
    EXPECT_FALSE(plan.passed(false, steady_time{} + agent::sweep_plan::longest - milliseconds{1}));
    EXPECT_TRUE(plan.passed(false, steady_time{} + agent::sweep_plan::longest));
}

TEST(ControlGroup, PathBelongsToItsCookieOnly) {
    const std::string cookie(32, 'a');
    EXPECT_TRUE(is_control_group_of("/sys/fs/cgroup/user/baton-" + cookie, cookie));
    EXPECT_FALSE(is_control_group_of("/sys/fs/cgroup/user/baton-" + cookie, std::string(32, 'b')));
    EXPECT_FALSE(is_control_group_of("/sys/fs/cgroup/system.slice", cookie));
    EXPECT_FALSE(is_control_group_of("relative/baton-" + cookie, cookie));
    EXPECT_FALSE(is_control_group_of("/a/../b/baton-" + cookie, cookie));
    EXPECT_FALSE(is_control_group_of("", cookie));
}

}  // namespace
}  // namespace baton::cli
