// A baton that is stopped before its command has begun: nothing renews for it, the others go on, and when it continues
// it says that it lost its place, and queues again.
#include <signal.h>

#include <nlohmann/json.hpp>

#include "own_agent.hpp"

namespace baton::testing {
namespace {

class StoppedWaiter : public OwnAgent {
protected:
    /// A holder of `a` that ends when the file `go` is made.
    [[nodiscard]] start_options holder() const { return shell({}, until("go")); }
    /// Ends 75 after that time: a clock for tests that need time to pass.
    void let_pass(const std::string& duration) const {
        child clock{shell({"-w", duration}, "echo no")};
        ASSERT_EQ(clock.wait(), 75) << clock.err();
    }
};

TEST_F(StoppedWaiter, DoesNotBlockOtherWaitersAndQueuesAgain) {
    child first{holder()};
    ASSERT_TRUE(first.says("up"));
    child stopped{shell({"-t", "500ms"}, "echo late-$BATON_ABANDONED-")};
    ASSERT_TRUE(waiting(1));
    stop(stopped.id());
    child third{shell({}, "echo mine; " + until("later"))};
    ASSERT_TRUE(waiting(2));
    make("go");
    EXPECT_TRUE(third.says("mine")) << "the stopped waiter is passed over: " << said_by({"ls"});
    EXPECT_EQ(state_of(stopped.id()), 'T');
    stopped.signal(SIGCONT);
    EXPECT_TRUE(stopped.complains("lost the queue position for a")) << stopped.err();
    ASSERT_TRUE(waiting(1)) << "it is queued again";
    make("later");
    EXPECT_EQ(third.wait(), 0) << third.err();
    EXPECT_EQ(stopped.wait(), 0) << stopped.err();
    EXPECT_EQ(stopped.out(), "late--\n");
}

/// The engine grants it the name in the time between the stop and the end of the ttl.
TEST_F(StoppedWaiter, LosesAGrantedNameAfterItsTtl) {
    child first{holder()};
    ASSERT_TRUE(first.says("up"));
    child stopped{shell({"-t", "3s", "--json"}, "echo late")};
    ASSERT_TRUE(waiting(1));
    stop(stopped.id());
    make("go");
    EXPECT_EQ(first.wait(), 0);
    ASSERT_TRUE(eventually([&] { return seen()["requests"][0]["fence"].get<std::uint64_t>() != 0; }));
    child third{shell({}, "echo mine-$BATON_ABANDONED-")};
    EXPECT_EQ(third.wait(), 0) << said_by({"ls"});
    EXPECT_EQ(third.out(), "mine-a-\n") << "the engine knows only that a holder fell silent";
    EXPECT_EQ(state_of(stopped.id()), 'T');
    stopped.signal(SIGCONT);
    EXPECT_EQ(stopped.wait(), 0) << stopped.err();
    EXPECT_EQ(stopped.out(), "late\n");
    std::vector<std::string> events;
    std::istringstream lines{stopped.err()};
    for (std::string line; std::getline(lines, line);)
        if (const std::string event = nlohmann::json::parse(line)["event"]; event != "waiting" && event != "using")
            events.push_back(event);
    EXPECT_EQ(events, (std::vector<std::string>{"position_lost", "granted", "started", "ended"}));
}

TEST_F(StoppedWaiter, KeepsItsPositionAfterAShortStop) {
    child first{holder()};
    ASSERT_TRUE(first.says("up"));
    child stopped{shell({}, "echo second >>" + folder_.path("order"))};
    ASSERT_TRUE(waiting(1));
    child third{shell({}, "echo third >>" + folder_.path("order"))};
    ASSERT_TRUE(waiting(2));
    stop(stopped.id());
    stopped.signal(SIGCONT);
    make("go");
    EXPECT_EQ(stopped.wait(), 0);
    EXPECT_EQ(third.wait(), 0);
    EXPECT_EQ(contents(folder_.path("order")), "second\nthird\n");
    EXPECT_EQ(stopped.err().find("lost the queue position"), std::string::npos) << stopped.err();
}

TEST_F(StoppedWaiter, CountsTheWaitFromTheBeginning) {
    child first{holder()};
    ASSERT_TRUE(first.says("up"));
    child stopped{shell({"-t", "300ms", "-w", "800ms"}, "echo no")};
    ASSERT_TRUE(waiting(1));
    stop(stopped.id());
    let_pass("1s");
    stopped.signal(SIGCONT);
    EXPECT_EQ(stopped.wait(), 75) << stopped.err();
    EXPECT_EQ(stopped.out(), "");
    make("go");
}

TEST_F(StoppedWaiter, LosesItsPositionAtTheTerminalAndFgQueuesAgain) {
    child first{holder()};
    ASSERT_TRUE(first.says("up"));
    child bash{there(interactive_shell())};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "$BATON run -t 500ms -l a -- sh -c 'echo la''te'");
    ASSERT_TRUE(waiting(1));
    bash.type("\x1a");
    ASSERT_TRUE(bash.says("Stopped")) << bash.out();
    child third{shell({}, "echo mine; " + until("later"))};
    ASSERT_TRUE(waiting(2));
    make("go");
    EXPECT_TRUE(third.says("mine")) << said_by({"ls"});
    send(bash, "fg");
    EXPECT_TRUE(bash.says("lost the queue position for a")) << bash.out();
    make("later");
    EXPECT_EQ(third.wait(), 0);
    EXPECT_TRUE(bash.says("late")) << bash.out();
    leave(bash);
}

/// ^S stops no process: baton itself would stop when it writes, as long as it waits for the terminal.
TEST_F(StoppedWaiter, BlockedTerminalDoesNotDelayTheCommand) {
    child first{holder()};
    ASSERT_TRUE(first.says("up"));
    start_options options = shell({}, "echo ran >" + folder_.path("ran"));
    options.on_terminal = true;
    child second{options};
    ASSERT_TRUE(second.says("waiting for a")) << second.out();
    second.type("\x13");
    let_pass("2500ms");  // it redraws its line every second
    make("go");
    EXPECT_TRUE(eventually([&] { return contents(folder_.path("ran")) == "ran\n"; })) << said_by({"ls"});
    second.type("\x11");
    EXPECT_EQ(second.wait(), 0);
}

/// The guardian has the order to start when everything stops; the lease is over when it is carried out.
TEST_F(StoppedWaiter, DoesNotStartTheCommandAfterTheLeaseEnded) {
    child first{holder()};
    ASSERT_TRUE(first.says("up"));
    child stopped{shell({"-t", "500ms"}, "echo began >>" + folder_.path("began"))};
    ASSERT_TRUE(waiting(1));
    const pid_t guardian = guardian_of(stopped.id());
    stop(guardian);
    make("go");
    EXPECT_EQ(first.wait(), 0);
    ASSERT_TRUE(eventually([&] { return said_by({"ls", "a"}).find("holds") != std::string::npos; }));
    stop(stopped.id());
    child third{shell({}, "echo mine; " + until("later"))};
    EXPECT_TRUE(third.says("mine")) << said_by({"ls"});
    ::kill(guardian, SIGCONT);
    stopped.signal(SIGCONT);
    ASSERT_TRUE(waiting(1)) << stopped.err();
    EXPECT_EQ(contents(folder_.path("began")), "") << "the lock is another's";
    make("later");
    EXPECT_EQ(third.wait(), 0);
    EXPECT_EQ(stopped.wait(), 0) << stopped.err();
    EXPECT_EQ(contents(folder_.path("began")), "began\n");
}

/// The agent answers only when the guardian is stopped, so that the order to start is not read.
TEST_F(StoppedWaiter, EndsWith75WithNonblock) {
    start_agent();
    stop(agent_->id());
    child stopped{shell({"-t", "500ms", "-n"}, "echo no")};
    const pid_t guardian = guardian_of(stopped.id());
    stop(guardian);
    agent_->signal(SIGCONT);
    ASSERT_TRUE(eventually([&] { return said_by({"ls", "a"}).find("holds") != std::string::npos; }));
    stop(stopped.id());
    child third{shell({"-t", "1s"}, "echo mine; " + until("go"))};
    EXPECT_TRUE(third.says("mine"));
    ::kill(guardian, SIGCONT);
    stopped.signal(SIGCONT);
    EXPECT_EQ(stopped.wait(), 75) << stopped.err();
    EXPECT_TRUE(stopped.complains("lost the queue position for a")) << stopped.err();
    EXPECT_EQ(stopped.out(), "");
    make("go");
    EXPECT_EQ(third.wait(), 0);
}

}  // namespace
}  // namespace baton::testing
