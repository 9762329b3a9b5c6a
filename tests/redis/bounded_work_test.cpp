// The cost of a call, counted as the Redis commands inside it: it does not grow with the number of requests of the
// session, of waiters, of holders or of names, and long work is done in steps of bounded size.
#include <algorithm>

#include "../eventually.hpp"
#include "library_fixture.hpp"

namespace baton::redis {
namespace {

using namespace protocol;
using namespace library_tests;

constexpr std::size_t budget = 48;  // claims that one step ends or admits (rule 4)
const session_id crowd{3, 3};
constexpr std::chrono::milliseconds ttl = std::chrono::hours{1};  // no session expires on a slow machine
const std::vector<std::uint64_t> sizes{10, 1'000, 30'000};

std::string numbered(const std::string& prefix, std::uint64_t number) { return prefix + std::to_string(number); }
claim permit_claim(std::string name, std::uint32_t permits) {
    return {std::move(name), claim_mode::permits, permits, bounds::limit};
}

class LibraryWork : public library_tests::Library {
protected:
    void open_session(const session_id& session) { say(open{session, ttl, "label", 1, 0, {}}, session); }
    /// Sends the commands for 1 … count, 500 at a time.
    template <typename Make> void send_many(std::uint64_t count, Make make) {
        for (std::uint64_t from = 1; from <= count; from += 500) {
            const std::uint64_t upto = std::min(from + 499, count);
            std::string out;
            for (std::uint64_t i = from; i <= upto; ++i) encode(out, call_of(space_, epoch_, make(i)));
            connection_->send(out);
            for (std::uint64_t i = from; i <= upto; ++i) {
                const resp::value answer = connection_->answer();
                ASSERT_NE(answer.kind, resp::kind::error) << answer.text;
            }
        }
    }
    void hold_names(const session_id& session, std::uint64_t count, const std::string& prefix = "name-") {
        send_many(count, [&](std::uint64_t i) {
            return enter{{session, i}, {exclusive_claim(numbered(prefix, i))}, {}};
        });
    }
    /// Each size has its own space, because an earlier one leaves ended ids and marks.
    void start_space(const std::string& name, std::uint64_t size) {
        space_ = numbered(name + "-", size);
        hello(false, ttl);
    }
    /// Once per second a call checks the server's role and takes the long path. The call after `hello`, which has
    /// checked it, does not.
    work quiet_work_of(const command& command) {
        hello(false, ttl);
        return work_of(command);
    }
    /// Sessions of 10 requests each, which have no index of their numbers.
    static request_id in_crowd(std::uint64_t i) { return {{9, (i + 9) / 10}, (i + 9) % 10 + 1}; }
    void open_crowd(std::uint64_t requests) {
        send_many((requests + 9) / 10, [](std::uint64_t i) { return open{{9, i}, ttl, "label", 1, 0, {}}; });
    }
    std::uint64_t live_requests(const session_id& session) {
        const std::string record = connection_->ask({"HGET", prefix_of(space_) + "m", "x" + to_bytes(session)}).text;
        if (record.empty()) return 0;
        return record[16] == 'L' ? std::stoull(record.substr(43)) : (record.size() - 27) / 32;
    }
    /// Sends ticks until the session has no requests. Returns the number of ticks that ended some of them.
    std::size_t tick_until_ended(const session_id& session, std::size_t most_in_one) {
        std::size_t working = 0;
        std::uint64_t left = live_requests(session);
        const bool over = eventually([&] {
            const work done = work_of(tick{});
            EXPECT_LE(done.total(), most_in_one) << left << " requests left";
            const std::uint64_t now_left = live_requests(session);
            EXPECT_LE(left - now_left, budget) << "a step ends no more than its budget";
            if (now_left < left) ++working;
            left = now_left;
            return left == 0;
        });
        EXPECT_TRUE(over) << left << " requests left";
        return working;
    }
};

TEST_F(LibraryWork, ARenewalCostsTheSameForAnyNumberOfRequests) {
    std::vector<std::size_t> renewals;
    std::vector<std::size_t> replies;
    for (const std::uint64_t size : sizes) {
        SCOPED_TRACE(size);
        start_space("renew", size);
        open_session(holder);
        hold_names(holder, size);
        renewals.push_back(quiet_work_of(renew{holder}).total());
        replies.push_back(last_.text.size());
    }
    EXPECT_EQ(renewals, std::vector<std::size_t>(3, renewals[0]));
    EXPECT_LE(renewals[0], 6U);
    EXPECT_LE(replies[2], replies[0] + 10) << "the count and the digest have more digits";
}

// It ends no request, whatever it lists.
TEST_F(LibraryWork, AnOpenCostsTheSameForAnyNumberOfRequests) {
    std::vector<std::size_t> opens;
    for (const std::uint64_t size : sizes) {
        SCOPED_TRACE(size);
        start_space("open", size);
        open_session(holder);
        hold_names(holder, size);
        const work done = work_of(open{holder, std::chrono::seconds{15}, "label", 2, size, {}});
        EXPECT_EQ(done.of_whole_keys(), 0U);
        opens.push_back(done.total());
        EXPECT_EQ(live_requests(holder), size);
    }
    EXPECT_EQ(opens, std::vector<std::size_t>(3, opens[0]));
    EXPECT_LE(opens[0], 15U);
}

TEST_F(LibraryWork, EnterLeaveAndListCostTheSameForAnyNumberOfRequests) {
    struct counts {
        std::size_t enter, enter_again, wait, leave, withdraw;
    };
    std::vector<counts> seen;
    for (const std::uint64_t size : sizes) {
        SCOPED_TRACE(size);
        start_space("session", size);
        open_session(holder);
        open_session(waiter);
        say(enter{{waiter, 1}, {exclusive_claim("taken")}, {}}, waiter);
        hold_names(holder, size);
        const auto counted = [&](const command& command) {
            const work done = quiet_work_of(command);
            if (size > 100) {
                EXPECT_EQ(done.of_whole_keys(), 0U) << "with an index no search is needed";
            }
            return done.total();
        };
        counts now{};
        now.enter = counted(enter{{holder, size + 1}, {exclusive_claim("new")}, {}});
        now.enter_again = counted(enter{{holder, size + 1}, {exclusive_claim("new")}, {}});
        now.wait = counted(enter{{holder, size + 2}, {exclusive_claim("taken")}, {}});
        now.leave = counted(leave{{holder, size / 2}, release_kind::clean});
        now.withdraw = counted(leave{{holder, size + 2}, release_kind::clean});
        for (const std::uint64_t after : {std::uint64_t{0}, size / 2, size}) {
            EXPECT_LE(counted(list{holder, after}), bounds::page + 10) << "after " << after;
            EXPECT_LE(last_.text.size(), 64 + 50 * bounds::page) << "after " << after;
        }
        seen.push_back(now);
    }
    for (const counts& each : seen) {
        EXPECT_LE(each.enter, 12U);
        EXPECT_LE(each.enter_again, 10U);
        EXPECT_LE(each.wait, 14U);
        EXPECT_LE(each.leave, 12U);
        EXPECT_LE(each.withdraw, 12U);
    }
    EXPECT_EQ(seen[1].enter, seen[2].enter);
    EXPECT_EQ(seen[1].enter_again, seen[2].enter_again);
    EXPECT_EQ(seen[1].wait, seen[2].wait);
    EXPECT_EQ(seen[1].leave, seen[2].leave);
    EXPECT_EQ(seen[1].withdraw, seen[2].withdraw);
}

// The index of a session's numbers is created once, when the session has more than 16 requests.
TEST_F(LibraryWork, ASessionThatGrowsPaysForItsIndexOnce) {
    hello(false, ttl);
    open_session(holder);
    std::size_t expensive = 0;
    for (std::uint64_t i = 1; i <= 400; ++i) {
        const std::size_t calls = work_of(enter{{holder, i}, {exclusive_claim(numbered("name-", i))}, {}}).total();
        EXPECT_LE(calls, 32U) << i;
        if (calls > 12) ++expensive;
    }
    EXPECT_EQ(expensive, 1U);
}

TEST_F(LibraryWork, AClosedSessionEndsInStepsOfBoundedSize) {
    for (const std::uint64_t size : sizes) {
        SCOPED_TRACE(size);
        start_space("close", size);
        open_session(holder);
        hold_names(holder, size);
        EXPECT_LE(work_of(protocol::close{holder, closing::left}).total(), 8 * budget);
        EXPECT_GE(live_requests(holder) + budget, size);
        if (size <= budget) continue;
        const std::size_t ticks = tick_until_ended(holder, 8 * budget);
        EXPECT_LE(ticks, size / budget + 1);
    }
}

// The holder dies: its label and fence are left as marks, one per name. A waiter behind the last name is granted in the
// end, and does not affect the earlier steps.
TEST_F(LibraryWork, ADeadSessionEndsInStepsOfBoundedSize) {
    for (const std::uint64_t size : sizes) {
        SCOPED_TRACE(size);
        start_space("death", size);
        open_session(holder);
        open_session(waiter);
        hold_names(holder, size);
        say(enter{{waiter, 1}, {exclusive_claim(numbered("name-", size))}, {}}, waiter);
        say(open{holder, bounds::shortest_ttl, "label", 2, size, {}}, holder);
        EXPECT_LE(tick_until_ended(holder, 8 * budget), size / budget + 2);
        ASSERT_TRUE(eventually([&] {
            work_of(tick{});
            const auto state = say(list{waiter, 0}, waiter);
            return std::get<listed>(state.events.at(0).what).requests.at(0).fence != 0;
        }));
        EXPECT_EQ(connection_->ask({"HLEN", prefix_of(space_) + "marks"}).number, static_cast<std::int64_t>(size));
    }
}

TEST_F(LibraryWork, ARequestOfAThousandClaimsCostsInProportionToItsClaims) {
    hello(false, ttl);
    open_session(holder);
    open_session(waiter);
    open_session(crowd);
    std::vector<claim> exclusive_ones;
    std::vector<claim> permits;
    for (std::uint64_t i = 1; i <= bounds::claims; ++i) {
        exclusive_ones.push_back(exclusive_claim(numbered("name-", i)));
        permits.push_back(permit_claim(numbered("permits-", i), 3));
    }
    EXPECT_LE(work_of(enter{{holder, 1}, exclusive_ones, {}}).total(), 10U) << "granted at once";
    EXPECT_LE(work_of(enter{{waiter, 1}, exclusive_ones, {}}).total(), 4 * bounds::claims) << "waits everywhere";
    EXPECT_LE(work_of(enter{{holder, 2}, permits, {}}).total(), 2 * bounds::claims);
    EXPECT_LE(work_of(enter{{crowd, 1}, permits, {}}).total(), 2 * bounds::claims);
    EXPECT_LE(work_of(renew_call(space_, epoch_, renew{waiter}, std::vector<std::uint64_t>{1})).total(), 30U)
        << "its position";
    say(enter{{crowd, 2}, exclusive_ones, {}}, crowd);  // second on every name
    EXPECT_LE(work_of(renew_call(space_, epoch_, renew{crowd}, std::vector<std::uint64_t>{2})).total(), 30U)
        << "at most 8 queue positions are looked up";
    EXPECT_LE(work_of(leave{{holder, 2}, release_kind::unclean}).total(), 4 * bounds::claims);
    EXPECT_LE(work_of(leave{{holder, 1}, release_kind::clean}).total(), 6 * bounds::claims) << "the hand-off begins";
    std::size_t steps = 1;
    ASSERT_TRUE(eventually([&] {
        const auto state = say(list{waiter, 0}, waiter);
        if (std::get<listed>(state.events.at(0).what).requests.at(0).fence != 0) return true;
        EXPECT_LE(work_of(tick{}).total(), 6 * bounds::claims);
        ++steps;
        return false;
    }));
    EXPECT_LE(steps, bounds::claims / budget + 2) << "48 claims are admitted in a step";
    EXPECT_LE(work_of(leave{{waiter, 1}, release_kind::unclean}).total(), 6 * bounds::claims);
}

// 30 requests of 1,000 claims each.
TEST_F(LibraryWork, WideRequestsAreReadWithoutTheirResourcesAndEndOneAtATime) {
    hello(false, ttl);
    open_session(holder);
    const std::uint64_t count = 30;
    send_many(count, [](std::uint64_t number) {
        std::vector<claim> claims{exclusive_claim("common")};
        for (std::uint64_t i = 2; i <= bounds::claims; ++i)
            claims.push_back({numbered(numbered("name-", number) + "-", i), claim_mode::shared, 0, 0});
        return enter{{holder, number}, std::move(claims), {}};
    });
    EXPECT_LE(work_of(list{holder, 0}).total(), 10U);
    EXPECT_LE(work_of(name_page_call(space_, epoch_, "common", "0", page_size{200})).total(), 2 * count + 10);
    EXPECT_LE(work_of(space_page_call(space_, epoch_, "", "0", page_size{200})).total(), 1'200U);
    const std::vector<std::uint64_t> waiting{2, 3, 4, 5, 6, 7, 8, 9};
    EXPECT_LE(work_of(renew_call(space_, epoch_, renew{holder}, waiting)).total(), 30U);
    const std::uint64_t before = live_requests(holder);
    EXPECT_LE(work_of(protocol::close{holder, closing::left}).total(), 6 * bounds::claims);
    EXPECT_EQ(live_requests(holder), before - 1) << "one request of 1,000 claims exceeds the budget of 48";
    EXPECT_LE(work_of(tick{}).total(), 6 * bounds::claims);
    EXPECT_EQ(live_requests(holder), before - 2);
}

TEST_F(LibraryWork, AQueueCostsTheSameForAnyLength) {
    std::vector<std::vector<std::size_t>> seen;
    for (const std::uint64_t size : {10U, 10'000U}) {
        SCOPED_TRACE(size);
        start_space("queue", size);
        open_session(holder);
        open_session(waiter);
        say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
        open_crowd(size);
        send_many(size, [&](std::uint64_t i) { return enter{in_crowd(i), {exclusive_claim("a")}, {}}; });
        EXPECT_EQ(connection_->ask({"ZCARD", prefix_of(space_) + "q:a"}).number, static_cast<std::int64_t>(size));
        std::vector<std::size_t> calls;
        const auto count = [&](const command& command) {
            const work done = quiet_work_of(command);
            EXPECT_EQ(done.of_whole_keys(), 0U);
            calls.push_back(done.total());
        };
        count(enter{{waiter, 1}, {exclusive_claim("a")}, {}});
        count(enter{{waiter, 1}, {exclusive_claim("a")}, {}});
        calls.push_back(work_of(renew_call(space_, epoch_, renew{waiter}, std::vector<std::uint64_t>{1})).total());
        count(enter{{waiter, 2}, {{"a", claim_mode::shared, 0, 0}}, {}});
        count(enter{{waiter, 3}, {permit_claim("a", 2)}, {}});
        count(enter{{waiter, 4}, {exclusive_claim("a")}, {.nowait = true}});
        count(enter{{waiter, 5}, {exclusive_claim("a")}, {.queue_bound = 5}});
        count(leave{in_crowd(size / 2), release_kind::clean});  // from the middle
        count(leave{{holder, 1}, release_kind::clean});         // a hand-off
        count(leave{in_crowd(1), release_kind::clean});
        count(leave{in_crowd(2), release_kind::unclean});
        const auto state = say(list{{9, 1}, 0}, {9, 1});
        const serial middle = std::get<listed>(state.events.at(0).what).requests.back().ticket;
        count(revoke{"a", middle, "note", true});
        count(resize{"a", 1});  // the claim of two permits ends
        seen.push_back(std::move(calls));
    }
    EXPECT_EQ(seen[0], seen[1]);
    for (const std::size_t calls : seen[0]) EXPECT_LE(calls, 24U);
}

// Every other permit is released: the lowest free ones are in as many gaps as there are holders.
TEST_F(LibraryWork, PermitsCostTheSameForAnyNumberOfHolders) {
    std::vector<std::vector<std::size_t>> seen;
    for (const std::uint64_t size : sizes) {
        SCOPED_TRACE(size);
        start_space("permits", size);
        open_session(holder);
        open_session(waiter);
        open_crowd(size);
        send_many(size, [](std::uint64_t i) { return enter{in_crowd(i), {permit_claim("p", 1)}, {}}; });
        send_many(size / 2, [](std::uint64_t i) { return leave{in_crowd(2 * i), release_kind::clean}; });
        std::vector<std::size_t> calls;
        const auto count = [&](const command& command) {
            const work done = quiet_work_of(command);
            EXPECT_EQ(done.of_whole_keys(), 0U);
            calls.push_back(done.total());
        };
        count(enter{{waiter, 1}, {permit_claim("p", 1)}, {}});
        count(enter{{waiter, 2}, {permit_claim("p", 5)}, {}});
        count(leave{{waiter, 1}, release_kind::clean});
        count(enter{{waiter, 3}, {exclusive_claim("p")}, {}});  // waits
        count(enter{{waiter, 4}, {permit_claim("p", 2)}, {}});  // behind it
        count(leave{{waiter, 2}, release_kind::unclean});
        count(leave{{waiter, 3}, release_kind::clean});  // the claim behind it is admitted
        count(resize{"p", 65'000});
        count(resize{"p", std::nullopt});
        seen.push_back(std::move(calls));
    }
    EXPECT_EQ(seen[0], seen[1]);
    EXPECT_EQ(seen[0], seen[2]);
    for (const std::size_t calls : seen[0]) EXPECT_LE(calls, 20U);
}

TEST_F(LibraryWork, InspectingCostsTheSamePerPage) {
    constexpr page_size page{200};
    std::vector<std::size_t> of_one;
    for (const std::uint64_t size : {10U, 500U, 10'000U}) {
        SCOPED_TRACE(size);
        start_space("inspect", size);
        open_session(holder);
        open_session(waiter);
        hold_names(holder, size);
        send_many(size, [](std::uint64_t i) { return enter{{waiter, i}, {exclusive_claim("name-1")}, {}}; });
        of_one.push_back(work_of(name_page_call(space_, epoch_, "name-2", "0", page)).total());
        EXPECT_LE(work_of(name_page_call(space_, epoch_, "name-1", "0", page)).total(), 2 * page.claims + 20);
        std::string cursor = "0";
        std::size_t names = 0;
        std::size_t pages = 0;
        do {
            const work done = work_of(space_page_call(space_, epoch_, "", cursor, page));
            EXPECT_LE(done.total(), 6 * page.claims);
            EXPECT_EQ(done.of_whole_keys(), 0U);
            cursor = last_.items.at(1).text;
            names += last_.items.size() - 3;
            ++pages;
        } while (cursor != "0" && pages < 10 * size);
        EXPECT_GE(names, size);
        EXPECT_LE(pages, 3 * size / page.claims + 2);
    }
    EXPECT_EQ(of_one, std::vector<std::size_t>(3, of_one[0]));
}

// A client presents a ticket one hour ahead, in a pause: from then on the counter is ahead of the clock (rule 8).
TEST_F(LibraryWork, CallsCostAFewMoreWhileTheCounterIsAheadOfTheClock) {
    std::vector<std::vector<std::size_t>> seen;
    for (const bool ahead : {false, true}) {
        SCOPED_TRACE(ahead);
        start_space("ahead", ahead ? 1 : 0);
        open_session(holder);
        open_session(waiter);
        if (ahead) {
            const instant now = say(tick{}).head.at;
            say(pause{now + std::chrono::milliseconds{300}});
            const serial ticket = static_cast<serial>((now + std::chrono::hours{1}).time_since_epoch().count());
            say(open{crowd,
                     std::chrono::seconds{15},
                     "ahead",
                     1,
                     1,
                     {{.number = 1,
                       .claims = {exclusive_claim("z")},
                       .ticket = ticket,
                       .fence = ticket + 1,
                       .slots = {},
                       .hold = {}}}},
                crowd);
            ASSERT_TRUE(eventually([&] {
                const reply_head head = say(tick{}).head;
                return head.paused_until <= head.at;
            }));
        }
        std::vector<std::size_t> calls;
        const auto count = [&](const command& command) {
            const work done = quiet_work_of(command);
            EXPECT_EQ(done.of_whole_keys(), 0U);
            calls.push_back(done.total());
        };
        count(enter{{holder, 1}, {exclusive_claim("a")}, {}});
        if (ahead) {
            const auto granted_at = decode_reply(last_.text, holder)->events.at(0);
            EXPECT_GT(
                std::get<granted>(granted_at.what).fence,
                static_cast<serial>(
                    (decode_reply(last_.text, holder)->head.at + std::chrono::minutes{50}).time_since_epoch().count()));
        }
        count(enter{{waiter, 1}, {exclusive_claim("a")}, {}});
        count(renew{holder});
        count(leave{{holder, 1}, release_kind::clean});
        count(enter{{holder, 2}, {permit_claim("p", 3)}, {}});
        count(leave{{holder, 2}, release_kind::clean});
        count(renew{waiter});
        count(tick{});
        calls.push_back(work_of(list{waiter, 0}).total());
        seen.push_back(std::move(calls));
    }
    for (std::size_t i = 0; i < seen[0].size(); ++i) EXPECT_LE(seen[1][i], seen[0][i] + 10) << i;
}

}  // namespace
}  // namespace baton::redis
