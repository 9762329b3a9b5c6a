// All processes that a command started have ended before the hand-off: with programs that are hard to kill, without
// free descriptors, with a control group and without one.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>

#include "own_agent.hpp"

namespace baton::testing {
namespace {

/// The parameter: whether there is a control group.
class Tree : public OwnAgent, public ::testing::WithParamInterface<bool> {
protected:
    /// `baton run -v -l a OPTIONS -- sh -c SCRIPT` at `memory:`.
    [[nodiscard]] start_options tree(std::vector<std::string> options, const std::string& script) const {
        options.insert(options.begin(), "-v");
        start_options started = run_shell(std::move(options), script);
        if (!GetParam()) started.environment["BATON_CGROUP"] = "off";
        return started;
    }
    /// Whether the run has a control group, or none, as the parameter says.
    [[nodiscard]] bool as_wanted(child& baton) const {
        if (!GetParam()) return baton.complains("without a control group");
        return baton.complains("in the control group");
    }
    [[nodiscard]] std::string escapee(const std::string& what) const { return BATON_ESCAPEE " " + what + " " + word_; }
    /// Waits until a process other than the shell has the word in its command line.
    [[nodiscard]] bool some() const {
        return eventually([this] { return processes_with(std::string{"\0", 1} + word_).size() > 1; });
    }
    [[nodiscard]] std::vector<pid_t> left() const { return processes_with(word_); }
    static void limit_descriptors(pid_t id, rlim_t limit) {
        rlimit before{};
        ASSERT_EQ(::prlimit(id, RLIMIT_NOFILE, nullptr, &before), 0);
        const rlimit now{limit, before.rlim_max};
        ASSERT_EQ(::prlimit(id, RLIMIT_NOFILE, &now, nullptr), 0);
    }
    /// The smallest descriptor limit that includes all open descriptors of the process.
    static rlim_t descriptors_of(pid_t id) {
        rlim_t highest = 0;
        for (const auto& entry : std::filesystem::directory_iterator{"/proc/" + std::to_string(id) + "/fd"})
            highest = std::max<rlim_t>(highest, std::stoul(entry.path().filename()) + 1);
        return highest;
    }
};

TEST_P(Tree, ChainOfForksIsKilledAndNotReportedAsASurvivor) {
    child baton{tree({"-k", "50ms"}, escapee("chain") + "; echo up")};
    ASSERT_TRUE(baton.says("up"));
    EXPECT_EQ(baton.wait(milliseconds{30'000}), 0) << baton.err();
    EXPECT_TRUE(left().empty()) << baton.err();
    EXPECT_EQ(baton.err().find("cannot be killed"), std::string::npos) << baton.err();
}

TEST_P(Tree, ForkBombIsKilled) {
    child baton{tree({"-k", "50ms"}, escapee("bomb 64") + " & echo up; exit 3")};
    ASSERT_TRUE(baton.says("up"));
    EXPECT_EQ(baton.wait(milliseconds{30'000}), 3) << baton.err();
    EXPECT_TRUE(left().empty());
}

TEST_P(Tree, DaemonWithoutAnEnvironmentIsKilled) {
    child baton{tree({}, escapee("daemon") + "; echo up")};
    EXPECT_EQ(baton.wait(), 0) << baton.err();
    EXPECT_TRUE(left().empty());
}

/// Agents are not killed; they are recognised by what they do and not by their command line.
TEST_P(Tree, ProgramWithTheCommandLineOfAnAgentIsKilled) {
    child baton{tree({"-k", "50ms"}, escapee("agent") + "; echo up")};
    EXPECT_EQ(baton.wait(), 0) << baton.err();
    EXPECT_TRUE(left().empty());
}

TEST_P(Tree, AgentThatTheCommandStartedIsNotKilled) {
    child baton{tree({}, "BATON_URL=" + address() + " " + BATON_PROGRAM + " run -l b -- true")};
    EXPECT_EQ(baton.wait(), 0) << baton.err();
    EXPECT_EQ(agents().size(), 1U);
}

TEST_P(Tree, GuardianWithoutFreeDescriptorsFindsTheProcesses) {
    ASSERT_EQ(::mkfifo(folder_.path("go").c_str(), 0600), 0);
    child baton{tree({"-k", "50ms"}, "echo up; read line <" + folder_.path("go") + "; setsid -f sleep " + word_)};
    ASSERT_TRUE(baton.says("up"));
    const pid_t guardian = guardian_of(baton.id());
    limit_descriptors(guardian, descriptors_of(guardian));
    make("go");
    EXPECT_EQ(baton.wait(), 0) << baton.err();
    EXPECT_EQ(sleepers().size(), 0U);
    EXPECT_EQ(baton.err().find("cannot be killed"), std::string::npos) << baton.err();
}

TEST_P(Tree, BatonWithoutFreeDescriptorsFindsTheProcesses) {
    child baton{tree({}, "setsid -f sleep " + word_ + "; echo up; exec sleep " + word_)};
    ASSERT_TRUE(baton.says("up"));
    ASSERT_TRUE(sleeping(2));
    limit_descriptors(baton.id(), descriptors_of(baton.id()));
    ::kill(guardian_of(baton.id()), SIGKILL);
    EXPECT_EQ(baton.wait(), 70) << baton.err();
    EXPECT_EQ(sleepers().size(), 0U);
}

/// Even the reserved descriptors cannot be used: baton must not conclude that no process is left.
TEST_P(Tree, BatonThatCannotInspectProcessesReleasesNothing) {
    child baton{tree({}, "trap '' TERM; setsid -f sleep " + word_ + "; echo up; exec sleep " + word_)};
    ASSERT_TRUE(baton.says("up"));
    ASSERT_TRUE(sleeping(2));
    limit_descriptors(baton.id(), 0);
    ::kill(guardian_of(baton.id()), SIGKILL);
    EXPECT_FALSE(baton.wait(milliseconds{300})) << baton.err();
    limit_descriptors(baton.id(), 256);
    EXPECT_EQ(baton.wait(), 70) << baton.err();
    EXPECT_EQ(sleepers().size(), 0U);
}

TEST_P(Tree, LeavesNoControlGroupBehind) {
    child baton{tree({}, "cat /proc/self/cgroup")};
    EXPECT_EQ(baton.wait(), 0);
    if (!as_wanted(baton)) GTEST_SKIP() << "no control group can be made here: " << baton.err();
    const std::string words = "in the control group ";
    const std::size_t at = baton.err().find(words);
    if (!GetParam()) {
        EXPECT_EQ(at, std::string::npos);
        EXPECT_EQ(baton.out().find("baton-"), std::string::npos);
        return;
    }
    const std::string path = baton.err().substr(at + words.size(), baton.err().find('\n', at) - at - words.size());
    EXPECT_NE(baton.out().find(path.substr(path.rfind('/'))), std::string::npos) << baton.out();
    EXPECT_FALSE(std::filesystem::exists(path)) << path;
}

/// With -v, the message `started` says whether the kernel kills a control group or baton searches /proc.
TEST_P(Tree, ReportsWhetherThereIsAControlGroup) {
    child baton{tree({}, "true")};
    EXPECT_EQ(baton.wait(), 0);
    if (GetParam() && !as_wanted(baton)) GTEST_SKIP() << "no control group can be made here: " << baton.err();
    EXPECT_TRUE(as_wanted(baton)) << baton.err();
}

INSTANTIATE_TEST_SUITE_P(Way, Tree, ::testing::Bool(), [](const ::testing::TestParamInfo<bool>& way) {
    return std::string{way.param ? "WithAControlGroup" : "ByProc"};
});

}  // namespace
}  // namespace baton::testing
