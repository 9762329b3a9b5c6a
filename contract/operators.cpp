// The commands of operators: revoke, resize, inspect.
#include "bench.hpp"
#include "case.hpp"
#include "raw_connection.hpp"

namespace baton::contract {
namespace {

const inspect_filter only_ledger{inspect_filter::match::exact, "ledger", false};

std::vector<protocol::serial> tickets(const std::vector<claim_view>& claims) {
    std::vector<protocol::serial> list;
    for (const claim_view& claim : claims) list.push_back(claim.ticket);
    return list;
}

void a_holder_is_asked_to_leave(bench& bench) {
    actor holder = bench.join();
    actor heir = bench.join();
    lease held = holder.acquire(exclusive("ledger"));
    attempt next = heir.queue(exclusive("ledger"));
    const snapshot seen = heir.client.inspect(only_ledger);
    ASSERT_EQ(seen.resources.size(), 1U);
    ASSERT_EQ(seen.resources[0].holders.size(), 1U);
    heir.client.revoke("ledger", seen.resources[0].holders[0].ticket, "deploy");
    ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(held.lost_reason(), loss::revoked);
    EXPECT_TRUE(held.valid()) << "there is time to end the work";
    EXPECT_FALSE(next.over());
    held.release();
    EXPECT_TRUE(next.granted_within());
}

// The notice may be lost, so the reply to the next renewal repeats it before `alive`.
void the_next_renewal_repeats_it(bench& bench) {
    raw_connection connection{bench.handle()};
    raw_connection operating{bench.handle()};
    const protocol::session_id session = connection.open();
    const protocol::enter held{connection.next(session), only("ledger"), {}};
    const auto grant = connection.call_for<protocol::granted>(held);
    ASSERT_TRUE(grant);
    const auto revoked =
        operating.call_for<protocol::revoking>(protocol::revoke{"ledger", grant->ticket, "deploy", false});
    ASSERT_TRUE(revoked);
    for (const bool repeated : {true, false}) {
        const reply renewed = connection.call(protocol::renew{session});
        ASSERT_EQ(renewed.events.size(), repeated ? 2U : 1U);
        if (repeated) {
            EXPECT_EQ(renewed.events[0].what,
                      decltype(protocol::event::what)(protocol::revoking{held.request, "deploy", revoked->deadline}));
        }
        const auto* alive = std::get_if<protocol::alive>(&renewed.events.back().what);
        ASSERT_NE(alive, nullptr);
        EXPECT_TRUE(reports(*alive, {{held.request.number, grant->ticket, grant->fence, revoked->deadline}}));
    }
}

void a_holder_that_does_not_leave_is_ended(bench& bench) {
    actor holder = bench.join_mortal();
    actor heir = bench.join();
    const lease held = holder.acquire(exclusive("ledger"));
    std::atomic<bool> both{false};
    const attempt next = heir.queue(exclusive("ledger"), {}, [&] { both = held.valid(); });
    const auto start = clock::now();
    heir.client.revoke("ledger", heir.client.inspect(only_ledger).resources.at(0).holders.at(0).ticket);
    ASSERT_TRUE(next.granted_within());
    EXPECT_LT(next.ended_at() - start, bench.ttl() + bench.late());
    EXPECT_FALSE(both);
}

void a_waiter_is_ended_at_once(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const lease held = a.acquire(exclusive("ledger"));
    const attempt waiting = b.queue(exclusive("ledger"));
    a.client.revoke("ledger", a.client.inspect(only_ledger).resources.at(0).queue.at(0).ticket);
    EXPECT_EQ(waiting.error(), errc::revoked);
    EXPECT_TRUE(held.valid());
}

void an_unknown_ticket_is_not_found(bench& bench) {
    actor a = bench.join();
    try {
        a.client.revoke("ledger", 4711);
        ADD_FAILURE() << "there was nothing to revoke";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::not_found);
    }
}

void a_pinned_limit_overrides_claims(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    a.client.resize("gpu", 1);
    const lease one = a.acquire(permits("gpu", {.count = 1, .limit = 8}));
    attempt waiting = b.queue(permits("gpu", {.count = 1, .limit = 8}));
    attempt wide = b.start(permits("gpu", {.count = 2, .limit = 8}));
    EXPECT_EQ(wide.error(), errc::above_limit);
    a.client.resize("gpu", {});
    EXPECT_TRUE(waiting.granted_within());
}

void a_waiter_above_a_new_limit_is_refused(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const lease one = a.acquire(permits("gpu", {.count = 1, .limit = 8}));
    const attempt wide = b.queue(permits("gpu", {.count = 8, .limit = 8}));
    a.client.resize("gpu", 4);
    EXPECT_EQ(wide.error(), errc::above_limit);
    EXPECT_TRUE(one.valid());
}

void it_shows_holders_and_the_queue_in_order(bench& bench) {
    actor holder = bench.join("the holder");
    actor waiter = bench.join("the waiter");
    const lease held = holder.acquire(exclusive("ledger"));
    const attempt first = waiter.queue(exclusive("ledger"));
    const attempt second = holder.queue(exclusive("ledger"));
    const lease other = holder.acquire(exclusive("another"));
    const snapshot seen = holder.client.inspect(only_ledger);
    ASSERT_EQ(seen.resources.size(), 1U);
    const resource_view& ledger = seen.resources[0];
    EXPECT_EQ(ledger.name, "ledger");
    ASSERT_EQ(ledger.holders.size(), 1U);
    ASSERT_EQ(ledger.queue.size(), 2U);
    EXPECT_LT(ledger.queue[0].ticket, ledger.queue[1].ticket);
    ASSERT_EQ(seen.requests.size(), 3U);
    for (const request_view& request : seen.requests) {
        const bool holds = request.ticket == ledger.holders[0].ticket;
        EXPECT_EQ(request.fence != 0, holds);
        if (bench.can().labels) {
            EXPECT_EQ(request.fence, holds ? held.fence() : 0U);
            EXPECT_EQ(request.label, request.ticket == ledger.queue[0].ticket ? "the waiter" : "the holder");
        }
        EXPECT_EQ(request.position, holds ? 0U : request.ticket == ledger.queue[0].ticket ? 1U : 2U);
    }
    EXPECT_EQ(holder.client.inspect({}).resources.size(), 2U);
}

void what_is_free_is_not_shown(bench& bench) {
    actor a = bench.join();
    a.acquire(exclusive("ledger")).release();
    EXPECT_TRUE(eventually([&] { return a.client.inspect(only_ledger).resources.empty(); }));
}

void it_shows_what_is_in_use(bench& bench) {
    actor a = bench.join();
    const std::uint32_t count = bench.can().several_permits ? 2 : 1;
    const lease some = a.acquire(permits("gpu", {.count = count, .limit = 8}));
    const snapshot seen = a.client.inspect({inspect_filter::match::prefix, "gp", false});
    ASSERT_EQ(seen.resources.size(), 1U);
    EXPECT_EQ(seen.resources[0].used, count);
    EXPECT_EQ(seen.resources[0].limit, 8U);
    EXPECT_EQ(tickets(seen.resources[0].holders).size(), 1U);
}

}  // namespace

cases operator_cases() {
    constexpr need revoke = &capabilities::revoke;
    constexpr need resize = &capabilities::resize;
    return {
        {"Revoke", "AHolderIsAskedToLeave", {revoke, &capabilities::inspect}, a_holder_is_asked_to_leave},
        {"Revoke",
         "AHolderThatDoesNotLeaveIsEnded",
         {revoke, &capabilities::inspect},
         a_holder_that_does_not_leave_is_ended},
        {"Revoke", "AWaiterIsEndedAtOnce", {revoke, &capabilities::inspect}, a_waiter_is_ended_at_once},
        {"Revoke", "TheNextRenewalRepeatsIt", {revoke}, the_next_renewal_repeats_it},
        {"Revoke", "AnUnknownTicketIsNotFound", {revoke}, an_unknown_ticket_is_not_found},
        {"Resize", "APinnedLimitOverridesClaims", {resize, &capabilities::permits}, a_pinned_limit_overrides_claims},
        {"Resize",
         "AWaiterAboveANewLimitIsRefused",
         {resize, &capabilities::permits},
         a_waiter_above_a_new_limit_is_refused},
    };
}

cases inspect_cases() {
    constexpr auto topic = "Inspect";
    constexpr need inspect = &capabilities::inspect;
    return {
        {topic,
         "ShowsHoldersAndTheQueueInOrder",
         {inspect, &capabilities::strict_order},
         it_shows_holders_and_the_queue_in_order},
        {topic, "DoesNotShowWhatIsFree", {inspect}, what_is_free_is_not_shown},
        {topic, "ShowsWhatIsInUse", {inspect, &capabilities::permits}, it_shows_what_is_in_use},
    };
}

}  // namespace baton::contract
