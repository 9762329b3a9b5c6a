// Several shells with one agent, as on one machine. Each test has an agent of its own, which ends with the test.
#include <signal.h>

#include <algorithm>
#include <deque>

#include "own_agent.hpp"

namespace baton::testing {
namespace {

using Shared = OwnAgent;

TEST_F(Shared, FirstCommandReturnsAtOnce) {
    start_options options = shell({}, "x=1");
    options.arguments = {"/bin/sh", "-c", "x=$(\"$0\" run -l a -- echo hi); echo \"<$x>\"", BATON_PROGRAM};
    child first{options};
    EXPECT_EQ(first.wait(milliseconds{5'000}), 0) << "an agent that keeps the pipe would hang it";
    EXPECT_EQ(first.out(), "<hi>\n");
    EXPECT_EQ(agents().size(), 1U);
}

// The agent becomes a child of the guardian, but does not belong to the command: it may outlive the run.
TEST_F(Shared, RunDoesNotWaitForAnAgentThatTheCommandStarted) {
    child outer{run_shell({}, "BATON_URL=" + address() + " " + BATON_PROGRAM + " run -l b -- sh -c 'kill -9 $PPID'")};
    EXPECT_TRUE(outer.wait(milliseconds{5'000}));
    EXPECT_EQ(agents().size(), 1U);  // it stays, because it has a mark
}

TEST_F(Shared, SecondShellSeesTheHolderAndIsGranted) {
    child first{shell({"--note", "web 4.2"}, until("go"))};
    ASSERT_TRUE(first.says("up"));
    child second{shell({}, "echo mine")};
    EXPECT_TRUE(second.complains("waiting for a, 1 s, next in the queue; held for ")) << second.err();
    EXPECT_TRUE(second.complains(" by sh ")) << second.err();
    EXPECT_TRUE(second.complains(" · web 4.2, alive ")) << second.err();
    EXPECT_EQ(second.out(), "");
    make("go");
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(second.wait(), 0);
    EXPECT_EQ(second.out(), "mine\n");
}

TEST_F(Shared, FiftyShellsAreGrantedInArrivalOrder) {
    child holder{shell({}, until("go"))};
    ASSERT_TRUE(holder.says("up"));
    std::deque<child> shells;
    for (int i = 0; i < 50; ++i) {
        shells.emplace_back(shell({}, "echo " + std::to_string(i) + " >>" + folder_.path("order")));
        // Wait until the shell is in the queue, so that the order of arrival is the order of the loop.
        ASSERT_TRUE(waiting(static_cast<std::size_t>(i) + 1));
    }
    make("go");
    std::string expected;
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(shells[static_cast<std::size_t>(i)].wait(), 0);
        expected += std::to_string(i) + "\n";
    }
    EXPECT_EQ(contents(folder_.path("order")), expected);
    EXPECT_EQ(agents().size(), 1U);
}

TEST_F(Shared, TwentyShellsStartOneAgentAndExcludeEachOther) {
    std::deque<child> shells;
    const std::string inside = folder_.path("inside");
    for (int i = 0; i < 20; ++i) shells.emplace_back(shell({}, "mkdir " + inside + " && rmdir " + inside));
    for (child& shell : shells) EXPECT_EQ(shell.wait(), 0) << shell.err();
    EXPECT_EQ(agents().size(), 1U);
}

TEST_F(Shared, NameIsFreeAfterTheCommandExits) {
    child first{shell({}, "exit 7")};
    EXPECT_EQ(first.wait(), 7);
    EXPECT_EQ(output_of({"ls", "a"}), "a: free\n");
}

/// The next run starts after the tree is gone, and receives the mark.
TEST_F(Shared, KilledBatonsTreeDiesBeforeTheNextRunGetsTheMark) {
    child first{shell({"-k", "300ms"},
                      "trap '' TERM; setsid -f sleep " + word_ + "; echo up; while :; do sleep " + word_ + "; done")};
    ASSERT_TRUE(first.says("up"));
    ASSERT_TRUE(sleeping(2));
    child second{shell({}, "pgrep -fc '^sleep " + word_ + "'; echo marked-$BATON_ABANDONED-")};
    ASSERT_TRUE(waiting(1));
    first.signal(SIGKILL);
    EXPECT_EQ(second.wait(), 0);
    EXPECT_EQ(second.out(), "0\nmarked-a-\n") << "none of the first one's processes is left";
}

TEST_F(Shared, KilledGuardiansTreeDiesBeforeTheNextRunGetsTheMark) {
    child first{
        shell({}, "trap '' TERM; setsid -f sleep " + word_ + "; echo up; while :; do sleep " + word_ + "; done")};
    ASSERT_TRUE(first.says("up"));
    ASSERT_TRUE(sleeping(2));
    child second{shell({}, "pgrep -fc '^sleep " + word_ + "'; echo marked-$BATON_ABANDONED-")};
    ASSERT_TRUE(waiting(1));
    const auto agent = agents();
    ::kill(guardian_of(first.id()), SIGKILL);
    EXPECT_EQ(first.wait(), 70);
    EXPECT_EQ(second.wait(), 0);
    EXPECT_EQ(second.out(), "0\nmarked-a-\n");
    EXPECT_EQ(agents(), agent) << "the agent that baton started is below it, but does not belong to the tree";
}

TEST_F(Shared, NextRunIsGrantedAtOnceAfterBatonAndGuardianAreKilled) {
    child first{shell({}, "echo up; exec sleep " + word_)};
    ASSERT_TRUE(first.says("up"));
    child second{shell({}, "echo marked-$BATON_ABANDONED-")};
    ASSERT_TRUE(waiting(1));
    const pid_t guardian = guardian_of(first.id());
    ::kill(guardian, SIGSTOP);
    first.signal(SIGKILL);
    ::kill(guardian, SIGKILL);
    EXPECT_EQ(second.wait(), 0) << "before the ttl of 10 s has passed";
    EXPECT_EQ(second.out(), "marked-a-\n");
    EXPECT_TRUE(sleeping(0));
}

TEST_F(Shared, HolderAndWaitersSurviveAKillOfTheAgent) {
    start_agent();
    child first{shell({"-t", "1s"}, until("go"))};
    ASSERT_TRUE(first.says("up"));
    const std::string order = " >>" + folder_.path("order");
    child second{shell({"-t", "1s"}, "echo second" + order)};
    ASSERT_TRUE(waiting(1));
    child third{shell({"-t", "1s"}, "echo third" + order)};
    ASSERT_TRUE(waiting(2));
    const auto before = fence();
    kill_agents();
    child newcomer{shell({"-t", "1s"}, "echo newcomer" + order)};
    ASSERT_TRUE(waiting(3)) << output_of({"ls"});
    EXPECT_EQ(fence(), before) << "held under the same fence";
    EXPECT_EQ(contents(folder_.path("order")), "");
    make("go");
    EXPECT_EQ(first.wait(), 0) << first.err();
    EXPECT_EQ(first.out(), "up\ndone\n");
    EXPECT_EQ(second.wait(), 0) << second.err();
    EXPECT_EQ(third.wait(), 0) << third.err();
    EXPECT_EQ(newcomer.wait(), 0) << newcomer.err();
    EXPECT_EQ(contents(folder_.path("order")), "second\nthird\nnewcomer\n");
}

TEST_F(Shared, NameIsGrantedAfterThePauseIfBatonAndAgentAreKilled) {
    start_agent();
    child first{shell({"-t", "1s", "-k", "100ms"}, "trap '' TERM; echo up; while :; do sleep " + word_ + "; done")};
    ASSERT_TRUE(first.says("up"));
    child second{shell({"-t", "1s"}, "pgrep -fc '^sleep " + word_ + "'; true")};
    ASSERT_TRUE(waiting(1));
    first.signal(SIGKILL);
    kill_agents();
    EXPECT_EQ(second.wait(), 0) << second.err();
    EXPECT_EQ(second.out(), "0\n");
}

TEST_F(Shared, NameIsGrantedIfGuardianAndAgentAreKilled) {
    start_agent();
    child first{shell({"-t", "1s"}, "trap '' TERM; echo up; while :; do sleep " + word_ + "; done")};
    ASSERT_TRUE(first.says("up"));
    child second{shell({"-t", "1s"}, "pgrep -fc '^sleep " + word_ + "'; true")};
    ASSERT_TRUE(waiting(1));
    ::kill(guardian_of(first.id()), SIGKILL);
    kill_agents();
    EXPECT_EQ(first.wait(), 70);
    EXPECT_EQ(second.wait(), 0) << second.err();
    EXPECT_EQ(second.out(), "0\n");
}

/// A stopped process keeps its locks, as with flock.
TEST_F(Shared, StoppedBatonKeepsItsLockBeyondTheTtl) {
    child first{shell({"-t", "1s"}, until("go"))};
    ASSERT_TRUE(first.says("up"));
    const auto before = fence();
    first.signal(SIGSTOP);
    ASSERT_TRUE(eventually([&] { return state_of(first.id()) == 'T'; }));
    child second{shell({"-w", "3s"}, "echo no")};
    EXPECT_EQ(second.wait(), 75) << "several ttls later: " << second.err();
    EXPECT_EQ(fence(), before);
    first.signal(SIGCONT);
    EXPECT_FALSE(first.wait(milliseconds{1'500})) << "it continues to renew: " << first.err();
    make("go");
    EXPECT_EQ(first.wait(), 0) << first.err();
    EXPECT_EQ(first.out(), "up\ndone\n");
}

TEST_F(Shared, JobStoppedAtTheTerminalKeepsItsLockBeyondTheTtl) {
    child bash{at_engine(interactive_shell())};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "$BATON run -t 1s -l a -- sh -c 'echo be''gun; read line; echo got-$line-'");
    ASSERT_TRUE(bash.says("begun")) << bash.out();
    bash.forget();
    bash.type("\x1a");
    ASSERT_TRUE(bash.says("Stopped")) << bash.out();
    child second{shell({"-w", "3s"}, "echo no")};
    EXPECT_EQ(second.wait(), 75) << second.err();
    send(bash, "fg");
    ASSERT_TRUE(bash.says("read line")) << bash.out();
    bash.type("hello\n");
    EXPECT_TRUE(bash.says("got-hello-")) << bash.out();
    leave(bash);
}

/// No process can renew or kill: the lease ends and the next run is granted. When the stopped processes continue, the
/// command is stopped.
TEST_F(Shared, LockIsLostIfAllProcessesAreStoppedBeyondTheTtl) {
    child first{shell({"-t", "400ms"}, "echo up; exec sleep " + word_)};
    ASSERT_TRUE(first.says("up"));
    const pid_t guardian = guardian_of(first.id());
    ASSERT_TRUE(sleeping(1)) << "the shell prints `up` before it executes sleep";
    const auto command = sleepers();
    for (const pid_t id : {guardian, first.id(), command.front()}) ::kill(id, SIGSTOP);
    child second{shell({}, "echo marked-$BATON_ABANDONED-")};
    EXPECT_EQ(second.wait(), 0);
    EXPECT_EQ(second.out(), "marked-a-\n");
    for (const pid_t id : {command.front(), guardian, first.id()}) ::kill(id, SIGCONT);
    EXPECT_EQ(first.wait(), 76) << first.err();
    EXPECT_TRUE(sleeping(0));
}

TEST_F(Shared, RevokeStopsTheHoldersCommand) {
    child first{shell({"--note", "too long"}, "trap 'echo asked; exit 1' TERM; echo up; sleep 1000 & wait")};
    ASSERT_TRUE(first.says("up"));
    EXPECT_NE(output_of({"why", "a"}).find("too long"), std::string::npos);
    EXPECT_NE(output_of({"ls", "--dot"}).find("digraph"), std::string::npos);
    EXPECT_NE(output_of({"revoke", "a", "--fence", "1", "--note", "x"}).find("fence 1"), std::string::npos);
    EXPECT_FALSE(first.wait(milliseconds{50})) << "another fence is another grant";
    EXPECT_NE(output_of({"revoke", "a", "--fence", std::to_string(fence()), "--note", "maintenance"}), "");
    EXPECT_EQ(first.wait(), 76) << first.err();
    EXPECT_EQ(first.out(), "up\nasked\n");
    EXPECT_NE(output_of({"ls", "a"}).find("abandoned"), std::string::npos);
    EXPECT_EQ(output_of({"mend", "a"}), "a is no longer marked as abandoned.\n");
    EXPECT_EQ(output_of({"ls", "a"}), "a: free\n");
}

TEST_F(Shared, PermitsAreCountedAcrossShells) {
    const auto gpu = [this](const std::string& script) {
        return at_engine(baton({"run", "-p", "gpu/2", "--", "/bin/sh", "-c", script}));
    };
    child first{gpu(until("go"))};
    child second{gpu("echo $BATON_SLOTS; " + until("go"))};
    ASSERT_TRUE(first.says("up"));
    ASSERT_TRUE(second.says("up"));
    child third{gpu("echo third")};
    EXPECT_TRUE(third.complains("waiting for gpu")) << third.err();
    EXPECT_NE(output_of({"resize", "gpu", "3"}).find("3"), std::string::npos);
    EXPECT_EQ(third.wait(), 0) << "there is a third permit now";
    make("go");
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(second.wait(), 0);
    EXPECT_NE(output_of({"resize", "gpu", "auto"}), "");
}

/// Each claim is held to its own limit (rule 10). Different limits for one name are usually a mistake.
TEST_F(Shared, RunReportsOtherLimitsOfItsName) {
    const auto gpu = [this](const std::string& limit, std::vector<std::string> options, const std::string& script) {
        std::vector<std::string> words{"run", "-l", "b" + limit, "-p", "gpu/" + limit};
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(), {"--", "/bin/sh", "-c", script});
        return at_engine(baton(words));
    };
    child first{gpu("8", {}, until("go"))};
    ASSERT_TRUE(first.says("up"));
    EXPECT_EQ(first.err(), "");
    child granted{gpu("4", {"-q"}, "echo mine")};
    EXPECT_EQ(granted.wait(), 0);
    EXPECT_TRUE(granted.complains("gpu: this run gives it a limit of 4, but sh ")) << granted.err();
    EXPECT_TRUE(granted.complains(" gives it a limit of 8;")) << granted.err();
    child json{gpu("5", {"--json"}, "echo mine")};
    EXPECT_EQ(json.wait(), 0);
    EXPECT_NE(json.err().find(R"("event":"limits_differ")"), std::string::npos) << json.err();
    EXPECT_NE(json.err().find(R"("name":"gpu","limit":5,"other_limit":8,"by":"sh )"), std::string::npos) << json.err();
    child waiting{gpu("1", {}, "echo mine")};
    EXPECT_TRUE(waiting.complains("limit of 1, but")) << "while it waits: " << waiting.err();
    EXPECT_NE(output_of({"resize", "gpu", "8"}), "");
    EXPECT_EQ(waiting.wait(), 0);
    child pinned{gpu("4", {}, "echo mine")};
    EXPECT_EQ(pinned.wait(), 0);
    EXPECT_EQ(pinned.err(), "") << "a pinned limit holds for all";
    make("go");
    EXPECT_EQ(first.wait(), 0);
    EXPECT_NE(output_of({"resize", "gpu", "auto"}), "");
}

TEST_F(Shared, RelativeAddressMeansTheSameAgentInAnotherFolder) {
    start_options options = shell({}, "");
    options.environment["BATON_URL"] = "local:agent";
    options.arguments = {
        "/bin/sh", "-c",
        "cd " + folder_.path("") + " && \"$0\" run -l a -- sh -c 'cd / && echo $BATON_URL && \"$0\" ls' \"$0\"",
        BATON_PROGRAM};
    child outer{options};
    EXPECT_EQ(outer.wait(), 0);
    EXPECT_TRUE(outer.out().starts_with(address() + "\na: held\n")) << outer.out() << outer.err();
    EXPECT_EQ(agents().size(), 1U);
}

/// Otherwise the run would wait for itself without end.
TEST_F(Shared, NestedRunIsRefusedUnderAnyAddressOfTheAgent) {
    std::filesystem::create_directory_symlink(folder_.path(), folder_.path("link"));
    std::filesystem::create_directory(folder_.path("sub"));
    for (const std::string& name : {"local:" + folder_.path("") + "//agent", "local:" + folder_.path("./sub/../agent"),
                                    "local:" + folder_.path("link/agent"), address() + "?space=default",
                                    std::string{"local:agent"}, std::string{"local:sub/../link/agent?space=default"}}) {
        child outer{shell(
            {}, "cd " + folder_.path("") + " && " + BATON_PROGRAM + " run -w 500ms -l a -u '" + name + "' -- echo no")};
        EXPECT_EQ(outer.wait(), 75);
        EXPECT_TRUE(outer.complains("cannot acquire a: a run around this one already holds it"))
            << name << ": " << outer.err();
    }
    EXPECT_EQ(agents().size(), 1U);
}

/// A mistyped address must not leave a process behind.
TEST_F(Shared, InspectingVerbsStartNoAgent) {
    const std::vector<std::pair<std::vector<std::string>, int>> verbs{
        {{"ls"}, 0},       {{"ls", "--json"}, 0}, {{"ls", "a"}, 1},
        {{"why", "a"}, 1}, {{"mend", "a"}, 1},    {{"revoke", "a", "--fence", "1"}, 1}};
    for (const auto& [words, code] : verbs) {
        child verb{at_engine(baton(words))};
        EXPECT_EQ(verb.wait(), code) << words.front();
        EXPECT_TRUE(verb.complains("no agent runs at " + address() + "; nothing is held there")) << verb.err();
    }
    EXPECT_TRUE(agents().empty());
    EXPECT_FALSE(std::filesystem::exists(folder_.path("agent")));
    EXPECT_FALSE(std::filesystem::exists(folder_.path("agent.state")));
    make("agent");  // a file that is not a socket
    EXPECT_NE(output_of({"ls"}).find("nothing is held there"), std::string::npos);
}

/// The clients of a dead agent hold their names, and start another agent as soon as they notice.
TEST_F(Shared, InspectingVerbsEndWith69IfTheAgentDied) {
    start_agent();
    kill_agents();
    EXPECT_TRUE(agent_->wait());
    for (const std::vector<std::string>& words : {std::vector<std::string>{"ls"}, {"mend", "a"}}) {
        child verb{at_engine(baton(words))};
        EXPECT_EQ(verb.wait(), 69);
        EXPECT_TRUE(verb.complains("the agent has died, and its clients may still hold names")) << verb.err();
    }
    EXPECT_TRUE(agents().empty());
}

TEST_F(Shared, HolderReceivesTheNoteOfARevokeNow) {
    child first{shell({"-k", "50ms"}, "echo up; exec sleep " + word_)};
    ASSERT_TRUE(first.says("up"));
    EXPECT_NE(output_of({"revoke", "a", "--now", "--fence", std::to_string(fence()), "--note", "fire drill"}), "");
    EXPECT_EQ(first.wait(), 76) << first.err();
    EXPECT_TRUE(first.complains("an operator revoked it: fire drill; stopping")) << first.err();
}

/// Users and supervisors end programs with these signals.
TEST_F(Shared, CommandEndedByAUsersSignalLeavesNoMark) {
    for (const char* signal : {"TERM", "INT", "HUP"}) {
        child first{shell({}, std::string{"kill -"} + signal + " $$")};
        EXPECT_GT(first.wait().value_or(0), 128);
        EXPECT_EQ(output_of({"ls", "a"}), "a: free\n") << signal;
    }
}

TEST_F(Shared, SpacesAreSeparate) {
    child first{shell({}, until("go"))};
    ASSERT_TRUE(first.says("up"));
    child other{shell({"--space", "other", "-n"}, "echo $BATON_SPACE")};
    EXPECT_EQ(other.wait(), 0) << other.err();
    EXPECT_EQ(other.out(), "other\n");
    child same{shell({"-n"}, "echo no")};
    EXPECT_EQ(same.wait(), 75);
    make("go");
    EXPECT_EQ(first.wait(), 0);
}

TEST_F(Shared, CodeIs69IfNoAgentCanBeStarted) {
    start_options options = shell({}, "echo no");
    options.environment["BATON_URL"] = "local:" + folder_.path("no/such/folder/agent");
    child nowhere{options};
    EXPECT_EQ(nowhere.wait(), 69);
    EXPECT_NE(nowhere.err(), "");
    EXPECT_EQ(nowhere.out(), "");
}

}  // namespace
}  // namespace baton::testing
