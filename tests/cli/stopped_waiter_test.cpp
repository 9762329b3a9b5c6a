// A baton that is stopped before its command has begun: no process renews for it and other waiters are granted. When it
// continues, it reports that it lost its queue position, and queues again.
#include <signal.h>

#include <nlohmann/json.hpp>

#include "own_agent.hpp"

namespace baton::testing {
namespace {

class StoppedWaiter : public OwnAgent {
protected:
    /// A holder of `a` that ends when the file `go` is made.
    [[nodiscard]] start_options holder() const { return shell({}, until("go")); }
    /// Waits for that time, with a run that times out.
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
    EXPECT_TRUE(third.says("mine")) << "the stopped waiter is skipped: " << output_of({"ls"});
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
    EXPECT_EQ(third.wait(), 0) << output_of({"ls"});
    EXPECT_EQ(third.out(), "mine-a-\n") << "the engine cannot know that the expired holder ran no command";
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
    child bash{at_engine(interactive_shell())};
    ASSERT_TRUE(bash.says("ready> "));
    send(bash, "$BATON run -t 500ms -l a -- sh -c 'echo la''te'");
    ASSERT_TRUE(waiting(1));
    bash.type("\x1a");
    ASSERT_TRUE(bash.says("Stopped")) << bash.out();
    child third{shell({}, "echo mine; " + until("later"))};
    ASSERT_TRUE(waiting(2));
    make("go");
    EXPECT_TRUE(third.says("mine")) << output_of({"ls"});
    send(bash, "fg");
    EXPECT_TRUE(bash.says("lost the queue position for a")) << bash.out();
    make("later");
    EXPECT_EQ(third.wait(), 0);
    EXPECT_TRUE(bash.says("late")) << bash.out();
    leave(bash);
}

/// ^S stops no process, but a blocking write to the terminal would block baton.
TEST_F(StoppedWaiter, BlockedTerminalDoesNotDelayTheCommand) {
    child first{holder()};
    ASSERT_TRUE(first.says("up"));
    start_options options = shell({}, "echo ran >" + folder_.path("ran"));
    options.on_terminal = true;
    child second{options};
    ASSERT_TRUE(second.says("waiting for a")) << second.out();
    second.type("\x13");
    let_pass("2500ms");  // baton redraws the status line every second
    make("go");
    EXPECT_TRUE(eventually([&] { return contents(folder_.path("ran")) == "ran\n"; })) << output_of({"ls"});
    second.type("\x11");
    EXPECT_EQ(second.wait(), 0);
}

/// Baton and the guardian are stopped after the order to start was sent; the lease has ended when the guardian reads
/// it.
TEST_F(StoppedWaiter, DoesNotStartTheCommandAfterTheLeaseEnded) {
    child first{holder()};
    ASSERT_TRUE(first.says("up"));
    child stopped{shell({"-t", "500ms"}, "echo began >>" + folder_.path("began"))};
    ASSERT_TRUE(waiting(1));
    const pid_t guardian = guardian_of(stopped.id());
    stop(guardian);
    make("go");
    EXPECT_EQ(first.wait(), 0);
    ASSERT_TRUE(eventually([&] { return output_of({"ls", "a"}).find("holds") != std::string::npos; }));
    stop(stopped.id());
    child third{shell({}, "echo mine; " + until("later"))};
    EXPECT_TRUE(third.says("mine")) << output_of({"ls"});
    ::kill(guardian, SIGCONT);
    stopped.signal(SIGCONT);
    ASSERT_TRUE(waiting(1)) << stopped.err();
    EXPECT_EQ(contents(folder_.path("began")), "") << "another run holds the lock";
    make("later");
    EXPECT_EQ(third.wait(), 0);
    EXPECT_EQ(stopped.wait(), 0) << stopped.err();
    EXPECT_EQ(contents(folder_.path("began")), "began\n");
}

/// The agent replies only after the guardian is stopped, so that the guardian does not read the order to start.
TEST_F(StoppedWaiter, EndsWith75WithNonblock) {
    start_agent();
    stop(agent_->id());
    child stopped{shell({"-t", "500ms", "-n"}, "echo no")};
    const pid_t guardian = guardian_of(stopped.id());
    stop(guardian);
    agent_->signal(SIGCONT);
    ASSERT_TRUE(eventually([&] { return output_of({"ls", "a"}).find("holds") != std::string::npos; }));
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
