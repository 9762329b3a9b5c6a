// The program with other programs' protocols: run, ls and why in each dialect, and the errors for features that a
// protocol does not have.
#include <signal.h>

#include <map>

#include "../redis/private_server.hpp"
#include "shells.hpp"

namespace baton::testing {
namespace {

class OnDialects : public Shells {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        server_.emplace();
    }
    [[nodiscard]] std::string address() const override { return server_->url() + "?dialect=" + dialect(); }
    [[nodiscard]] virtual std::string dialect() const = 0;

    std::optional<redis_tests::private_server> server_;
};

class OnEachDialect : public OnDialects, public ::testing::WithParamInterface<const char*> {
protected:
    [[nodiscard]] std::string dialect() const override { return GetParam(); }
};

TEST_P(OnEachDialect, SecondShellSeesItsPositionAndIsGranted) {
    child first{shell({}, until("go"))};
    ASSERT_TRUE(first.says("up")) << first.err();
    child second{shell({}, "echo mine $BATON_FENCE")};
    EXPECT_TRUE(second.complains("waiting for a, 1 s, next in the queue; held by ")) << second.err();
    const std::string listed = output_of({"ls"});
    EXPECT_TRUE(listed.starts_with("a: held, 1 waiting\n  holds  exclusive: ")) << listed;
    EXPECT_EQ(listed.find("fence"), std::string::npos) << "the protocol shows no fences: " << listed;
    EXPECT_EQ(output_of({"ls", "a"}), listed);
    EXPECT_EQ(output_of({"ls", "--prefix", "b"}), "");
    EXPECT_TRUE(seen()["foreign"].get<bool>());
    EXPECT_FALSE(seen()["requests"][0].contains("age_ms"));
    const std::string why = output_of({"why", "a"});
    EXPECT_TRUE(why.starts_with("a is held by ")) << why;
    EXPECT_NE(why.find(" (exclusive). 1 request waits for it; next is "), std::string::npos) << why;
    make("go");
    EXPECT_EQ(first.wait(), 0) << first.err();
    EXPECT_EQ(second.wait(), 0) << second.err();
    EXPECT_TRUE(second.out().starts_with("mine ")) << second.out();
    EXPECT_EQ(output_of({"ls"}), "");
}

TEST_P(OnEachDialect, NonblockAndTimeoutEndWith75) {
    child holder{shell({}, until("go"))};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    child impatient{shell({"-n"}, "echo no")};
    EXPECT_EQ(impatient.wait(), 75) << impatient.err();
    child patient{shell({"-w", "100ms"}, "echo no")};
    EXPECT_EQ(patient.wait(), 75) << patient.err();
    EXPECT_EQ(impatient.out() + patient.out(), "");
    EXPECT_EQ(waiters(), 0U) << "the queue is empty";
}

TEST_P(OnEachDialect, UnsupportedRequestsAreRefusedAndNothingRuns) {
    const auto refused = [this](std::vector<std::string> options) {
        child run{shell(std::move(options), "echo ran")};
        EXPECT_EQ(run.wait(), 78) << run.err();
        EXPECT_EQ(run.out(), "");
        return run.err();
    };
    EXPECT_NE(refused({"-l", "b"}).find("at a time; several at once need the native protocol"), std::string::npos);
    EXPECT_NE(refused({"--ttl", "7s"}).find("--ttl: the address prescribes the ttl, "), std::string::npos);
    EXPECT_NE(refused({"--space", "x"}).find(" has no option space; there are "), std::string::npos);
    child holder{shell({}, until("go"))};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    EXPECT_EQ(output_of({"revoke", "a", "--fence", "1"}),
              "baton: cannot revoke a: the protocol of this dialect does not support it; see docs/dialects.md\n");
    EXPECT_NE(output_of({"mend", "a"}).find("does not support this"), std::string::npos);
}

/// The lock's key is deleted on the server. The server still replies to renewals, so the reason is not a late renewal.
TEST_P(OnEachDialect, LossNamesADeletedKeyAsItsReason) {
    struct deletion {
        const char* fast_renewals;
        const char* key;
    };
    const std::map<std::string, deletion> deletions{
        {"amphp", {"&lock_renew_interval=100ms", "lock:a"}},
        {"redturn", {"&refresh_interval=100ms", "a"}},
        {"adv-sem", {"&ping_interval=100ms", "adv-sem:semaphore_main:a"}},
    };
    const deletion& each = deletions.at(dialect());
    start_options options = shell({}, "echo up; exec sleep " + word_);
    options.environment["BATON_URL"] = address() + each.fast_renewals;
    child run{std::move(options)};
    ASSERT_TRUE(run.says("up")) << run.err();
    EXPECT_EQ(server_->ask({"DEL", each.key}).number, 1);
    EXPECT_EQ(run.wait(), 76) << run.err();
    EXPECT_NE(run.err().find("losing a: the store no longer has it"), std::string::npos) << run.err();
    EXPECT_EQ(run.err().find("renewed in time"), std::string::npos) << run.err();
    EXPECT_TRUE(sleeping(0));
}

/// The key of the name holds data of another program: this is no internal error, and waiting would not help.
TEST_P(OnEachDialect, CodeIs78IfTheKeyOfANameHoldsOtherData) {
    const std::map<std::string, std::vector<std::string>> others{
        {"amphp", {"RPUSH", "lock:a", "job"}},
        {"redturn", {"SET", "a", "text"}},
        {"adv-sem", {"SET", "adv-sem:semaphore_main:a", "text"}},
    };
    static_cast<void>(server_->ask(others.at(dialect())));
    child run{shell({}, "echo ran")};
    EXPECT_EQ(run.wait(), 78) << run.err();
    EXPECT_EQ(run.err(),
              "baton: cannot acquire a: the server's key for this name holds data of another kind, not a lock\n");
    EXPECT_EQ(run.out(), "");
}

/// Other clients see the ids of the protocol, which have no room for a note.
TEST_P(OnEachDialect, RunWarnsThatANoteIsNotShown) {
    child run{shell({"--note", "web 4.2"}, "echo ran")};
    EXPECT_EQ(run.wait(), 0) << run.err();
    EXPECT_EQ(run.err(),
              "baton: --note is not shown to other clients: the protocol of this dialect has no field for it\n");
    EXPECT_EQ(run.out(), "ran\n");
    child quiet{shell({"--note", "web 4.2", "-q"}, "echo ran")};
    EXPECT_EQ(quiet.wait(), 0) << quiet.err();
    EXPECT_EQ(quiet.err(), "");
}

INSTANTIATE_TEST_SUITE_P(, OnEachDialect, ::testing::Values("amphp", "redturn", "adv-sem"),
                         [](const auto& dialect) { return std::string{dialect.param}.substr(0, 3); });

/// In this dialect no process can renew for a stopped baton, so its command is stopped before the lock expires.
class OnAmphp : public OnDialects {
protected:
    [[nodiscard]] std::string dialect() const override { return "amphp&lock_expiration=1s"; }
};

TEST_F(OnAmphp, CommandOfAStoppedOrKilledBatonEndsBeforeTheHandOff) {
    for (const int how : {SIGSTOP, SIGKILL}) {
        child first{shell({}, "echo up; exec sleep " + word_)};
        ASSERT_TRUE(first.says("up")) << first.err();
        ASSERT_TRUE(sleeping(1));
        first.signal(how);
        child second{shell({}, "echo mine; pgrep -f '^sleep " + word_ + "' || echo alone")};
        EXPECT_EQ(second.wait(), 0) << second.err();
        EXPECT_EQ(second.out(), "mine\nalone\n") << how;
        first.signal(SIGCONT);
        EXPECT_TRUE(first.wait());
    }
}

/// The ttl of this protocol limits how long a slot is held. It is shorter than the heartbeat that the client renews.
class OnAdvSem : public OnDialects {
protected:
    [[nodiscard]] std::string dialect() const override { return "adv-sem&ttl=" + ttl_; }

    std::string ttl_ = "20s";
};

TEST_F(OnAdvSem, CommandThatEndsWithinTheTtlIsNotStopped) {
    child run{shell({}, until("go"))};
    ASSERT_TRUE(run.says("up")) << run.err();
    make("go");
    EXPECT_EQ(run.wait(), 0) << run.err();
    EXPECT_EQ(run.out(), "up\ndone\n");
    EXPECT_EQ(run.err(), "");
}

TEST_F(OnAdvSem, CommandIsStoppedBeforeTheTtlPasses) {
    ttl_ = "2s";
    child run{shell({}, "echo up; exec sleep " + word_)};
    ASSERT_TRUE(run.says("up")) << run.err();
    child next{shell({}, "echo mine; pgrep -f '^sleep " + word_ + "' || echo alone")};
    EXPECT_EQ(run.wait(), 124) << run.err();
    EXPECT_EQ(run.err(), "baton: stopped the command: the hold limit of the address for a is 2 s\n");
    EXPECT_EQ(next.wait(), 0) << next.err();
    EXPECT_EQ(next.out(), "mine\nalone\n");
}

/// Without the option the command would be stopped while it still holds the slot.
TEST_F(OnAdvSem, IgnoredLossIsReportedWithTheHoldLimitAsReason) {
    ttl_ = "2s";
    child run{shell({"--on-lost", "ignore"}, until("go"))};
    EXPECT_TRUE(run.complains("lost a: its hold limit has passed; the command runs on without it")) << run.err();
    make("go");
    EXPECT_EQ(run.wait(), 0) << run.err();
}

TEST_F(OnAdvSem, KillAfterMustFitIntoTheTtl) {
    ttl_ = "4s";
    child run{shell({"--kill-after", "3s"}, "echo ran")};
    EXPECT_EQ(run.wait(), 64) << run.err();
    EXPECT_NE(run.err().find("--kill-after 3 s: at most half of the hold limit of the address, which is 4 s"),
              std::string::npos)
        << run.err();
    EXPECT_EQ(run.out(), "");
}

}  // namespace
}  // namespace baton::testing
