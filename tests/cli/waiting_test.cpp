// Waits, losses and messages of `baton run`, with other clients in the same engine.
#include <signal.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "baton.hpp"

namespace baton::testing {
namespace {

class Waiting : public Cli {
protected:
    /// `baton run -l a …` with the given plays of other clients.
    [[nodiscard]] start_options with(std::vector<std::string> plays, std::vector<std::string> options,
                                     const std::string& script) const {
        start_options started = run_shell(std::move(options), script);
        started.arguments.front() = "--";
        plays.insert(plays.begin(), BATON_CONTENDED);
        plays.insert(plays.end(), {"--report", file("report")});
        started.arguments.insert(started.arguments.begin(), plays.begin(), plays.end());
        return started;
    }
    [[nodiscard]] std::string file(const std::string& name) const { return folder_.path(name); }
    void make(const std::string& name) const { std::ofstream{file(name)} << "x"; }
    [[nodiscard]] std::string report() const { return contents(file("report")); }
    [[nodiscard]] bool there(const std::string& name) const {
        return eventually([&] { return !contents(file(name)).empty(); });
    }
};

TEST_F(Waiting, RunNamesTheHolderAndIsGranted) {
    child baton{with({"--hold-until", file("go")}, {}, "echo mine")};
    EXPECT_TRUE(baton.complains("waiting for a, 1 s, next in the queue; held for ")) << baton.err();
    EXPECT_TRUE(baton.complains(" by other 1 on here · its note, alive ")) << baton.err();
    EXPECT_EQ(baton.out(), "");
    make("go");
    EXPECT_EQ(baton.wait(), 0);
    EXPECT_EQ(baton.out(), "mine\n");
}

TEST_F(Waiting, StatusLineIsRedrawnOnATerminal) {
    start_options options = with({"--hold-until", file("go")}, {}, "echo mine");
    options.on_terminal = true;
    child baton{options};
    EXPECT_TRUE(baton.says("\r\x1b[Kbaton: waiting for a, 2 s")) << baton.out();
    EXPECT_EQ(baton.out().find('\n'), std::string::npos) << "one line";
    make("go");
    EXPECT_EQ(baton.wait(), 0);
    EXPECT_NE(baton.out().find("\r\x1b[Kmine\r\n"), std::string::npos) << "the status line is gone: " << baton.out();
}

TEST_F(Waiting, StatusLineIsNotRedrawnOnADumbTerminal) {
    start_options options = with({"--hold-until", file("go")}, {}, "echo mine");
    options.on_terminal = true;
    options.environment.erase("TERM");
    child baton{options};
    EXPECT_TRUE(baton.says("baton: waiting for a, 1 s")) << baton.out();
    EXPECT_EQ(baton.out().find('\x1b'), std::string::npos);
    make("go");
    EXPECT_EQ(baton.wait(), 0);
}

TEST_F(Waiting, JsonEventsReportTheWait) {
    child baton{with({"--hold-until", file("go")}, {"--json"}, "true")};
    EXPECT_TRUE(baton.complains("\"waiting\"")) << baton.err();
    make("go");
    EXPECT_EQ(baton.wait(), 0);
    std::vector<std::string> events;
    std::istringstream lines{baton.err()};
    for (std::string line; std::getline(lines, line);) {
        const auto event = nlohmann::json::parse(line);
        events.push_back(event["event"]);
        if (events.back() != "waiting") continue;
        EXPECT_EQ(event["by"], "other 1 on here · its note");
    }
    EXPECT_EQ(events, (std::vector<std::string>{"waiting", "granted", "started", "ended"}));
}

TEST_F(Waiting, QuietPrintsNothing) {
    child baton{with({"--hold-until", file("go")}, {"-q", "-w", "1200ms"}, "true")};
    EXPECT_EQ(baton.wait(), 75);
    EXPECT_EQ(baton.err(), "");
}

TEST_F(Waiting, BusyAndTimeoutEndWith75OrTheGivenCode) {
    child busy{with({"--hold-until", file("go")}, {"-n"}, "echo no")};
    EXPECT_EQ(busy.wait(), 75);
    EXPECT_TRUE(busy.complains("cannot acquire a: busy")) << busy.err();
    child late{with({"--hold-until", file("go")}, {"-w", "50ms", "-E", "9"}, "echo no")};
    EXPECT_EQ(late.wait(), 9);
    EXPECT_TRUE(late.complains("timed out after 50 ms")) << late.err();
    EXPECT_EQ(busy.out() + late.out(), "");
    EXPECT_EQ(report(), "a holders 1 queue 0 marks 0\n");
}

TEST_F(Waiting, TimeoutShowsTheRequestedWaitExactly) {
    child late{with({"--hold-until", file("go")}, {"-w", "1500ms"}, "echo no")};
    EXPECT_EQ(late.wait(), 75);
    EXPECT_TRUE(late.complains("timed out after 1.5 s waiting for a")) << late.err();
}

TEST_F(Waiting, WaitOfZeroAcquiresAFreeName) {
    child free{run({"-w", "0"}, {"true"})};
    EXPECT_EQ(free.wait(), 0) << free.err();
}

TEST_F(Waiting, SignalEndsTheWaitAtOnce) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1}) {
        child baton{with({"--hold-until", file("go")}, {}, "echo no")};
        ASSERT_TRUE(baton.complains("waiting for a")) << baton.err();
        baton.signal(signal);
        EXPECT_EQ(baton.wait(), 128 + signal);
        EXPECT_EQ(baton.ended_by(), signal) << "so that a shell sees the signal";
        EXPECT_EQ(baton.out(), "");
    }
}

TEST_F(Waiting, KilledGuardianEndsTheWaitWith70) {
    child baton{with({"--hold-until", file("go")}, {}, "echo no")};
    ASSERT_TRUE(baton.complains("waiting for a")) << baton.err();
    ::kill(guardian_of(baton.id()), SIGKILL);
    EXPECT_EQ(baton.wait(), 70);
    EXPECT_EQ(baton.out(), "");
}

TEST_F(Waiting, CommandThatExitsWith0RemovesTheMark) {
    child baton{with({"--abandoned"}, {}, "echo marked-$BATON_ABANDONED-")};
    EXPECT_EQ(baton.wait(), 0);
    EXPECT_EQ(baton.out(), "marked-a-\n");
    EXPECT_TRUE(baton.complains("a is marked as abandoned: its last holder, other 2 on here, did not")) << baton.err();
    EXPECT_EQ(report(), "") << "no mark and no holder";
}

TEST_F(Waiting, CommandThatFailsKeepsTheMark) {
    child baton{with({"--abandoned"}, {}, "exit 3")};
    EXPECT_EQ(baton.wait(), 3);
    EXPECT_EQ(report(), "a holders 0 queue 0 marks 1\n");
}

TEST_F(Waiting, IfAbandonedFailDoesNotRunTheCommand) {
    child baton{with({"--abandoned"}, {"--if-abandoned", "fail"}, "echo no")};
    EXPECT_EQ(baton.wait(), 65);
    EXPECT_EQ(baton.out(), "");
    EXPECT_EQ(report(), "a holders 0 queue 0 marks 1\n");
}

TEST_F(Waiting, RevokeStopsTheCommandAndMarksTheName) {
    child baton{with({"--revoke-when", file("now")}, {}, "trap 'echo asked; exit 1' TERM; echo up; sleep 1000 & wait")};
    ASSERT_TRUE(baton.says("up"));
    make("now");
    EXPECT_EQ(baton.wait(), 76) << baton.err();
    EXPECT_EQ(baton.out(), "up\nasked\n");
    EXPECT_TRUE(baton.complains("an operator revoked it")) << baton.err();
    EXPECT_EQ(report(), "a holders 0 queue 0 marks 1\n") << "the command did not finish";
}

TEST_F(Waiting, RunShowsTheOperatorsNote) {
    child plain{with({"--revoke-when", file("now")}, {}, "echo up; exec sleep 1000")};
    ASSERT_TRUE(plain.says("up"));
    make("now");
    EXPECT_EQ(plain.wait(), 76);
    EXPECT_TRUE(plain.complains("an operator revoked it: please\\x1b[31m; stopping")) << plain.err();
    child json{with({"--revoke-when", file("again")}, {"--json"}, "exec sleep 1000")};
    ASSERT_TRUE(json.complains("\"started\"")) << json.err();
    make("again");
    EXPECT_EQ(json.wait(), 76);
    std::istringstream lines{json.err()};
    nlohmann::json lost;
    for (std::string line; std::getline(lines, line);)
        if (const auto event = nlohmann::json::parse(line); event["event"] == "lost") lost = event;
    EXPECT_EQ(lost["reason"], "revoked");
    EXPECT_EQ(lost["note"], "please\x1b[31m");
}

/// The command could not finish its work, so the next run must be warned.
TEST_F(Waiting, CommandThatIsKilledOrCrashesLeavesAMark) {
    for (const char* signal : {"KILL", "SEGV", "ABRT", "XCPU"}) {
        child baton{with({}, {}, std::string{"kill -"} + signal + " $$")};
        EXPECT_GT(baton.wait().value_or(0), 128);
        EXPECT_EQ(report(), "a holders 0 queue 0 marks 1\n") << signal;
        EXPECT_TRUE(baton.complains("marked as abandoned")) << baton.err();
    }
}

TEST_F(Waiting, CommandThatFailsOrLosesItsReaderLeavesNoMark) {
    for (const char* end : {"exit 1", "exit 137", "kill -PIPE $$"}) {
        child baton{with({}, {}, end)};
        EXPECT_NE(baton.wait().value_or(0), 0);
        EXPECT_EQ(report(), "") << end;
        EXPECT_EQ(baton.err(), "");
    }
}

TEST_F(Waiting, CommandThatExitsWith0OnTermLeavesNoMark) {
    child baton{with({"--revoke-when", file("now")}, {}, "trap 'exit 0' TERM; echo up; sleep 1000 & wait")};
    ASSERT_TRUE(baton.says("up"));
    make("now");
    EXPECT_EQ(baton.wait(), 76) << baton.err();
    EXPECT_EQ(report(), "");
}

TEST_F(Waiting, CommandIsStoppedBeforeTheLeaseEndsIfTheEngineIsSilent) {
    child baton{
        with({"--silence-when", file("now")}, {"-t", "600ms"}, "trap '' TERM; echo up; while :; do sleep 1000; done")};
    ASSERT_TRUE(baton.says("up"));
    make("now");
    EXPECT_EQ(baton.wait(), 76) << baton.err();
    EXPECT_TRUE(baton.complains("could not be renewed")) << baton.err();
}

TEST_F(Waiting, ShortOutageHasNoEffect) {
    child baton{with({"--outage-when", file("now")}, {"-t", "1s", "-k", "500ms"},
                     "echo up; while ! [ -e " + file("end") + " ]; do sleep 0.02; done; exit 5")};
    ASSERT_TRUE(baton.says("up"));
    make("now");
    // Longer than the lease lasts without a renewal.
    EXPECT_FALSE(baton.wait(milliseconds{1'500})) << baton.err();
    make("end");
    EXPECT_EQ(baton.wait(), 5);
    EXPECT_EQ(baton.err(), "");
}

TEST_F(Waiting, OnLostIgnoreLetsTheCommandRun) {
    child baton{with({"--silence-when", file("now")}, {"-t", "300ms", "--on-lost", "ignore"},
                     "echo up; while ! [ -e " + file("end") + " ]; do sleep 0.02; done; exit 5")};
    ASSERT_TRUE(baton.says("up"));
    make("now");
    EXPECT_TRUE(baton.complains("the command runs on without it")) << baton.err();
    make("end");
    EXPECT_EQ(baton.wait(), 5);
}

/// The guardian is stopped: baton kills the command, because the guardian's tree is below baton too.
TEST_F(Waiting, BatonKillsTheCommandOfAStoppedGuardian) {
    const std::string word = unique_word();
    child baton{with({"--silence-when", file("now")}, {"-t", "600ms"}, "echo up; exec sleep " + word)};
    ASSERT_TRUE(baton.says("up"));
    const pid_t guardian = guardian_of(baton.id());
    ::kill(guardian, SIGSTOP);
    make("now");
    EXPECT_TRUE(eventually([&] { return processes_with(std::string{"sleep\0", 6} + word).empty(); }));
    ::kill(guardian, SIGCONT);
    EXPECT_EQ(baton.wait(), 76) << baton.err();
}

}  // namespace
}  // namespace baton::testing
