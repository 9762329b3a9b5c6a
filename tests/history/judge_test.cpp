// For each rule of the judge, a history that breaks only this rule, and a similar one that breaks none.
#include "judge.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace baton::history {
namespace {

using lines = std::vector<std::string>;

constexpr demands nothing{0, 0, 0, 0, 0};

verdict judged(const lines& lines, const demands& least = nothing) {
    std::string log;
    for (const std::string& line : lines) log += line + "\n";
    return judge(read(log), least);
}

void expect_sound(const lines& lines) {
    const verdict verdict = judged(lines);
    EXPECT_TRUE(verdict.sound()) << verdict.report();
}

/// Expects that only this rule is broken, by these two lines (second: 0 if there is none).
void expect_broken(rule rule, const lines& lines, std::size_t first, std::size_t second) {
    const verdict verdict = judged(lines);
    ASSERT_EQ(verdict.broken(), std::vector{rule}) << verdict.report();
    EXPECT_EQ(verdict.found[0].first.number, first) << verdict.report();
    EXPECT_EQ(verdict.found[0].second.number, second) << verdict.report();
}

/// Two windows on one resource, [10, 20) and [from, 40).
lines two(const std::string& first, const std::string& second, int from, const std::string& slots = "") {
    return {"1 a asked 1 claim=" + first,
            "2 b asked 1 claim=" + second,
            "10 a held 1 fence=1 ticket=1" + slots,
            std::to_string(from) + " b held 1 fence=2 ticket=2" + slots,
            "20 a released 1",
            "40 b released 1"};
}

TEST(HistoryJudge, TwoExclusiveHoldersContradict) {
    expect_broken(rule::exclusion, two("exclusive:x", "exclusive:x", 19), 3, 4);
    expect_sound(two("exclusive:x", "exclusive:x", 20));
    expect_sound(two("exclusive:x", "exclusive:y", 11));
}

TEST(HistoryJudge, SharedAndExclusiveHoldersContradict) {
    expect_broken(rule::exclusion, two("shared:x", "exclusive:x", 19), 3, 4);
    expect_broken(rule::exclusion, two("exclusive:x", "shared:x", 19), 3, 4);
    expect_sound(two("shared:x", "shared:x", 11));
}

TEST(HistoryJudge, PermitsFitWithPermitsOnly) {
    const auto mixed = judged(two("permits:x:1/2", "shared:x", 19, " slots=x:0")).broken();
    EXPECT_EQ(mixed, std::vector{rule::exclusion});
    const auto exclusive = judged(two("permits:x:1/2", "exclusive:x", 19, " slots=x:0")).broken();
    EXPECT_EQ(exclusive, std::vector{rule::exclusion});
}

TEST(HistoryJudge, AllResourcesOfARequestAreChecked) {
    expect_broken(rule::exclusion,
                  {"1 a asked 1 claim=exclusive:x claim=exclusive:y", "1 b asked 1 claim=exclusive:y",
                   "10 a held 1 fence=1", "11 b held 1 fence=2", "20 a released 1", "20 b released 1"},
                  3, 4);
}

TEST(HistoryJudge, AWindowEndsWithTheLastMomentOfAValidLease) {
    // The loss was reported at 30, but the lease was last found valid at 18.
    lines log = two("exclusive:x", "exclusive:x", 19);
    log[4] = "18 a lost 1";
    expect_sound(log);
}

TEST(HistoryJudge, AMomentOfAValidLeaseIsAWindow) {
    lines log = two("exclusive:x", "exclusive:x", 15);
    log[3] = "15 b held 1 fence=2 ticket=2 until=60";
    log[5] = "15 b lost 1";
    expect_broken(rule::exclusion, log, 3, 4);
}

TEST(HistoryJudge, AGrantThatArrivedTooLateIsNoWindow) {
    lines log = two("exclusive:x", "exclusive:x", 15);
    log[3] = "15 b held 1 fence=2 ticket=2 until=15";
    log[5] = "15 b lost 1";
    expect_sound(log);
}

TEST(HistoryJudge, AKilledHoldersWindowEndsAtItsDeath) {
    lines log = two("exclusive:x", "exclusive:x", 19);
    log[4] = "19 harness killed a";
    expect_sound(log);
    log[4] = "21 harness killed a";
    expect_broken(rule::exclusion, log, 3, 4);
}

TEST(HistoryJudge, AKilledHoldersWindowEndsAtItsDeadlineAtTheLatest) {
    // The process was stopped at 12 and killed at 35, without a check in between.
    lines log = two("exclusive:x", "exclusive:x", 19);
    log[2] += " until=18";
    log[4] = "35 harness killed a";
    expect_sound(log);
    log[4] = "11 a still 1 until=25";
    log.emplace_back("35 harness killed a");
    expect_broken(rule::exclusion, log, 3, 4);
}

TEST(HistoryJudge, PermitsStayWithinTheLimit) {
    const auto log = [](const std::string& limit, int from) {
        return lines{"1 a asked 1 claim=permits:x:2/" + limit,
                     "1 b asked 1 claim=permits:x:2/" + limit,
                     "10 a held 1 fence=1 slots=x:0,1",
                     std::to_string(from) + " b held 1 fence=2 slots=x:2,3",
                     "20 a released 1",
                     "40 b released 1"};
    };
    expect_sound(log("4", 11));
    const auto three = judged(log("3", 11)).broken();
    EXPECT_EQ(three, (std::vector{rule::limit, rule::slots})) << "the number of slots is wrong too";
}

TEST(HistoryJudge, ASlotHasOneHolder) {
    expect_broken(rule::slots, two("permits:x:1/2", "permits:x:1/2", 19, " slots=x:1"), 3, 4);
    expect_sound(two("permits:x:1/2", "permits:x:1/2", 20, " slots=x:1"));
}

TEST(HistoryJudge, SlotsAreAsManyAsPermitsAndBelowTheLimit) {
    expect_broken(rule::slots, {"1 a asked 1 claim=permits:x:1/2", "2 a held 1 fence=1 slots=x:2", "3 a released 1"}, 2,
                  0);
    expect_broken(rule::slots, {"1 a asked 1 claim=permits:x:2/2", "2 a held 1 fence=1 slots=x:0", "3 a released 1"}, 2,
                  0);
    expect_broken(rule::slots, {"1 a asked 1 claim=permits:x:1/2", "2 a held 1 fence=1", "3 a released 1"}, 2, 0);
}

TEST(HistoryJudge, NoFenceOccursTwice) {
    lines log = two("exclusive:x", "exclusive:y", 11);
    log[3] = "11 b held 1 fence=1 ticket=2";
    expect_broken(rule::fence_once, log, 3, 4);
}

TEST(HistoryJudge, FencesGrowOnAResource) {
    lines log = two("exclusive:x", "exclusive:x", 20);
    log[2] = "10 a held 1 fence=3";
    log[3] = "20 b held 1 fence=2";
    expect_broken(rule::fence_grows, log, 3, 4);
    // A shared holder may receive its grant later than the next holder.
    log = two("shared:x", "shared:x", 11);
    log[2] = "10 a held 1 fence=3";
    log[3] = "11 b held 1 fence=2";
    expect_sound(log);
}

TEST(HistoryJudge, AHolderWithoutAValidLeaseMayReceiveItsGrantLate) {
    // a was granted first, was stopped before it checked its lease, and continued when b held.
    lines log = two("exclusive:x", "exclusive:x", 20);
    log[2] = "25 a held 1 fence=1 ticket=1 until=25";
    log[4] = "25 a lost 1";
    expect_sound(log);
}

TEST(HistoryJudge, FencesGrowOverAllResources) {
    expect_broken(rule::fence_grows,
                  {"1 a asked 1 claim=exclusive:x", "2 a held 1 fence=5", "3 a released 1",
                   "4 b asked 1 claim=exclusive:y", "5 b held 1 fence=4", "6 b released 1"},
                  2, 5);
    // b's acquire began before a's fence was known, so either may be first.
    expect_sound({"1 a asked 1 claim=exclusive:x", "1 b asked 1 claim=exclusive:y", "2 a held 1 fence=5",
                  "3 a released 1", "5 b held 1 fence=4", "6 b released 1"});
}

TEST(HistoryJudge, TicketsFollowTheArrival) {
    expect_broken(rule::ticket_grows,
                  {"1 a asked 1 claim=exclusive:x", "2 a queued 1 ticket=8", "3 b asked 1 claim=exclusive:y",
                   "4 b held 1 fence=9 ticket=7", "5 b released 1", "6 a held 1 fence=10 ticket=8", "7 a released 1"},
                  2, 4);
    // A ticket without a request.
    expect_broken(
        rule::ticket_grows,
        {"2 a queued 0 ticket=8", "3 b asked 1 claim=exclusive:y", "4 b held 1 fence=9 ticket=7", "5 b released 1"}, 1,
        3);
}

/// b was granted before a, although a has the smaller ticket.
lines overtaken(const std::string& a, const std::string& b) {
    return {"1 a asked 1" + a,
            "1 b asked 1" + b,
            "10 b held 1 fence=1 ticket=2 slots=x:0",
            "20 b released 1",
            "30 a held 1 fence=2 ticket=1 slots=x:1",
            "40 a released 1"};
}

TEST(HistoryJudge, AWaiterWhoseSessionWasLostMayBeOvertaken) {
    const auto with = [](const std::string& line) {
        lines log = overtaken(" claim=exclusive:x", " claim=exclusive:x");
        log.insert(log.begin() + 4, line);
        return log;
    };
    expect_sound(with("25 a reopened 0"));
    expect_sound(with("25 b reopened 0"));
    expect_broken(rule::order, with("25 c reopened 0"), 3, 6);
    expect_broken(rule::order, with("1 a reopened 0"), 3, 6);
    expect_broken(rule::order, with("500000031 a reopened 0"), 3, 6);
}

TEST(HistoryJudge, GrantsComeInTheOrderOfTickets) {
    expect_broken(rule::order, overtaken(" claim=exclusive:x", " claim=exclusive:x"), 3, 5);
    expect_broken(rule::order, overtaken(" claim=exclusive:x", " claim=shared:x"), 3, 5);
    expect_broken(rule::order, overtaken(" claim=shared:x", " claim=exclusive:x"), 3, 5);
    expect_sound(overtaken(" claim=exclusive:x", " claim=exclusive:y"));
}

TEST(HistoryJudge, AWaiterForOneResourceIsNotOvertakenInTheSameMode) {
    expect_broken(rule::order, overtaken(" claim=shared:x", " claim=shared:x"), 3, 5);
    expect_broken(rule::order, overtaken(" claim=permits:x:1/2", " claim=permits:x:1/2"), 3, 5);
}

TEST(HistoryJudge, AWaiterForSeveralResourcesMayBeOvertakenInTheSameMode) {
    expect_sound(overtaken(" claim=shared:x claim=exclusive:y", " claim=shared:x"));
    expect_broken(rule::order, overtaken(" claim=exclusive:x claim=exclusive:y", " claim=shared:x"), 3, 5);
}

TEST(HistoryJudge, EveryRequestIsGranted) {
    expect_broken(rule::served, {"1 a asked 1 claim=exclusive:x"}, 1, 0);
    expect_broken(rule::served, {"1 a asked 1 claim=exclusive:x", "2 a refused 1 why=unavailable"}, 1, 2);
    expect_sound({"1 a asked 1 claim=exclusive:x", "2 a gave_up 1"});
    expect_sound({"1 a asked 1 claim=exclusive:x", "2 harness killed a"});
}

TEST(HistoryJudge, EveryHolderEnds) {
    expect_broken(rule::served, {"1 a asked 1 claim=exclusive:x", "2 a held 1 fence=1"}, 2, 0);
    expect_sound({"1 a asked 1 claim=exclusive:x", "2 a held 1 fence=1", "3 harness killed a"});
}

TEST(HistoryJudge, AnInconsistentLogIsReported) {
    const std::string asked = "1 a asked 1 claim=exclusive:x";
    const std::string held = "2 a held 1 fence=1";
    const std::string released = "3 a released 1";
    expect_broken(rule::sense, {"what is this?"}, 0, 1);
    expect_broken(rule::sense, {held}, 0, 1);
    expect_broken(rule::sense, {asked, asked, held, released}, 1, 2);
    expect_broken(rule::sense, {asked, held, held, released}, 2, 3);
    expect_broken(rule::sense, {asked, held, released, released}, 3, 4);
    expect_broken(rule::sense, {asked, "2 a gave_up 1", held}, 2, 3);
    expect_broken(rule::sense, {asked, held, "3 a gave_up 1", released}, 2, 3);
    expect_broken(rule::sense, {asked, "2 a still 1", held, released}, 1, 2);
    expect_broken(rule::sense, {asked, "2 a lost 1", held, released}, 1, 2);
}

TEST(HistoryJudge, AnIncompleteLineIsReported) {
    const verdict verdict = judge(read("1 a asked 1 claim=exclusive:x\n2 a gave_up 1"), nothing);
    EXPECT_EQ(verdict.broken(), (std::vector{rule::sense, rule::served})) << verdict.report();
}

// One hand-off: b's acquire began while a held.
TEST(HistoryJudge, ALoadThatIsTooSmallShowsNothing) {
    const lines log = two("exclusive:x", "exclusive:x", 20);
    EXPECT_TRUE(judged(log, {2, 2, 1, 2, 0}).sound());
    for (const demands& more :
         {demands{3, 0, 0, 0, 0}, {0, 3, 0, 0, 0}, {0, 0, 2, 0, 0}, {0, 0, 0, 3, 0}, {0, 0, 0, 0, 1}})
        EXPECT_EQ(judged(log, more).broken(), std::vector{rule::shows_nothing});
    EXPECT_EQ(judged({}, {}).broken(), std::vector{rule::shows_nothing}) << "an empty log proves nothing";
}

TEST(HistoryJudge, OnlyAGrantToAWaiterIsAHandOff) {
    lines log = two("exclusive:x", "exclusive:x", 20);
    log[1] = "20 b asked 1 claim=exclusive:x";
    EXPECT_EQ(judged(log).seen.handoffs, 0U) << "the name was free when b's acquire began";
    EXPECT_EQ(judged(two("shared:x", "shared:x", 20)).seen.handoffs, 0U) << "shared claims do not wait for each other";
    EXPECT_EQ(judged(two("exclusive:x", "exclusive:y", 20)).seen.handoffs, 0U);
    EXPECT_EQ(judged(two("permits:x:1/1", "permits:x:1/1", 20, " slots=x:0")).seen.handoffs, 1U);
}

TEST(HistoryJudge, LossesAreCounted) {
    lines log = two("exclusive:x", "exclusive:x", 20);
    log[4] = "20 a lost 1";
    log[5] = "40 harness killed b";
    EXPECT_EQ(judged(log).seen.losses, 2U);
}

TEST(HistoryJudge, TheReportNamesBothLines) {
    const std::string report = judged(two("exclusive:x", "exclusive:x", 19)).report();
    EXPECT_NE(report.find("exclusion: two processes believe that they hold 'x'"), std::string::npos) << report;
    EXPECT_NE(report.find("line 3: 10 a held 1 fence=1 ticket=1"), std::string::npos) << report;
    EXPECT_NE(report.find("line 4: 19 b held 1 fence=2 ticket=2"), std::string::npos) << report;
}

TEST(HistoryJudge, ALongHistoryIsJudgedInUnder20Seconds) {
    // 50,000 simultaneous shared holders, which makes every unsorted search quadratic.
    constexpr int count = 50'000;
    std::string log;
    for (int i = 1; i <= count; ++i) {
        const std::string number = std::to_string(i);
        log += "1 a asked " + number + " claim=shared:x\n";
        log += std::to_string(10 + i) + " a held " + number + " fence=" + number + " ticket=" + number + "\n";
        log += std::to_string(10 + count + i) + " a released " + number + "\n";
    }
    const auto start = std::chrono::steady_clock::now();
    const verdict verdict = judge(read(log), nothing);
    EXPECT_TRUE(verdict.sound()) << verdict.report();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{20}) << "a quadratic search takes minutes";
}

}  // namespace
}  // namespace baton::history
