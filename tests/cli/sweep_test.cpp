// If baton and its guardian are dead, or one is dead and the other one is stopped, the agent kills the command's
// processes before the hand-off.
#include <signal.h>

#include "own_agent.hpp"

namespace baton::testing {
namespace {

/// The parameter: whether there is a control group.
class Sweep : public OwnAgent, public ::testing::WithParamInterface<bool> {
protected:
    [[nodiscard]] start_options run_with(std::vector<std::string> options, const std::string& script) const {
        start_options started = shell(std::move(options), script);
        if (!GetParam()) started.environment["BATON_CGROUP"] = "off";
        return started;
    }
    /// A command with a child, and with a daemon that left the group and the session.
    [[nodiscard]] start_options first() const {
        return run_with(
            {}, "trap '' TERM; setsid -f sleep " + word_ + "; sleep " + word_ + " & echo up; exec sleep " + word_);
    }
    /// Prints how many of these processes are left when it is granted.
    [[nodiscard]] start_options second() const {
        return run_with({}, "pgrep -fc '^sleep " + word_ + "'; echo marked-$BATON_ABANDONED-");
    }
};

TEST_P(Sweep, NoProcessIsLeftAfterKillOfBatonAndGuardian) {
    child holder{first()};
    ASSERT_TRUE(holder.says("up"));
    ASSERT_TRUE(sleeping(3));
    child next{second()};
    ASSERT_TRUE(waiting(1));
    const pid_t guardian = guardian_of(holder.id());
    stop(guardian);  // so that it cannot act before it dies
    holder.signal(SIGKILL);
    ::kill(guardian, SIGKILL);
    EXPECT_EQ(next.wait(), 0) << next.err();
    EXPECT_EQ(next.out(), "0\nmarked-a-\n");
}

TEST_P(Sweep, NoProcessIsLeftAfterStopOfBatonAndKillOfTheGuardian) {
    child holder{first()};
    ASSERT_TRUE(holder.says("up"));
    ASSERT_TRUE(sleeping(3));
    child next{second()};
    ASSERT_TRUE(waiting(1));
    const pid_t guardian = guardian_of(holder.id());
    stop(holder.id());
    ::kill(guardian, SIGKILL);
    EXPECT_EQ(next.wait(), 0) << next.err();
    EXPECT_EQ(next.out(), "0\nmarked-a-\n");
    EXPECT_EQ(state_of(holder.id()), 'T');
    holder.signal(SIGCONT);
    EXPECT_EQ(holder.wait(), 70) << holder.err();
}

/// The kernel then continues the guardian, because its process group is orphaned.
TEST_P(Sweep, NoProcessIsLeftAfterStopOfTheGuardianAndKillOfBaton) {
    child holder{first()};
    ASSERT_TRUE(holder.says("up"));
    ASSERT_TRUE(sleeping(3));
    child next{second()};
    ASSERT_TRUE(waiting(1));
    const pid_t guardian = guardian_of(holder.id());
    stop(guardian);
    holder.signal(SIGKILL);
    EXPECT_EQ(next.wait(), 0) << next.err();
    EXPECT_EQ(next.out(), "0\nmarked-a-\n");
    ::kill(guardian, SIGCONT);
    EXPECT_TRUE(eventually([&] { return !alive(guardian); }));
}

/// The guardian runs when baton dies, and is stopped before it has killed the processes that ignore TERM.
TEST_P(Sweep, NoProcessIsLeftAfterKillOfBatonAndThenStopOfTheGuardian) {
    child holder{first()};
    ASSERT_TRUE(holder.says("up"));
    ASSERT_TRUE(sleeping(3));
    child next{second()};
    ASSERT_TRUE(waiting(1));
    const pid_t guardian = guardian_of(holder.id());
    holder.signal(SIGKILL);
    ASSERT_EQ(holder.wait(), 137);
    stop(guardian);
    EXPECT_EQ(next.wait(), 0) << next.err();
    EXPECT_EQ(next.out(), "0\nmarked-a-\n");
    EXPECT_EQ(state_of(guardian), 'T');
    ::kill(guardian, SIGCONT);
    EXPECT_TRUE(eventually([&] { return !alive(guardian); }));
}

TEST_P(Sweep, KillsNoProcessOfOtherRuns) {
    start_options beside = at_engine(baton({"run", "-l", "b", "--", "/bin/sh", "-c", until("go")}));
    child other{beside};
    ASSERT_TRUE(other.says("up"));
    child holder{first()};
    ASSERT_TRUE(holder.says("up"));
    ASSERT_TRUE(sleeping(3));
    const pid_t guardian = guardian_of(holder.id());
    stop(guardian);
    holder.signal(SIGKILL);
    ::kill(guardian, SIGKILL);
    EXPECT_TRUE(sleeping(0));
    make("go");
    EXPECT_EQ(other.wait(), 0) << other.err();
    EXPECT_EQ(other.out(), "up\ndone\n");
}

INSTANTIATE_TEST_SUITE_P(Way, Sweep, ::testing::Bool(), [](const ::testing::TestParamInfo<bool>& way) {
    return std::string{way.param ? "WithAControlGroup" : "ByCookie"};
});

using SweepOfAControlGroup = OwnAgent;

/// The daemon has cleared its environment, so that only a control group shows to which run it belongs.
TEST_F(SweepOfAControlGroup, FindsADaemonWithoutAnEnvironment) {
    child holder{shell({"-v"}, BATON_ESCAPEE " daemon " + word_ + "; echo up; exec sleep " + word_)};
    ASSERT_TRUE(holder.says("up"));
    ASSERT_TRUE(sleeping(1));
    if (!holder.complains("in the control group", milliseconds{1'000}))
        GTEST_SKIP() << "no control group can be made here: " << holder.err();
    child next{shell({}, "pgrep -fc '^escapee stay " + word_ + "'; true")};
    ASSERT_TRUE(waiting(1));
    const pid_t guardian = guardian_of(holder.id());
    stop(guardian);
    holder.signal(SIGKILL);
    ::kill(guardian, SIGKILL);
    EXPECT_EQ(next.wait(), 0) << next.err();
    EXPECT_EQ(next.out(), "0\n");
}

}  // namespace
}  // namespace baton::testing
