// When the client renews, and when its leases end.
#include "client/keep_alive.hpp"

#include "script.hpp"

namespace baton::detail {

TEST(KeepAlive, TheMarginIsThreePercentButNotBelowTwentyMilliseconds) {
    EXPECT_EQ(keep_alive{10'000ms}.margin(), 300ms);
    EXPECT_EQ(keep_alive{100ms}.margin(), 20ms);
}

TEST(KeepAlive, CountsFromTheSendingAndNotFromTheReply) {
    keep_alive keeping{10'000ms};
    const client_time start{100s};
    keeping.sent(1, start);
    EXPECT_EQ(keeping.at(start), lease_status::lost);
    keeping.renewed(keeping.replied(1).value());  // independent of the reply's arrival
    EXPECT_EQ(keeping.deadline(), start + 9'700ms);
    EXPECT_EQ(keeping.at(start + 9'700ms - 1us), lease_status::unsure);
    EXPECT_EQ(keeping.at(start + 9'700ms), lease_status::lost);
}

TEST(KeepAlive, IsUnsureAfterHalfTheTtl) {
    keep_alive keeping{10'000ms};
    keeping.sent(1, client_time{100s});
    keeping.renewed(keeping.replied(1).value());
    EXPECT_EQ(keeping.at(client_time{105s} - 1us), lease_status::held);
    EXPECT_EQ(keeping.at(client_time{105s}), lease_status::unsure);
}

TEST(KeepAlive, RenewsEveryThirdOfTheTtl) {
    keep_alive keeping{9'000ms};
    EXPECT_EQ(keeping.next_renewal(client_time{50s}), client_time{50s});
    keeping.sent(1, client_time{100s});
    EXPECT_EQ(keeping.next_renewal(client_time{100s}), client_time{103s});
}

// Only the reply to a renewal says that the store is settled: the last renewal is sent shortly before the deadline.
TEST(KeepAlive, RenewsMoreOftenWhenLessTimeIsLeft) {
    keep_alive keeping{10'000ms};
    const client_time end{104s};
    keeping.hurry(end);
    std::uint64_t tag = 0;
    std::vector<client_duration> left;
    for (client_time now{100s}; now < end; now = keeping.next_renewal(now)) {
        keeping.sent(++tag, now);
        left.push_back(end - now);
    }
    EXPECT_EQ(left, (std::vector<client_duration>{4s, 3s, 2s, 1s, 500ms, 250ms, 125ms, 62'500us, 31'250us, 11'250us}));
    EXPECT_EQ(keeping.next_renewal(end), end - 11'250us + 20ms) << "not more often than every 20 ms";
    keeping.sent(++tag, end);
    EXPECT_EQ(keeping.next_renewal(end), end + 3'333ms) << "it is too late";
}

TEST(KeepAlive, AnOlderReplyDoesNotShortenTheDeadline) {
    keep_alive keeping{10'000ms};
    keeping.sent(1, client_time{100s});
    keeping.sent(2, client_time{103s});
    keeping.renewed(keeping.replied(2).value());
    EXPECT_FALSE(keeping.replied(1)) << "the later reply also counts for the earlier renewal";
    keeping.renewed(client_time{100s});
    EXPECT_EQ(keeping.deadline(), client_time{112'700ms});
}

TEST(KeepAlive, AReplyOfABrokenConnectionIsIgnored) {
    keep_alive keeping{10'000ms};
    keeping.sent(1, client_time{100s});
    keeping.forget_pending();
    EXPECT_FALSE(keeping.replied(1));
    EXPECT_EQ(keeping.deadline(), std::nullopt);
}

}  // namespace baton::detail
