// Planned failovers (decision 045): the space goes on without a pause if the former primary shows that the new one has
// all that it wrote, and only then. Real servers, whose roles the tests change; clients find the primary by a proxy.
#include <thread>

#include "pulse.hpp"
#include "server_clock.hpp"
#include "state_test.hpp"
#include "stores/redis/function_library.hpp"
#include "unpaused_space.hpp"

namespace baton::redis_tests {
namespace {

/// The last write must be at most max_ttl - lag ago. A FAILOVER waits for an acknowledgement, which a replica sends
/// once per second.
const terms patient{.max_ttl = 10s, .lag = 500ms};
/// For tests of pauses.
const terms brief{.max_ttl = 2'500ms, .lag = 500ms};
/// A lease lasts longer than a failover takes on a busy machine.
const terms lasting{.max_ttl = 4s, .lag = 500ms};

/// The epoch and the end of the pause, in the head of the space.
std::string epoch_at(const private_server& server) {
    return server.ask({"HGET", "baton:{default}:m", ""}).text.substr(16, 16);
}

class RedisHandover : public RedisState {
protected:
    explicit RedisHandover(terms terms = patient, const server_options& second = replicating())
        : space_{std::move(terms)}, second_{second} {}

    /// Starts the servers, and clients at the first.
    void begin() {
        make_unpaused_space(first_, url_at(first_.at(), space_));
        ASSERT_TRUE(follow(second_, link_.at()));
        other_ = std::make_unique<client>(url_at(address_.at(), space_), options_of(1s));
        warm_up(*other_);
        before_ = epoch_at(first_);
    }
    void SetUp() override {
        RedisState::SetUp();
        if (!IsSkipped()) begin();
    }

    /// Without a lost write: the steps of an administrator.
    void hand_over_by_hand() {
        ASSERT_EQ(first_.ask({"CLIENT", "PAUSE", "5000", "WRITE"}).text, "OK");
        ASSERT_TRUE(catches_up(first_, second_));
        promote(second_);
        begin_to_follow(first_, second_.tcp());
        ASSERT_EQ(first_.ask({"CLIENT", "UNPAUSE"}).text, "OK");
    }
    void fail_over(const private_server& from, const private_server& to) {
        const std::string port = std::to_string(to.tcp().port);
        // It refuses until the replica is online.
        ASSERT_TRUE(eventually([&] { return from.ask({"FAILOVER", "TO", "127.0.0.1", port}).text == "OK"; }));
        ASSERT_TRUE(eventually([&] { return info(to, "replication", "role") == "master"; }));
    }
    void lead_to(const private_server& server) { address_.move_to(server.at()); }

    /// A free name is granted at once.
    void expect_no_pause(const private_server& server) {
        const auto start = std::chrono::steady_clock::now();
        const lease free = other_->acquire(exclusive("free"), patiently);
        EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);
        EXPECT_EQ(epoch_at(server), before_) << "the epoch stays, so nothing has to be presented again";
    }
    void expect_pause(const private_server& server) {
        const auto start = std::chrono::steady_clock::now();
        const lease free = other_->acquire(exclusive("free"), patiently);
        EXPECT_GT(std::chrono::steady_clock::now() - start, space_.max_ttl);
        EXPECT_NE(epoch_at(server), before_);
    }

    const terms space_;
    private_server first_{replicating()};
    private_server second_;
    proxy link_{first_.tcp(), endpoint{std::uint16_t{0}}};
    folder files_;
    proxy address_{first_.at(), files_.path("address")};
    std::unique_ptr<client> other_;
    std::string before_;
};

TEST_F(RedisHandover, TheFailoverCommandKeepsLeasesAndOrderWithoutAPause) {
    client holder = client_to(address_.at(), space_, 5s);
    lease held = holder.acquire(exclusive("x"), patiently);
    std::atomic<int> grants{0};
    std::vector<std::jthread> waiters;
    std::vector<std::unique_ptr<client>> clients;
    for (int place = 1; place <= 2; ++place) {
        clients.push_back(std::make_unique<client>(url_at(address_.at(), space_), options_of(5s)));
        waiters.emplace_back([&grants, place, client = clients.back().get()] {
            const lease mine = client->acquire(exclusive("x"), patiently);
            EXPECT_EQ(++grants, place);
        });
        const auto waiting = [&] {
            for (const auto& each : holder.inspect().resources)
                if (each.name == "x") return each.queue.size() == static_cast<std::size_t>(place);
            return false;
        };
        ASSERT_TRUE(eventually(waiting));
    }
    const auto fence = held.fence();
    fail_over(first_, second_);
    lead_to(second_);
    expect_no_pause(second_);
    EXPECT_TRUE(held.valid()) << to_string(held.lost_reason());
    EXPECT_EQ(held.fence(), fence);
    EXPECT_EQ(grants, 0);
    held.release();
    waiters.clear();
    EXPECT_EQ(grants, 2);
}

TEST_F(RedisHandover, ThereAndBackTwiceKeepsTheEpoch) {
    for (int round = 0; round < 2; ++round) {
        fail_over(first_, second_);
        lead_to(second_);
        expect_no_pause(second_);
        fail_over(second_, first_);
        lead_to(first_);
        expect_no_pause(first_);
    }
}

TEST_F(RedisHandover, GrantsStopForLessThanASecond) {
    pulse pulse{url_at(address_.at(), space_), "pulse", options_of()};
    pulse.begin_anew();
    hand_over_by_hand();
    lead_to(second_);
    EXPECT_TRUE(pulse.watch(1s));
    EXPECT_LT(pulse.longest_gap(), 1s);
}

TEST_F(RedisHandover, RolesThatAreChangedByHandMakeNoPause) {
    hand_over_by_hand();
    lead_to(second_);
    expect_no_pause(second_);
}

TEST_F(RedisHandover, AClientThatWasNeverConnectedMakesNoPause) {
    hand_over_by_hand();
    address_.cut({.refuse = true});
    client newcomer = client_to(second_.at(), space_);
    const auto start = std::chrono::steady_clock::now();
    const lease free = newcomer.acquire(exclusive("free"), patiently);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);
    EXPECT_EQ(epoch_at(second_), before_);
}

/// A third server is promoted, and both others follow it: the old primary directly.
TEST_F(RedisHandover, AnotherReplicaMakesNoPauseEither) {
    const private_server third{replicating()};
    ASSERT_TRUE(follow(third, second_.tcp()));
    ASSERT_EQ(first_.ask({"CLIENT", "PAUSE", "5000", "WRITE"}).text, "OK");
    ASSERT_TRUE(catches_up(first_, third));
    promote(third);
    begin_to_follow(first_, third.tcp());
    begin_to_follow(second_, third.tcp());
    ASSERT_EQ(first_.ask({"CLIENT", "UNPAUSE"}).text, "OK");
    lead_to(third);
    expect_no_pause(third);
}

// ---- what cannot be proven

class RedisHandoverLoss : public RedisHandover {
protected:
    RedisHandoverLoss() : RedisHandover{brief} {}
};

/// The first server writes after the second was promoted. Then it becomes its replica, by a full resynchronisation.
TEST_F(RedisHandoverLoss, AWriteOfTheFormerPrimaryThatIsLostMakesAPause) {
    promote(second_);
    { const lease lost = other_->acquire(exclusive("lost"), patiently); }
    begin_to_follow(first_, second_.tcp());
    lead_to(second_);
    expect_pause(second_);
}

TEST_F(RedisHandoverLoss, AFormerPrimaryThatRunsOnMakesAPause) {
    promote(second_);
    lead_to(second_);
    expect_pause(second_);
}

TEST_F(RedisHandoverLoss, AFormerPrimaryThatIsDeadMakesAPause) {
    promote(second_);
    first_.kill();
    lead_to(second_);
    expect_pause(second_);
}

/// It cannot tell which commands it had performed while it was a writable replica.
TEST_F(RedisHandoverLoss, AFormerPrimaryThatTakesWritesMakesAPause) {
    ASSERT_EQ(first_.ask({"CONFIG", "SET", "replica-read-only", "no"}).text, "OK");
    hand_over_by_hand();
    lead_to(second_);
    expect_pause(second_);
}

/// Data that the library of the former primary did not write, and had no call to notice yet.
TEST_F(RedisHandoverLoss, DataThatWereReplacedBeforeTheFailoverMakeAPause) {
    const std::string older = first_.ask({"DUMP", "baton:{default}:m"}).text;
    { const lease later = other_->acquire(exclusive("later"), patiently); }
    address_.cut({.refuse = true});
    ASSERT_EQ(first_.ask({"RESTORE", "baton:{default}:m", "0", older, "REPLACE"}).text, "OK");
    hand_over_by_hand();
    client newcomer = client_to(second_.at(), space_);
    const auto start = std::chrono::steady_clock::now();
    const lease free = newcomer.acquire(exclusive("free"), patiently);
    EXPECT_GT(std::chrono::steady_clock::now() - start, space_.max_ttl);
}

/// The former primary was restarted as a replica with an older copy of its data, so that it continues from there.
TEST_F(RedisHandoverLoss, AFormerPrimaryThatWasRestartedMakesAPause) {
    first_.copy_aside("older");
    { const lease lost = other_->acquire(exclusive("lost"), patiently); }
    first_.kill();
    first_.put_back("older");
    promote(second_);
    first_.start();
    ASSERT_TRUE(follow(first_, second_.tcp()));
    lead_to(second_);
    expect_pause(second_);
}

/// The space was last used longer ago than another server needs to begin to grant.
TEST_F(RedisHandoverLoss, AnIdleSpaceMakesAPause) {
    other_.reset();
    address_.cut({.refuse = true});
    ASSERT_TRUE(eventually([&] {
        const auto noted = std::stoll(first_.ask({"HGET", "baton:{default}:m", ""}).text.substr(48, 16));
        const resp::value now = first_.ask({"TIME"});
        return std::stoll(now.items[0].text) * 1'000'000 - noted > 2'000'000;
    }));
    hand_over_by_hand();
    client newcomer = client_to(second_.at(), space_);
    const auto start = std::chrono::steady_clock::now();
    const lease free = newcomer.acquire(exclusive("free"), patiently);
    EXPECT_GT(std::chrono::steady_clock::now() - start, space_.max_ttl);
}

/// Two replicas are promoted. The former primary follows one and then the other, so it attests for neither in the end.
TEST_F(RedisHandoverLoss, OfTwoPromotedReplicasTheSecondPauses) {
    const private_server third{replicating()};
    ASSERT_TRUE(follow(third, first_.tcp()));
    ASSERT_EQ(first_.ask({"CLIENT", "PAUSE", "5000", "WRITE"}).text, "OK");
    ASSERT_TRUE(catches_up(first_, third) && catches_up(first_, second_));
    promote(third);
    promote(second_);
    ASSERT_TRUE(follow(first_, third.tcp()));
    ASSERT_TRUE(follow(first_, second_.tcp()));
    lead_to(second_);
    expect_pause(second_);
}

// ---- what the conditions protect from: a holder is cut off, and believes on

class RedisHandoverProof : public RedisHandover {
protected:
    explicit RedisHandoverProof(const server_options& second = replicating()) : RedisHandover{lasting, second} {}
    void SetUp() override { RedisState::SetUp(); }

    /// The released library with another text in the place of a condition. It has the same name.
    static std::string library_with(const std::string& text, const std::string& in_place_of) {
        std::string all{redis::server_library().text};
        const std::size_t place = all.find(in_place_of);
        EXPECT_NE(place, std::string::npos) << "the library does not contain: " << in_place_of;
        return place == std::string::npos ? all : all.replace(place, in_place_of.size(), text);
    }
    static std::string released() { return std::string{redis::server_library().text}; }
    void begin_with(const std::string& library) {
        ASSERT_EQ(first_.ask({"FUNCTION", "LOAD", library}).text, redis::server_library().name);
        begin();
    }
    /// True if another client is granted "x" while the holder believes.
    bool two_hold(client& other, const lone_holder& holder) {
        EXPECT_TRUE(holder.believes()) << "the test was too slow";
        std::error_code error;
        const lease next = other.acquire(exclusive("x"), patiently, error);
        EXPECT_TRUE(next.valid()) << error.message();
        return holder.believes();
    }

    /// "x" is held by a write that only the former primary has. It waits for its full resynchronisation, and still has
    /// its memory.
    bool two_hold_after_a_lost_write(const std::string& library) {
        begin_with(library);
        EXPECT_EQ(second_.ask({"CONFIG", "SET", "repl-diskless-sync-delay", "5"}).text, "OK");
        lone_holder lone{first_.at(), space_};
        link_.set({.drop_replies = true});
        lone.acquire();
        lone.cut_off();
        promote(second_);
        begin_to_follow(first_, second_.tcp());
        EXPECT_TRUE(eventually([&] { return info(second_, "replication", "connected_slaves") == "1"; }));
        lead_to(second_);
        return two_hold(*other_, lone);
    }
    /// A third server was the primary in between: "x" is held there. Then it is left for the second one, and the first
    /// one attests that it has no other write.
    bool two_hold_after_a_third_server(const std::string& library) {
        begin_with(library);
        const private_server third{replicating()};
        EXPECT_TRUE(follow(third, first_.tcp()));
        EXPECT_EQ(first_.ask({"CLIENT", "PAUSE", "1000", "WRITE"}).text, "OK");
        EXPECT_TRUE(catches_up(first_, third) && catches_up(first_, second_));
        begin_to_follow(first_, endpoint{std::uint16_t{1}});
        promote(third);
        lead_to(third);
        lone_holder lone{third.at(), space_};
        lone.acquire();
        lone.cut_off();
        promote(second_);
        EXPECT_TRUE(follow(first_, second_.tcp()));
        client newcomer = client_to(second_.at(), space_);
        return two_hold(newcomer, lone);
    }
};

TEST_F(RedisHandoverProof, ALostWriteMakesNoSecondHolder) { EXPECT_FALSE(two_hold_after_a_lost_write(released())); }
TEST_F(RedisHandoverProof, IfEveryAttestationIsBelievedALostWriteMakesTwoHolders) {
    EXPECT_TRUE(two_hold_after_a_lost_write(
        library_with("if #attested > 1 then return true end return at", "return at and its_run_id == run_id")));
}

TEST_F(RedisHandoverProof, AThirdServerThatServedInBetweenMakesNoSecondHolder) {
    EXPECT_FALSE(two_hold_after_a_third_server(released()));
}
TEST_F(RedisHandoverProof, IfAnIdleSpaceIsBelievedAThirdServerMakesTwoHolders) {
    EXPECT_TRUE(two_hold_after_a_third_server(
        library_with("and true", "and is_recent(step, sub(head, 49, 64), trusted_for(step))")));
}

class RedisHandoverClocks : public RedisHandoverProof {
protected:
    RedisHandoverClocks() : RedisHandoverProof{with_clock()} {}
    ~RedisHandoverClocks() override { clock_of_second().jump(-ahead_); }

    void set_ahead(std::chrono::milliseconds by) {
        clock_of_second().jump(by);
        ahead_ = by;
    }
    /// The holder's lease ends early at the new primary.
    bool two_hold_after_a_step(const std::string& library) {
        set_ahead(600ms);
        begin_with(library);
        lone_holder lone{first_.at(), space_};
        lone.acquire();
        lone.cut_off();
        hand_over_by_hand();
        lead_to(second_);
        return two_hold(*other_, lone);
    }

private:
    // The server, which the base class starts, needs it: so it is not a member.
    static server_clock& clock_of_second() {
        static folder place;
        static server_clock clock{place.path("clock")};
        return clock;
    }
    static server_options with_clock() {
        server_options options = replicating();
        options.clock = &clock_of_second();
        return options;
    }
    std::chrono::milliseconds ahead_{0};
};

TEST_F(RedisHandoverClocks, AClockThatIsAheadMakesAPause) {
    set_ahead(200ms);
    begin_with(released());
    hand_over_by_hand();
    lead_to(second_);
    expect_pause(second_);
}

TEST_F(RedisHandoverClocks, AClockThatIsBehindMakesNoPause) {
    set_ahead(-200ms);
    begin_with(released());
    hand_over_by_hand();
    lead_to(second_);
    expect_no_pause(second_);
}

TEST_F(RedisHandoverClocks, AClockThatIsAheadMakesNoSecondHolder) { EXPECT_FALSE(two_hold_after_a_step(released())); }
TEST_F(RedisHandoverClocks, IfClocksAreNotComparedOneThatIsAheadMakesTwoHolders) {
    EXPECT_TRUE(two_hold_after_a_step(library_with("and true", "and step.at - tonumber(at) <= same_time")));
}

}  // namespace
}  // namespace baton::redis_tests
