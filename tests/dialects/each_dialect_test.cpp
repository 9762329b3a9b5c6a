// Tests of our client that all dialects share: waits, hand-offs, losses, and servers that restart or lose their
// scripts. Each dialect's own tests are in its own file.
#include <atomic>

#include "dialect_facts.hpp"
#include "dialect_test.hpp"

namespace baton::dialect_tests {
namespace {

class EachDialect : public Dialect, public testing::WithParamInterface<dialect_facts> {
protected:
    EachDialect() : Dialect{GetParam().name} {}

    /// The clients of the test have ended.
    void TearDown() override {
        if (!server_) return;
        EXPECT_TRUE(nothing_is_left()) << testing::PrintToString(keys());
        // The server tracks a key for a client until the key changes. Clients of amphp track the lock at their end,
        // too.
        EXPECT_TRUE(eventually([&] { return name_ == "amphp" || watched_keys() == 0; })) << watched_keys();
    }

    [[nodiscard]] std::string holder_key(const std::string& name) const { return GetParam().holder_key + name; }
    /// The waiters on the server, in order.
    [[nodiscard]] words queue(const std::string& name = "a") const {
        words found;
        for (const resp::value& each : ask({GetParam().read_queue, GetParam().queue_key + name, "0", "-1"}).items)
            found.push_back(each.text);
        if (GetParam().holder_is_in_the_queue && !found.empty()) found.erase(found.begin());
        return found;
    }
    [[nodiscard]] bool queued(std::size_t count, const std::string& name = "a") const {
        return eventually([&] { return queue(name).size() == count; });
    }
    /// The part of an element that a refresh does not change. Elements of redturn are ID:CHANNEL:TIMEOUT, and a refresh
    /// changes the id.
    [[nodiscard]] static std::string stable(const std::string& text) {
        const std::size_t colon = text.find(':');
        return colon == std::string::npos ? text : text.substr(colon + 1);
    }
    [[nodiscard]] std::string holder(const std::string& name = "a") const {
        const resp::value answer = ask(GetParam().read_holder(holder_key(name)));
        return stable(answer.items.empty() ? answer.text : answer.items[0].text);
    }

    /// All keys except limits of semaphores, which stay when the semaphore is free.
    [[nodiscard]] words keys_but_limits() const {
        words found = keys();
        std::erase_if(found, [](const std::string& key) { return key.starts_with("adv-sem:semaphore_max:"); });
        return found;
    }
    [[nodiscard]] bool only_left(words names) const {
        for (std::string& name : names) name = holder_key(name);
        std::ranges::sort(names);
        return eventually([&] { return keys_but_limits() == names; });
    }
    [[nodiscard]] bool nothing_is_left() const { return only_left({}); }

    /// True when a renewal that is sent from now on is confirmed.
    static bool is_renewed(const lease& held) {
        const auto before = held.valid_until();
        return eventually([&] { return held.valid_until() > before; });
    }
    static void expect_kept(const lease& held) {
        EXPECT_TRUE(held.valid());
        EXPECT_FALSE(held.lost().stop_requested());
        EXPECT_EQ(held.lost_reason(), loss::none);
    }
};

TEST_P(EachDialect, ASecondAcquireTimesOutAndSucceedsAfterTheRelease) {
    client first = join(), second = join();
    auto [held, error] = pending{first, "a"}.get();
    EXPECT_FALSE(error);
    EXPECT_TRUE(held.valid());
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(second.acquire(exclusive("a"), {.wait = 200ms}, error).valid());
    EXPECT_EQ(error, errc::timed_out);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 200ms);
    // A second request of the same client is not granted either.
    EXPECT_FALSE(first.acquire(exclusive("a"), {.wait = 50ms}, error).valid());
    EXPECT_EQ(error, errc::timed_out);
    EXPECT_FALSE(second.try_acquire(exclusive("a")));
    EXPECT_FALSE(first.try_acquire(exclusive("a")));
    EXPECT_TRUE(held.valid());
    EXPECT_TRUE(only_left({"a"})) << testing::PrintToString(keys());
    const std::uint64_t fence = held.fence();
    held.release();
    const lease next = second.acquire(exclusive("a"), {.wait = 10s});
    EXPECT_TRUE(next.valid());
    EXPECT_GT(next.fence(), fence);
}

TEST_P(EachDialect, AWaitThatEndsLeavesNothing) {
    client owner = join(GetParam().long_lived), ours = join(GetParam().long_lived);
    lease held = owner.acquire(exclusive("a"));
    const std::string before = holder();
    std::stop_source stop;
    pending cancelled{ours, "a", {}, stop.get_token()};
    ASSERT_TRUE(queued(1));
    pending timed{ours, "a", {.wait = 200ms}};
    ASSERT_TRUE(queued(2));
    stop.request_stop();
    const auto cancelled_as = cancelled.get(), timed_as = timed.get();
    EXPECT_FALSE(cancelled_as.lease.valid());
    EXPECT_EQ(cancelled_as.error, std::errc::operation_canceled);
    EXPECT_FALSE(timed_as.lease.valid());
    EXPECT_EQ(timed_as.error, errc::timed_out);
    EXPECT_FALSE(ours.try_acquire(exclusive("a")));
    EXPECT_TRUE(only_left({"a"})) << testing::PrintToString(keys());
    pending closed{ours, "a"};
    ASSERT_TRUE(queued(1));
    ours.close(10s);
    EXPECT_EQ(closed.error(), errc::closed);
    EXPECT_TRUE(queue().empty());
    EXPECT_TRUE(only_left({"a"})) << testing::PrintToString(keys());
    EXPECT_EQ(holder(), before);
    EXPECT_TRUE(held.valid());
}

TEST_P(EachDialect, AHoldLimitEndsALeaseThatIsRenewed) {
    client first = join(GetParam().often_renewed), second = join();
    for (const bool awaited : {false, true}) {
        const lease held = first.acquire(exclusive("a"), {.wait = 10s, .max_hold = 300ms});
        EXPECT_TRUE(held.valid());
        if (awaited) {
            EXPECT_TRUE(second.acquire(exclusive("a"), {.wait = 10s}).valid());
            EXPECT_FALSE(held.valid());
        }
        EXPECT_TRUE(is_lost(held, loss::hold_limit));
        EXPECT_TRUE(nothing_is_left()) << testing::PrintToString(keys());
    }
    std::error_code error;
    EXPECT_FALSE(first.acquire(exclusive("a"), {.max_hold = 0ms}, error).valid());
    EXPECT_EQ(error, error_kind::refused);
}

/// The lease turns invalid before another client is granted the name.
TEST_P(EachDialect, ACutOffHolderLosesItsLeaseBeforeTheNextGrant) {
    for (const bool silent : {false, true}) {
        proxied way{*server_, name_};
        client ours = way.join(GetParam().mortal), other = join(GetParam().mortal);
        lease held = ours.acquire(exclusive("a"));
        const std::string dead = holder();
        std::atomic<bool> both = false;
        pending next{other, exclusive("a"), {}, {}, [&] { both = held.valid(); }};
        ASSERT_TRUE(queued(1));
        EXPECT_TRUE(held.valid());
        silent ? way.proxy.set({.swallow_requests = true}) : way.proxy.cut({.refuse = true});
        lease taken = next.held();
        EXPECT_TRUE(taken.valid());
        EXPECT_FALSE(both);
        EXPECT_TRUE(was_cut_off(held)) << to_string(held.lost_reason());
        EXPECT_GT(taken.fence(), held.fence());
        ASSERT_EQ(taken.abandoned().size(), GetParam().tells_abandoned ? 1U : 0U);
        for (const auto& mark : taken.abandoned()) {
            EXPECT_EQ(mark.resource, "a");
            EXPECT_NE((dead + " ").find(mark.label.substr(mark.label.rfind(' ') + 1)), std::string::npos) << mark.label;
        }
        // The holder reconnects late and releases the lost lease, which has no effect.
        held.release();
        way.proxy.cut({});
        EXPECT_TRUE(ours.acquire(exclusive("b"), {.wait = 10s}).valid());
        EXPECT_TRUE(taken.valid());
        EXPECT_FALSE(other.try_acquire(exclusive("a")));
        EXPECT_TRUE(queue().empty());
    }
}

/// The same with a peer, which connects directly.
TEST_P(EachDialect, ACutOffHolderLosesItsLeaseBeforeAPeerIsGranted) {
    proxied way{*server_, name_};
    client ours = way.join(GetParam().mortal);
    lease held = ours.acquire(exclusive("a"));
    const auto other = peer(GetParam().mortal_peer);
    other->tell("acquire x a");
    ASSERT_TRUE(queued(1));
    EXPECT_TRUE(held.valid());
    way.proxy.cut({.refuse = true});
    EXPECT_EQ(other->hear(), "acquired x");
    EXPECT_FALSE(held.valid());
    EXPECT_TRUE(was_cut_off(held)) << to_string(held.lost_reason());
    held.release();
    const std::string theirs = holder();
    way.proxy.set({});
    EXPECT_TRUE(ours.acquire(exclusive("b"), {.wait = 10s}).valid());
    EXPECT_EQ(holder(), theirs);
    other->tell("release x");
    EXPECT_EQ(other->hear(), "released x");
}

/// In the first case the waiter is granted the name while it is cut off.
TEST_P(EachDialect, ACutOffWaiterKeepsItsQueuePositionAndAHolderItsLease) {
    for (const bool away : {true, false}) {
        proxied way{*server_, name_};
        client ours = way.join(GetParam().renewed), other = join(GetParam().renewed);
        lease held = ours.acquire(exclusive("held"));
        lease before = other.acquire(exclusive("a"));
        pending first{ours, "a"};
        ASSERT_TRUE(queued(1));
        pending second{other, "a"};
        ASSERT_TRUE(queued(2));
        const words order = queue();
        away ? way.proxy.cut({.refuse = true}) : way.proxy.cut();
        EXPECT_EQ(queue(), order);
        if (away) {
            before.release();
            EXPECT_TRUE(eventually([&] { return holder() == stable(order[0]); }));
            way.proxy.set({});
        } else {
            EXPECT_TRUE(is_renewed(held)) << "the client has reconnected";
            EXPECT_EQ(queue(), order);
            before.release();
        }
        lease taken = first.held();
        EXPECT_TRUE(taken.valid());
        EXPECT_EQ(holder(), stable(order[0]));
        EXPECT_FALSE(second.is_over());
        EXPECT_TRUE(held.valid());
        taken.release();
        EXPECT_TRUE(second.held().valid());
    }
}

TEST_P(EachDialect, ARestartWithDataLosesNothing) {
    server_.reset();
    server_.emplace(redis_tests::server_options{.keeps_data = true});
    client ours = join(GetParam().renewed), other = join(GetParam().renewed);
    lease held = ours.acquire(exclusive("a"));
    const std::uint64_t fence = held.fence();
    pending waiting{other, "a"};
    ASSERT_TRUE(queued(1));
    const words order = queue();
    server_->kill();
    server_->start();
    EXPECT_TRUE(is_renewed(held));
    EXPECT_EQ(queue(), order);
    expect_kept(held);
    EXPECT_EQ(held.fence(), fence);
    EXPECT_FALSE(waiting.is_over());
    held.release();
    EXPECT_TRUE(waiting.held().valid());
}

TEST_P(EachDialect, ARestartWithoutDataLosesLeasesAndKeepsWaiters) {
    client ours = join(GetParam().renewed), other = join(GetParam().renewed);
    lease held = ours.acquire(exclusive("a"));
    pending waiting{other, "a"};
    ASSERT_TRUE(queued(1));
    server_->kill();
    server_->forget();
    server_->start();
    EXPECT_TRUE(is_lost(held, loss::state_lost));
    lease next = waiting.held();
    EXPECT_TRUE(next.valid());
    const std::string theirs = holder();
    held.release();
    EXPECT_TRUE(ours.acquire(exclusive("b"), {.wait = 10s}).valid());
    EXPECT_EQ(holder(), theirs);
    EXPECT_TRUE(next.valid());
}

/// Commands that fail for lack of a script are repeated, and no reply is taken for that of another command: 51 leases
/// are renewed meanwhile, and up to 15 requests wait.
TEST_P(EachDialect, ScriptsThatAreForgottenAreLoadedAgain) {
    client first = join(GetParam().often_renewed), second = join(GetParam().often_renewed);
    std::vector<lease> kept;
    for (int i = 0; i < 50; ++i) kept.push_back(first.acquire(exclusive("n" + std::to_string(i))));
    if (name_ == "adv-sem") kept.push_back(first.acquire(permits("slots", {.count = 1, .limit = 2})));
    lease held = first.acquire(exclusive("a"));
    std::vector<pending> waiting;
    for (std::size_t round = 1; round <= 5; ++round) {
        EXPECT_EQ(ask({"SCRIPT", "FLUSH"}).text, "OK");
        for (int i = 0; i < 3; ++i) waiting.emplace_back(second, "a");
        EXPECT_TRUE(queued(3 * round));
        for (const lease* each : {&held, &kept.back()}) EXPECT_TRUE(is_renewed(*each));
        for (const pending& each : waiting) EXPECT_FALSE(each.is_over());
    }
    // In any order, because commands that failed for lack of a script are repeated.
    while (!waiting.empty()) {
        EXPECT_EQ(ask({"SCRIPT", "FLUSH"}).text, "OK");
        held.release();
        auto next = waiting.end();
        ASSERT_TRUE(eventually([&] {
            next = std::ranges::find_if(waiting, &pending::is_over);
            return next != waiting.end();
        }));
        held = next->held();
        EXPECT_TRUE(held.valid());
        waiting.erase(next);
    }
    EXPECT_TRUE(is_renewed(kept.back()));
    for (const lease& each : kept) expect_kept(each);
}

TEST_P(EachDialect, OnlyALeaseWhoseKeyIsDeletedOrReplacedIsLost) {
    client ours = join(GetParam().often_renewed);
    lease gone = ours.acquire(exclusive("gone")), stolen = ours.acquire(exclusive("stolen")),
          spoilt = ours.acquire(exclusive("spoilt")), kept = ours.acquire(exclusive("kept"));
    std::atomic<bool> notified{false};
    const std::stop_callback on_loss{gone.lost(), [&] { notified = true; }};
    for (const char* name : {"gone", "stolen", "spoilt"}) EXPECT_EQ(ask({"DEL", holder_key(name)}).number, 1);
    static_cast<void>(ask(GetParam().occupy(holder_key("stolen"))));
    static_cast<void>(ask(GetParam().spoil(holder_key("spoilt"))));
    const std::string kind = ask({"TYPE", holder_key("spoilt")}).text;
    for (const lease* each : {&gone, &stolen, &spoilt}) EXPECT_TRUE(is_lost(*each, loss::state_lost));
    EXPECT_TRUE(eventually([&] { return notified.load(); }));
    EXPECT_TRUE(ours.acquire(exclusive("gone"), {.wait = 10s}).valid());
    EXPECT_TRUE(only_left({"kept", "spoilt", "stolen"}));
    static_cast<void>(ask(GetParam().occupy(holder_key("gone"))));
    for (lease* each : {&gone, &stolen, &spoilt}) each->release();
    EXPECT_TRUE(is_renewed(kept));
    expect_kept(kept);
    kept.release();
    // This release was sent last, so the late releases before it have had their effect: none.
    EXPECT_TRUE(only_left({"gone", "spoilt", "stolen"}));
    for (const char* name : {"gone", "stolen"}) EXPECT_NE(holder(name).find(stranger), std::string::npos) << name;
    EXPECT_EQ(ask({"TYPE", holder_key("spoilt")}).text, kind);
    EXPECT_EQ(ask({"FLUSHALL"}).text, "OK");
}

/// Each hand-off notifies the waiter: a poll would take longer than 900 ms in one of the dialects.
TEST_P(EachDialect, NamesAreBytes) {
    std::error_code error;
    for (const wire_form& form : GetParam().forms) {
        client first = join(form.ours), second = join(form.ours);
        for (const std::string& name :
             {std::string{"with:colons: {x} and spaces"}, std::string{":"}, std::string{"a:b::c:"},
              std::string{"\0\xff\r\n*[", 6}, std::string{"\r\n\0\xff%s", 6}, std::string{"new\r\nline\0and \xff", 15},
              std::string{"[*?]\\^%1"}, std::string{"@@@ACQUISITION_ID@@@"}, std::string(200, 'n'),
              std::string(512, 'x')}) {
            lease held = first.acquire(exclusive(name));
            EXPECT_EQ(ask({"EXISTS", holder_key(name)}).number, 1);
            pending next{second, name};
            ASSERT_TRUE(queued(1, name));
            const snapshot seen = second.inspect({inspect_filter::match::exact, name});
            ASSERT_EQ(seen.resources.size(), 1U);
            EXPECT_EQ(seen.resources[0].name, name);
            EXPECT_EQ(seen.resources[0].holders.size(), 1U);
            EXPECT_EQ(seen.resources[0].queue.size(), 1U);
            const auto begun = std::chrono::steady_clock::now();
            held.release();
            EXPECT_TRUE(next.held().valid());
            EXPECT_LT(std::chrono::steady_clock::now() - begun, 900ms);
        }
        for (const std::string& name : {std::string{}, std::string(513, 'n')}) {
            EXPECT_FALSE(first.acquire(exclusive(name), {}, error).valid());
            EXPECT_EQ(error, error_kind::refused) << error.message();
        }
    }
}

TEST_P(EachDialect, AThousandWaitersOfOneClientAreServedInOrder) {
    constexpr int many = 1'000;
    client ours = join();
    lease first = ours.acquire(exclusive("a"));
    std::vector<int> order;  // this and the next three are written by the client's thread only
    std::uint64_t newest = first.fence();
    bool ordered = true;
    int inside = 0;
    std::atomic<int> served{0};
    for (int i = 0; i < many; ++i)
        ours.async_acquire(exclusive("a"), {}, {}, [&, i](std::error_code error, lease held) {
            ordered = ordered && !error && held.valid() && held.fence() > newest && ++inside == 1;
            newest = held.fence();
            order.push_back(i);
            --inside;
            held.release();
            ++served;
        });
    ASSERT_TRUE(queued(many));
    const auto start = std::chrono::steady_clock::now();
    first.release();
    EXPECT_TRUE(eventually([&] { return served == many; }, 60s)) << served;
    EXPECT_LT(std::chrono::steady_clock::now() - start, GetParam().thousand);
    EXPECT_EQ(order.size(), static_cast<std::size_t>(many));
    EXPECT_TRUE(std::ranges::is_sorted(order));
    EXPECT_TRUE(ordered);
}

/// Without CLIENT TRACKING waiters poll, as the originals do.
TEST_P(EachDialect, WaitersPollWithoutTheRightToTrackKeys) {
    EXPECT_EQ(ask({"ACL", "SETUSER", "default", "-client|tracking"}).text, "OK");
    client first = join(), second = join(GetParam().often_renewed);
    lease held = first.acquire(exclusive("a"));
    pending waiting{second, "a"};
    ASSERT_TRUE(queued(1));
    held.release();
    EXPECT_TRUE(waiting.held().valid());
    EXPECT_EQ(watched_keys(), 0U);
}

/// The connection is cut, or only silent.
TEST_P(EachDialect, AnInspectWithoutAReplyEndsWithTheConnection) {
    for (const bool cut : {true, false}) {
        proxied way{*server_, name_};
        client ours = way.join(GetParam().mortal);
        static_cast<void>(ours.acquire(exclusive("a"), {.wait = 10s}));
        way.proxy.set({.drop_replies = true});
        const std::size_t before = performed("scan");
        auto seen = std::async(std::launch::async, [&] {
            try {
                static_cast<void>(ours.inspect());
                return std::error_code{};
            } catch (const error& why) {
                return why.code();
            }
        });
        EXPECT_TRUE(eventually([&] { return performed("scan") > before; }));
        if (cut) way.proxy.cut({});
        ASSERT_EQ(seen.wait_for(long_enough), std::future_status::ready);
        EXPECT_EQ(seen.get(), errc::store_unavailable);
        way.proxy.set({});
    }
}

INSTANTIATE_TEST_SUITE_P(, EachDialect, testing::ValuesIn(each_dialect),
                         [](const auto& each) { return test_name(each.param.name); });

}  // namespace
}  // namespace baton::dialect_tests
