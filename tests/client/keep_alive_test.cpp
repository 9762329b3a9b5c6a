// Stopping to believe in time.
#include "client/keep_alive.hpp"

#include "script.hpp"

namespace baton::detail {

TEST(KeepAlive, TheMarginIsThreePercentButNotBelowTwentyMilliseconds) {
    EXPECT_EQ(keep_alive{10'000ms}.margin(), 300ms);
    EXPECT_EQ(keep_alive{100ms}.margin(), 20ms);
}

TEST(KeepAlive, BelievesFromTheSendingAndNotFromTheAnswer) {
    keep_alive keeping{10'000ms};
    const client_time start{100s};
    keeping.sent(1, start);
    EXPECT_EQ(keeping.at(start), standing::lost);
    keeping.renewed(keeping.answered(1).value());  // whenever the answer came
    EXPECT_EQ(keeping.deadline(), start + 9'700ms);
    EXPECT_EQ(keeping.at(start + 9'700ms - 1us), standing::unsure);
    EXPECT_EQ(keeping.at(start + 9'700ms), standing::lost);
}

TEST(KeepAlive, IsUnsureAfterHalfTheTtl) {
    keep_alive keeping{10'000ms};
    keeping.sent(1, client_time{100s});
    keeping.renewed(keeping.answered(1).value());
    EXPECT_EQ(keeping.at(client_time{105s} - 1us), standing::held);
    EXPECT_EQ(keeping.at(client_time{105s}), standing::unsure);
}

TEST(KeepAlive, RenewsEveryThirdOfTheTtl) {
    keep_alive keeping{9'000ms};
    EXPECT_EQ(keeping.next_renewal(client_time{50s}), client_time{50s});
    keeping.sent(1, client_time{100s});
    EXPECT_EQ(keeping.next_renewal(client_time{100s}), client_time{103s});
}

TEST(KeepAlive, AnOlderAnswerDoesNotShortenBelief) {
    keep_alive keeping{10'000ms};
    keeping.sent(1, client_time{100s});
    keeping.sent(2, client_time{103s});
    keeping.renewed(keeping.answered(2).value());
    EXPECT_FALSE(keeping.answered(1)) << "the later answer answers the earlier one as well";
    keeping.renewed(client_time{100s});
    EXPECT_EQ(keeping.deadline(), client_time{112'700ms});
}

TEST(KeepAlive, AnAnswerOfAConnectionThatBrokeCountsForNothing) {
    keep_alive keeping{10'000ms};
    keeping.sent(1, client_time{100s});
    keeping.forget_unanswered();
    EXPECT_FALSE(keeping.answered(1));
    EXPECT_EQ(keeping.deadline(), std::nullopt);
}

}  // namespace baton::detail
