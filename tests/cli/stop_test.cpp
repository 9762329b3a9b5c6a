// How a command is stopped: all processes that it started have ended before the hand-off, even if baton or the guardian
// is killed.
#include <signal.h>

#include <algorithm>

#include "baton.hpp"

namespace baton::testing {
namespace {

class Stop : public Cli {
protected:
    /// A `sleep` command with this test's word, by which the test finds the process.
    [[nodiscard]] std::string sleep() const { return "sleep " + word_; }
    [[nodiscard]] bool none_left() const {
        return eventually([this] { return processes_with(word_).empty(); });
    }
    /// The number of sleep processes, without the shells that have the word in their script.
    [[nodiscard]] std::size_t sleeps() const {
        const auto all = processes_with(std::string{"sleep\0", 6} + word_);
        return all.size();
    }
    [[nodiscard]] bool running(std::size_t count) const {
        return eventually([&] { return sleeps() == count; });
    }

    std::string word_ = unique_word();
};

TEST_F(Stop, BatonPassesSignalsOnToTheWholeGroup) {
    for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2}) {
        child baton{run_shell({}, sleep() + " & " + sleep())};
        // A shell without job control has its background jobs ignore INT and QUIT: those are stopped afterwards.
        ASSERT_TRUE(running(2));
        baton.signal(signal);
        EXPECT_EQ(baton.wait(), 128 + signal);
        EXPECT_EQ(baton.ended_by(), signal);
        EXPECT_TRUE(processes_with(word_).empty()) << "all processes end before baton";
    }
}

TEST_F(Stop, CommandThatHandlesASignalContinues) {
    child baton{run_shell({}, "trap 'echo caught' USR1; for i in 1 2 3; do " + sleep() + " & wait $!; done")};
    ASSERT_TRUE(running(1));
    baton.signal(SIGUSR1);
    EXPECT_TRUE(baton.says("caught"));
    baton.signal(SIGTERM);
    EXPECT_EQ(baton.wait(), 143);
    EXPECT_TRUE(none_left());
}

TEST_F(Stop, ProcessesThatTheCommandLeavesAreStopped) {
    child baton{run_shell({}, sleep() + " & exit 3")};
    EXPECT_EQ(baton.wait(), 3);
    EXPECT_TRUE(processes_with(word_).empty());
    EXPECT_TRUE(baton.complains("left running")) << baton.err();
}

TEST_F(Stop, ProcessesThatLeaveGroupAndSessionAreStopped) {
    child baton{run_shell(
        {}, "setsid sh -c '" + sleep() + " & " + sleep() + "' & setsid -f " + sleep() + "; sleep 0.1; exit 0")};
    EXPECT_EQ(baton.wait(), 0);
    EXPECT_TRUE(processes_with(word_).empty());
}

TEST_F(Stop, KillFollowsAnIgnoredTerm) {
    child baton{run_shell({"-m", "50ms", "-k", "50ms"}, "trap '' TERM; (trap '' TERM; while :; do " + sleep() +
                                                            "; done) & while :; do " + sleep() + "; done")};
    EXPECT_EQ(baton.wait(), 124);
    EXPECT_TRUE(processes_with(word_).empty());
}

TEST_F(Stop, StoppedProcessesAreEnded) {
    child baton{run_shell({"-m", "200ms"}, "(kill -STOP $(exec sh -c 'echo $PPID'); " + sleep() + ") & " + sleep())};
    EXPECT_EQ(baton.wait(), 124);
    EXPECT_TRUE(processes_with(word_).empty());
}

TEST_F(Stop, GuardianStopsTheTreeOfAKilledBaton) {
    child baton{run_shell({"-k", "100ms"}, "trap '' TERM; setsid -f " + sleep() + "; " + sleep() + " & while :; do " +
                                               sleep() + "; done")};
    ASSERT_TRUE(running(3));
    const pid_t guardian = guardian_of(baton.id());
    baton.signal(SIGKILL);
    EXPECT_EQ(baton.wait(), 137);
    EXPECT_TRUE(none_left());
    EXPECT_TRUE(eventually([&] { return !alive(guardian); }));
}

/// The engine hands the name off only when baton and the guardian have ended.
TEST_F(Stop, GuardianOfAKilledBatonEndsAfterTheTree) {
    child baton{run_shell({"-k", "200ms"}, "trap '' TERM; while :; do " + sleep() + "; done")};
    ASSERT_TRUE(running(1));
    const pid_t guardian = guardian_of(baton.id());
    baton.signal(SIGKILL);
    EXPECT_TRUE(eventually([&] { return !alive(guardian); }));
    EXPECT_TRUE(processes_with(word_).empty());
}

TEST_F(Stop, BatonKillsTheTreeOfAKilledGuardianAndExitsWith70) {
    child baton{
        run_shell({}, "trap '' TERM; setsid -f " + sleep() + "; " + sleep() + " & while :; do " + sleep() + "; done")};
    ASSERT_TRUE(running(3));
    ::kill(guardian_of(baton.id()), SIGKILL);
    EXPECT_EQ(baton.wait(), 70);
    EXPECT_TRUE(processes_with(word_).empty());
    EXPECT_TRUE(baton.complains("the guardian was killed")) << baton.err();
}

TEST_F(Stop, CommandDiesIfBatonAndGuardianAreKilled) {
    child baton{run_shell({}, "exec " + sleep())};
    ASSERT_TRUE(running(1));
    const pid_t guardian = guardian_of(baton.id());
    ::kill(guardian, SIGSTOP);  // so that it cannot act before it dies
    baton.signal(SIGKILL);
    ::kill(guardian, SIGKILL);
    EXPECT_EQ(baton.wait(), 137);
    EXPECT_TRUE(none_left());
}

/// Baton is stopped and cannot renew, and the guardian cannot renew at `memory:`. The command must have ended before
/// the lease ends.
TEST_F(Stop, GuardianOfAStoppedBatonStopsTheCommandInTime) {
    child baton{run_shell({"-t", "400ms"}, "exec " + sleep())};
    ASSERT_TRUE(running(1));
    baton.signal(SIGSTOP);
    EXPECT_TRUE(running(0)) << "while baton is still stopped";
    EXPECT_EQ(state_of(baton.id()), 'T');
    baton.signal(SIGCONT);
    EXPECT_EQ(baton.wait(), 76) << baton.err();
}

TEST_F(Stop, ShortStopOfBatonHasNoEffect) {
    child baton{run_shell({}, sleep() + "; true")};
    ASSERT_TRUE(running(1));
    baton.signal(SIGSTOP);
    ASSERT_TRUE(eventually([&] { return state_of(baton.id()) == 'T'; }));
    baton.signal(SIGCONT);
    baton.signal(SIGTERM);
    EXPECT_EQ(baton.wait(), 143);
}

TEST_F(Stop, StoppedGuardianPassesSignalsOnWhenItContinues) {
    child baton{run_shell({}, "exec " + sleep())};
    ASSERT_TRUE(running(1));
    const pid_t guardian = guardian_of(baton.id());
    ::kill(guardian, SIGSTOP);
    ASSERT_TRUE(eventually([&] { return state_of(guardian) == 'T'; }));
    baton.signal(SIGTERM);
    EXPECT_TRUE(running(1));
    ::kill(guardian, SIGCONT);
    EXPECT_EQ(baton.wait(), 143);
    EXPECT_TRUE(none_left());
}

TEST_F(Stop, ShortCommandLeavesNoGuardian) {
    for (int i = 0; i < 20; ++i) {
        child baton{run({}, {"true", word_})};
        const auto ended = baton.wait();
        EXPECT_EQ(ended, 0);
    }
    EXPECT_TRUE(processes_with(word_).empty());
}

}  // namespace
}  // namespace baton::testing
