// The program on a Redis server, with every verb. Each test has a server of its own on which nothing was held before,
// so no pause after its start is needed: the address says pause=off.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "../redis/acl_files.hpp"
#include "../redis/private_server.hpp"
#include "shells.hpp"

namespace baton::testing {
namespace {

using std::chrono::steady_clock;

class OnRedis : public Shells {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        server_.emplace(redis_tests::server_options{.tcp = true});
    }

    [[nodiscard]] std::string at(const std::string& user, const std::string& options) const {
        return "redis://" + user + "127.0.0.1:" + std::to_string(server_->tcp().port) + "/0?" + options;
    }
    [[nodiscard]] std::string address() const override { return at("", "pause=off"); }

    /// What a client says once the server is killed.
    [[nodiscard]] std::string refused_connection() const {
        return "cannot connect to redis://127.0.0.1:" + std::to_string(server_->tcp().port) +
               "/0: connection refused; is the server running, and does it listen on this address?";
    }

    [[nodiscard]] static bool shows_secret(child& process) {
        return (process.out() + process.err()).find("s3cret") != std::string::npos;
    }

    std::optional<redis_tests::private_server> server_;
};

TEST_F(OnRedis, SecondShellSeesTheHolderAndIsGranted) {
    child first{shell({"--note", "web 4.2"}, until("go"))};
    ASSERT_TRUE(first.says("up")) << first.err();
    child second{shell({}, "echo mine")};
    EXPECT_TRUE(second.complains("waiting for a, 1 s, next in the queue; held for ")) << second.err();
    EXPECT_TRUE(second.complains(" by sh ")) << second.err();
    EXPECT_TRUE(second.complains(" · web 4.2, alive ")) << second.err();
    EXPECT_EQ(second.out(), "");
    make("go");
    EXPECT_EQ(first.wait(), 0) << first.err();
    EXPECT_EQ(second.wait(), 0) << second.err();
    EXPECT_EQ(second.out(), "mine\n");
    EXPECT_EQ(output_of({"ls", "a"}), "a: free\n");
}

TEST_F(OnRedis, ShellsAreGrantedInArrivalOrder) {
    child holder{shell({}, until("go"))};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    std::deque<child> shells;
    std::string expected;
    for (std::size_t i = 0; i < 8; ++i) {
        shells.emplace_back(shell({}, "echo " + std::to_string(i) + " >>" + folder_.path("order")));
        ASSERT_TRUE(waiting(i + 1));
        expected += std::to_string(i) + "\n";
    }
    make("go");
    for (child& shell : shells) EXPECT_EQ(shell.wait(), 0) << shell.err();
    EXPECT_EQ(contents(folder_.path("order")), expected);
}

TEST_F(OnRedis, NonblockAndTimeoutEndWith75) {
    child holder{shell({}, until("go"))};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    child impatient{shell({"-n"}, "echo no")};
    EXPECT_EQ(impatient.wait(), 75);
    EXPECT_EQ(impatient.err(), "baton: cannot acquire a: busy (held or waited for); see `baton why a`\n");
    child patient{shell({"-w", "100ms", "-E", "3"}, "echo no")};
    EXPECT_EQ(patient.wait(), 3);
    EXPECT_EQ(patient.err(), "baton: timed out after 100 ms waiting for a; see `baton why a`\n");
    EXPECT_EQ(impatient.out() + patient.out(), "");
    EXPECT_EQ(waiters(), 0U) << "the queue is empty";
}

// A user with the rights of packaging/redis/viewer.acl.
TEST_F(OnRedis, AViewerListsAndExplainsAndNothingElse) {
    std::vector<std::string> words = redis_tests::acl_words("viewer");
    words.insert(words.begin(), {"ACL", "SETUSER"});
    words.erase(words.begin() + 2);  // the word `user`
    words.emplace_back(">s3cret");
    ASSERT_EQ(server_->ask(words).text, "OK");
    const auto as_viewer = [&](std::vector<std::string> arguments) {
        start_options options = baton(std::move(arguments));
        options.environment["BATON_URL"] = at("baton-viewer:s3cret@", "pause=off");
        return options;
    };
    child unloaded{as_viewer({"ls"})};
    EXPECT_EQ(unloaded.wait(), 77);
    EXPECT_TRUE(unloaded.complains("baton functions print | redis-cli -x FUNCTION LOAD")) << unloaded.err();
    EXPECT_EQ(output_of({"ls"}), "");  // as the default user: loads the functions and makes the space

    child holder{shell({"--note", "web 4.2"}, until("go"))};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    child waiter{shell({"--note", "next"}, "true")};
    ASSERT_TRUE(waiting(1));
    child ls{as_viewer({"ls"})};
    EXPECT_EQ(ls.wait(), 0) << ls.err();
    EXPECT_NE(ls.out().find("web 4.2"), std::string::npos) << ls.out();
    child why{as_viewer({"why", "a"})};
    EXPECT_EQ(why.wait(), 0) << why.err();
    EXPECT_NE(why.out().find("web 4.2"), std::string::npos) << why.out();
    child denied{as_viewer({"run", "-l", "a", "--", "true"})};
    EXPECT_EQ(denied.wait(), 77);
    EXPECT_NE(denied.err().find("the user 'baton-viewer' may only inspect"), std::string::npos) << denied.err();
    EXPECT_FALSE(shows_secret(denied));
    make("go");
    EXPECT_EQ(holder.wait(), 0);
    EXPECT_EQ(waiter.wait(), 0);
}

TEST_F(OnRedis, LsAndWhyShowHoldersAndTheQueue) {
    EXPECT_EQ(output_of({"ls"}), "");
    child holder{shell({"--note", "web 4.2", "-s", "team/b"}, until("go"))};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    child waiter{shell({"--note", "next"}, "true")};
    ASSERT_TRUE(waiting(1));

    child held{at_engine(baton({"ls", "a"}))};
    EXPECT_EQ(held.wait(), 0);
    EXPECT_NE(held.out().find("web 4.2"), std::string::npos) << held.out();
    EXPECT_EQ(held.out().find("team/b"), std::string::npos) << held.out();
    child other{at_engine(baton({"ls", "other"}))};
    EXPECT_EQ(other.wait(), 1);
    EXPECT_EQ(other.out(), "other: free\n");
    EXPECT_NE(output_of({"ls", "--prefix", "team/"}).find("team/b"), std::string::npos);
    EXPECT_NE(output_of({"ls", "--dot"}).find("digraph"), std::string::npos);

    const auto all = seen();
    ASSERT_EQ(all["requests"].size(), 2U) << all;
    EXPECT_GT(fence(), 0U);
    EXPECT_EQ(all["resources"].size(), 2U) << all;

    const std::string why = output_of({"why", "a"});
    EXPECT_NE(why.find("web 4.2"), std::string::npos) << why;
    EXPECT_NE(why.find("next"), std::string::npos) << why;
}

TEST_F(OnRedis, RevokeStopsTheHoldersCommand) {
    child first{shell({}, "trap 'echo asked; exit 1' TERM; echo up; sleep 1000 & wait")};
    ASSERT_TRUE(first.says("up")) << first.err();
    EXPECT_NE(output_of({"revoke", "a", "--fence", "1"}).find("fence 1"), std::string::npos);
    EXPECT_FALSE(first.wait(milliseconds{50})) << "another fence is another grant";
    const std::string said = output_of({"revoke", "a", "--fence", std::to_string(fence()), "--note", "maintenance"});
    // The holder may release before the inspection that follows the revocation.
    EXPECT_TRUE(said.starts_with("Asked sh ") || said.find(" has released a already.") != std::string::npos) << said;
    EXPECT_EQ(first.wait(), 76) << first.err();
    EXPECT_EQ(first.out(), "up\nasked\n");
    EXPECT_TRUE(first.complains("an operator revoked it: maintenance; stopping")) << first.err();
    EXPECT_NE(output_of({"ls", "a"}).find("abandoned"), std::string::npos);
}

class InABriefSpace : public OnRedis {
protected:
    [[nodiscard]] std::string address() const override { return at("", "pause=off&max_ttl=3s"); }
};

TEST_F(InABriefSpace, RevokeTakesATtlThatTheSpacePermits) {
    child first{shell({"-t", "2s"}, "echo up; sleep 1000 & wait")};
    ASSERT_TRUE(first.says("up")) << first.err();
    static_cast<void>(output_of({"revoke", "a", "--fence", std::to_string(fence())}));
    EXPECT_EQ(first.wait(), 76) << first.err();
}

/// No process is left to release: the name is granted to the waiter after the ttl.
TEST_F(OnRedis, NextRunGetsTheMarkAfterAllProcessesAreKilled) {
    child first{shell({"-t", "1s"}, "echo up; exec sleep " + word_)};
    ASSERT_TRUE(first.says("up")) << first.err();
    child second{shell({"-t", "1s"}, "echo marked-$BATON_ABANDONED-; exit 1")};
    ASSERT_TRUE(waiting(1));
    const pid_t guardian = guardian_of(first.id());
    ::kill(guardian, SIGSTOP);
    first.signal(SIGKILL);
    ::kill(guardian, SIGKILL);
    for (const pid_t id : sleepers()) ::kill(id, SIGKILL);
    EXPECT_EQ(second.wait(milliseconds{2'000}), 1) << "after one ttl, not two: " << second.err();
    EXPECT_EQ(second.out(), "marked-a-\n");
    EXPECT_NE(output_of({"ls", "a"}).find("abandoned"), std::string::npos) << "it failed, so nothing was repaired";
    child refused{shell({"--if-abandoned", "fail"}, "echo no")};
    EXPECT_EQ(refused.wait(), 65);
    EXPECT_EQ(output_of({"mend", "a"}), "a is no longer marked as abandoned.\n");
    child again{at_engine(baton({"mend", "a"}))};
    EXPECT_EQ(again.wait(), 1);
    EXPECT_EQ(output_of({"ls", "a"}), "a: free\n");
}

TEST_F(OnRedis, KilledBatonsTreeDiesBeforeTheNextRunGetsTheMark) {
    child first{shell({"-t", "1s", "-k", "100ms"}, "trap '' TERM; echo up; while :; do sleep " + word_ + "; done")};
    ASSERT_TRUE(first.says("up")) << first.err();
    child second{shell({}, "pgrep -fc '^sleep " + word_ + "'; echo marked-$BATON_ABANDONED-")};
    ASSERT_TRUE(waiting(1));
    first.signal(SIGKILL);
    EXPECT_EQ(second.wait(), 0) << second.err();
    EXPECT_EQ(second.out(), "0\nmarked-a-\n") << "none of the first one's processes is left";
}

TEST_F(OnRedis, StoppedBatonKeepsItsLockBeyondTheTtl) {
    child first{shell({"-t", "400ms"}, until("go"))};
    ASSERT_TRUE(first.says("up")) << first.err();
    const auto before = fence();
    first.signal(SIGSTOP);
    ASSERT_TRUE(eventually([&] { return state_of(first.id()) == 'T'; }));
    child second{shell({"-w", "1200ms"}, "echo no")};
    EXPECT_EQ(second.wait(), 75) << "several ttls later: " << second.err();
    EXPECT_EQ(fence(), before);
    first.signal(SIGCONT);
    make("go");
    EXPECT_EQ(first.wait(), 0) << first.err();
    EXPECT_EQ(first.out(), "up\ndone\n");
}

TEST_F(OnRedis, PermitsAreCountedAndResized) {
    const auto gpu = [this](const std::string& script) {
        return at_engine(baton({"run", "-p", "gpu/2", "--", "/bin/sh", "-c", script}));
    };
    child first{gpu(until("go"))};
    ASSERT_TRUE(first.says("up")) << first.err();
    child second{gpu("echo $BATON_SLOTS; " + until("go"))};
    ASSERT_TRUE(second.says("gpu=1\nup")) << second.out();
    child third{gpu("echo $BATON_SLOTS")};
    ASSERT_TRUE(waiting(1, "gpu"));
    EXPECT_NE(output_of({"resize", "gpu", "3"}).find("3"), std::string::npos);
    EXPECT_EQ(third.wait(), 0) << "there is a third permit now";
    EXPECT_EQ(third.out(), "gpu=2\n");
    make("go");
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(second.wait(), 0);
    EXPECT_NE(output_of({"resize", "gpu", "auto"}), "");
    EXPECT_EQ(output_of({"ls"}), "");
}

/// The server hands the name off when the ttl has passed: by then the command, which ignores TERM, is dead.
TEST_F(OnRedis, CommandIsStoppedBeforeTheTtlPassesIfTheServerIsSilent) {
    child first{shell({"-t", "1s"}, "trap '' TERM; echo up; while :; do sleep " + word_ + "; done")};
    ASSERT_TRUE(first.says("up")) << first.err();
    ASSERT_TRUE(sleeping(1));
    const auto silent_since = steady_clock::now();
    server_->stop();
    ASSERT_TRUE(sleeping(0));
    EXPECT_LT(steady_clock::now() - silent_since, milliseconds{1'000}) << "before the server's deadline";
    EXPECT_EQ(first.wait(), 76) << first.err();
    server_->go_on();
}

// A server that has just started may have lost what was held before: it is paused for 17 s. The verbs report the pause,
// and not that the name is held or free.
TEST_F(OnRedis, VerbsReportThePauseAndHowLongItLasts) {
    const std::string because = "the store has restarted or may have lost state, and grants nothing for another 1";
    const auto paused = [&](std::vector<std::string> words) {
        start_options options = baton(std::move(words));
        options.environment["BATON_URL"] = at("", "");
        return options;
    };
    child hasty{paused({"run", "-n", "-l", "a", "--", "echo", "no"})};
    EXPECT_EQ(hasty.wait(), 75) << hasty.out();
    EXPECT_TRUE(hasty.err().starts_with("baton: cannot acquire a: " + because)) << hasty.err();
    child in_json{paused({"run", "-n", "--json", "-l", "a", "--", "echo", "no"})};
    EXPECT_EQ(in_json.wait(), 75) << in_json.out();
    EXPECT_NE(in_json.err().find(R"("reason":"paused")"), std::string::npos) << in_json.err();
    EXPECT_NE(in_json.err().find(R"("paused_ms":1)"), std::string::npos) << in_json.err();

    child waiter{paused({"run", "-w", "1500ms", "-l", "a", "--", "echo", "no"})};
    EXPECT_TRUE(waiter.complains("waiting for a, 1 s, next in the queue; paused for another 1")) << waiter.err();
    EXPECT_EQ(waiter.wait(), 75) << waiter.out();
    EXPECT_TRUE(waiter.complains("timed out after 1.5 s waiting for a: " + because)) << waiter.err();

    child list{paused({"ls", "a"})};
    EXPECT_EQ(list.wait(), 0) << "it is not known to be free: " << list.err();
    EXPECT_TRUE(list.out().starts_with("paused: " + because)) << list.out();
    EXPECT_TRUE(list.out().ends_with("\na: not granted yet\n")) << list.out();
    child explained{paused({"why", "a"})};
    EXPECT_EQ(explained.wait(), 0) << explained.err();
    EXPECT_TRUE(explained.out().starts_with("a is not granted yet: " + because)) << explained.out();
}

TEST_F(OnRedis, WaiterReportsWhyTheServerRefusesIt) {
    child holder{shell({}, until("go"))};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    child waiter{shell({"-t", "1s"}, "echo mine")};
    ASSERT_TRUE(waiter.complains("next in the queue")) << waiter.err();
    ASSERT_EQ(server_->ask({"CONFIG", "SET", "min-replicas-to-write", "1"}).text, "OK");
    const auto begun = steady_clock::now();
    EXPECT_TRUE(waiter.complains("/0: NOREPLICAS Not enough good replicas to write; ")) << waiter.err();
    EXPECT_LT(steady_clock::now() - begun, milliseconds{2'500}) << "a renewal comes after 333 ms, the line 1 s later";
    ASSERT_EQ(server_->ask({"CONFIG", "SET", "min-replicas-to-write", "0"}).text, "OK");
    EXPECT_TRUE(waiter.complains("reached the store again; waiting for a")) << waiter.err();
    make("go");
    EXPECT_EQ(holder.wait(), 0) << holder.err();
    EXPECT_EQ(waiter.wait(), 0) << waiter.err();
}

TEST_F(OnRedis, WaiterReportsAnUnreachableServer) {
    server_->kill();
    child waiter{shell({"--json"}, "echo mine")};
    EXPECT_TRUE(waiter.complains(R"("event":"unreachable")")) << waiter.err();
    EXPECT_TRUE(waiter.complains("connection refused; is the server running")) << waiter.err();
    server_->start();
    EXPECT_EQ(waiter.wait(), 0) << waiter.err();
}

TEST_F(OnRedis, WaiterReportsAServerThatDoesNotReply) {
    server_->stop();
    const auto begun = steady_clock::now();
    child waiter{shell({}, "echo mine")};
    EXPECT_TRUE(waiter.complains("waiting for a, 1 s; no reply from redis://127.0.0.1:")) << waiter.err();
    EXPECT_LT(steady_clock::now() - begun, milliseconds{3'000}) << "it is due after 1 s";
    server_->go_on();
    EXPECT_EQ(waiter.wait(), 0) << waiter.err();
}

TEST_F(OnRedis, WaiterEndsWith69IfTheServerDiesAndItIsToFail) {
    child holder{shell({}, until("go"))};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    child in_options{shell({"--if-unavailable", "fail"}, "echo no")};
    start_options by_address = shell({}, "echo no");
    by_address.environment["BATON_URL"] = at("", "pause=off&if_unavailable=fail");
    child in_address{by_address};
    ASSERT_TRUE(waiting(2));
    server_->kill();
    for (child* each : {&in_options, &in_address}) {
        EXPECT_EQ(each->wait(milliseconds{3'000}), 69) << each->err();
        EXPECT_TRUE(each->err().find("connection refused; is the server running") != std::string::npos) << each->err();
        EXPECT_EQ(each->out(), "");
    }
    EXPECT_FALSE(holder.wait(milliseconds{0})) << "a lease is not affected: " << holder.err();
    make("go");
    EXPECT_EQ(holder.wait(), 0) << holder.err();
}

TEST_F(OnRedis, ShortServerOutageKeepsHolderAndWaiter) {
    const std::string url = at("", "max_ttl=1s&lag=0");
    const auto patient = [&](const std::string& script) {
        start_options options = shell({"-t", "1s"}, script);
        options.environment["BATON_URL"] = url;
        return options;
    };
    child first{patient("echo $BATON_FENCE; " + until("go") + "; echo $BATON_FENCE")};
    ASSERT_TRUE(first.says("up")) << "after the pause: " << first.err();
    child second{patient("echo mine")};
    EXPECT_TRUE(second.complains("next in the queue")) << second.err();
    server_->kill();
    server_->start();  // without its data
    EXPECT_TRUE(eventually([&] { return server_->ask({"EXISTS", "baton:{default}:m"}).number == 1; }));
    EXPECT_FALSE(second.wait(milliseconds{1'200})) << "beyond the pause: " << second.out();
    make("go");
    EXPECT_EQ(first.wait(), 0) << first.err();
    EXPECT_EQ(second.wait(), 0) << second.err();
    EXPECT_EQ(second.out(), "mine\n");
}

TEST_F(OnRedis, PasswordIsNeverShown) {
    const auto made = server_->ask({"ACL", "SETUSER", "bob", "on", ">s3cret", "~baton:*", "&baton:*", "+@all"});
    ASSERT_EQ(made.text, "OK");
    const auto with = [&](const std::string& user, std::vector<std::string> arguments) {
        arguments.insert(arguments.begin() + 1, {"--url", at(user, "pause=off")});
        return baton(std::move(arguments));
    };
    child holder{with("bob:s3cret@", {"run", "-v", "-l", "a", "--", "/bin/sh", "-c", until("go")})};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    EXPECT_EQ(processes_with("s3cret"), std::vector<pid_t>{}) << "baton, its guardian, the command";
    EXPECT_EQ(processes_with("bob:******@").size(), 2U);

    child waiter{with("bob:s3cret@", {"run", "-v", "-w", "100ms", "-l", "a", "--", "true"})};
    EXPECT_EQ(waiter.wait(), 75);
    child wrong{with("bob:s3cretive@", {"run", "-v", "-l", "a", "--", "true"})};
    EXPECT_EQ(wrong.wait(), 77) << wrong.err();
    child broken{with("bob:s3cret/@", {"ls"})};
    EXPECT_EQ(broken.wait(), 78) << broken.err();
    start_options by_environment = baton({"ls", "a", "--url", at("", "pause=off")});
    by_environment.environment["BATON_REDIS_USER"] = "bob";
    by_environment.environment["BATON_REDIS_PASSWORD"] = "s3cret";
    child lister{by_environment};
    EXPECT_EQ(lister.wait(), 0) << lister.err();
    make("go");
    EXPECT_EQ(holder.wait(), 0) << holder.err();
    for (child* each : {&holder, &waiter, &wrong, &broken, &lister}) EXPECT_FALSE(shows_secret(*each)) << each->err();
}

TEST_F(OnRedis, EveryVerbEndsWith69WithoutAServer) {
    const std::string url = at("bob:s3cret@", "pause=off");
    server_->kill();
    const std::string port = std::to_string(server_->tcp().port);
    const std::string sentence = "baton: cannot connect to redis://127.0.0.1:" + port +
                                 "/0: connection refused; is the server running, and does it listen on this address?\n";
    const std::vector<std::vector<std::string>> verbs{
        {"run", "-n", "-l", "a", "--", "echo", "no"},
        {"run", "-w", "300ms", "-l", "a", "--", "echo", "no"},
        {"run", "--if-unavailable", "fail", "-l", "a", "--", "echo", "no"},
        {"ls"},
        {"why", "a"},
        {"revoke", "a", "--fence", "1"},
        {"mend", "a"},
        {"resize", "a", "3"}};
    std::deque<child> all;
    for (auto arguments : verbs) {
        arguments.insert(arguments.begin() + 1, {"--url", url});
        all.emplace_back(baton(arguments));
    }
    for (child& verb : all) {
        EXPECT_EQ(verb.wait(milliseconds{2'000}), 69);
        EXPECT_EQ(verb.err(), sentence);
        EXPECT_EQ(verb.out(), "");
    }
}

TEST_F(OnRedis, ReleaseSucceedsAfterTheServerLostTheFunctions) {
    child holder{shell({}, until("go"))};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    ASSERT_EQ(server_->ask({"FUNCTION", "FLUSH"}).text, "OK");
    make("go");
    EXPECT_EQ(holder.wait(), 0) << holder.err();
    EXPECT_EQ(holder.err(), "");
    EXPECT_EQ(output_of({"ls", "a"}), "a: free\n") << "neither held nor abandoned";
}

TEST_F(OnRedis, UnconfirmedReleaseIsReportedAndKeepsTheExitCode) {
    child holder{shell({}, until("go") + "; exit 3")};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    server_->kill();
    make("go");
    EXPECT_EQ(holder.wait(), 3);
    EXPECT_EQ(holder.err(), "baton: cannot confirm the release of a; other clients may have to wait for up to 10 s: " +
                                refused_connection() + "\n");
}

TEST_F(OnRedis, UnconfirmedReleaseGivesTheServersReason) {
    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "job", "on", ">s3cret", "+@all", "~*", "&*"}).text, "OK");
    start_options options = shell({}, until("go"));
    options.environment["BATON_URL"] = at("job:s3cret@", "pause=off");
    child holder{options};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "job", "-fcall"}).text, "OK");
    make("go");
    EXPECT_EQ(holder.wait(), 0);
    EXPECT_TRUE(holder.complains("cannot confirm the release of a; ")) << holder.err();
    EXPECT_TRUE(holder.complains("NOPERM ")) << holder.err();
    EXPECT_FALSE(shows_secret(holder));
}

TEST_F(OnRedis, ALossSaysWhyTheStoreCannotBeReached) {
    child stopped{shell({"-t", "1s"}, "echo up; exec sleep 1000")};
    start_options options = run({"-t", "1s", "--json"}, {"/bin/sh", "-c", "echo up; exec sleep 1000"});
    options.environment["BATON_URL"] = address();
    std::replace(options.arguments.begin(), options.arguments.end(), std::string{"a"}, std::string{"b"});
    child in_events{options};
    ASSERT_TRUE(stopped.says("up")) << stopped.err();
    ASSERT_TRUE(in_events.says("up")) << in_events.err();
    server_->kill();
    EXPECT_EQ(stopped.wait(), 76);
    EXPECT_TRUE(stopped.complains("losing a: it could not be renewed in time (" + refused_connection() +
                                  "); stopping the command"))
        << stopped.err();
    EXPECT_EQ(in_events.wait(), 76);
    EXPECT_TRUE(in_events.complains(R"("why":"cannot connect to redis://)")) << in_events.err();
}

// A program that reads the events of a run must not meet a line of plain text.
TEST_F(OnRedis, FailuresAreEventsWithJson) {
    server_->kill();
    for (const char* const option : {"-n", "--if-unavailable=fail"}) {
        child run{shell({"--json", option}, "echo no")};
        EXPECT_EQ(run.wait(), 69);
        EXPECT_TRUE(run.err().starts_with(R"({"event":"failed",)")) << run.err();
        EXPECT_TRUE(run.complains(R"("code":69,"why":"cannot connect to redis://)")) << run.err();
        EXPECT_EQ(std::ranges::count(run.err(), '\n'), 1) << run.err();
    }
    child wrong{shell({"--json", "-t", "1ms"}, "echo no")};
    EXPECT_EQ(wrong.wait(), 64);
    EXPECT_TRUE(wrong.complains(R"("event":"failed")")) << wrong.err();
}

TEST_F(OnRedis, RefusalBySpaceOrServerEndsWith78) {
    EXPECT_EQ(output_of({"ls"}), "");
    child other{baton({"ls", "--url", at("", "pause=off&max_ttl=5s")})};
    EXPECT_EQ(other.wait(), 78);
    EXPECT_NE(other.err().find("max_ttl"), std::string::npos) << other.err();
    child run{baton({"run", "--url", at("", "pause=off&max_ttl=5s"), "-t", "1s", "-l", "a", "--", "echo", "no"})};
    EXPECT_EQ(run.wait(), 78) << run.err();
    EXPECT_EQ(run.out(), "");
}

TEST_F(OnRedis, SpacesAreSeparateAndNestedRunsAreRefused) {
    child first{shell({}, until("go"))};
    ASSERT_TRUE(first.says("up")) << first.err();
    child other{
        shell({"--space", "other", "-n"}, std::string{BATON_PROGRAM} + " run -l a -- echo no; echo $? $BATON_SPACE")};
    EXPECT_EQ(other.wait(), 0) << other.err();
    EXPECT_EQ(other.out(), "75 other\n");
    EXPECT_NE(other.err().find("a run around this one already holds it"), std::string::npos) << other.err();
    make("go");
    EXPECT_EQ(first.wait(), 0);
}

}  // namespace
}  // namespace baton::testing
