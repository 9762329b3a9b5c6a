// Rule 2: every row of the table of modes.
#include "protocol/modes.hpp"

#include <gtest/gtest.h>

#include <array>

namespace baton::core::test {
namespace {

// The number of admitted claims: exclusive, shared, permits.
using admitted = std::array<std::size_t, mode_count>;

TEST(Modes, EveryModeFitsOnAFreeName) {  // rule 2
    for (const claim_mode mode : {claim_mode::exclusive, claim_mode::shared, claim_mode::permits})
        EXPECT_TRUE(modes_fit(mode, admitted{}));
}

TEST(Modes, ExclusiveFitsWithNothing) {  // rule 2
    EXPECT_FALSE(modes_fit(claim_mode::exclusive, admitted{1, 0, 0}));
    EXPECT_FALSE(modes_fit(claim_mode::exclusive, admitted{0, 1, 0}));
    EXPECT_FALSE(modes_fit(claim_mode::exclusive, admitted{0, 0, 1}));
}

TEST(Modes, SharedFitsWithSharedOnly) {  // rule 2
    EXPECT_FALSE(modes_fit(claim_mode::shared, admitted{1, 0, 0}));
    EXPECT_TRUE(modes_fit(claim_mode::shared, admitted{0, 7, 0}));
    EXPECT_FALSE(modes_fit(claim_mode::shared, admitted{0, 0, 1}));
    EXPECT_FALSE(modes_fit(claim_mode::shared, admitted{0, 7, 1}));
}

TEST(Modes, PermitsFitWithPermitsOnly) {  // rule 2
    EXPECT_FALSE(modes_fit(claim_mode::permits, admitted{1, 0, 0}));
    EXPECT_FALSE(modes_fit(claim_mode::permits, admitted{0, 1, 0}));
    EXPECT_TRUE(modes_fit(claim_mode::permits, admitted{0, 0, 7}));
    EXPECT_FALSE(modes_fit(claim_mode::permits, admitted{0, 1, 7}));
}

TEST(Modes, OnlyPermitsAreCountedAndOnlyExclusiveLeavesAMark) {  // rule 7, rule 10
    EXPECT_FALSE(rule_of(claim_mode::exclusive).counted);
    EXPECT_FALSE(rule_of(claim_mode::shared).counted);
    EXPECT_TRUE(rule_of(claim_mode::permits).counted);
    EXPECT_TRUE(rule_of(claim_mode::exclusive).leaves_mark);
    EXPECT_FALSE(rule_of(claim_mode::shared).leaves_mark);
    EXPECT_FALSE(rule_of(claim_mode::permits).leaves_mark);
}

TEST(Modes, RowsAreInTheOrderOfTheModesWithTheirNames) {
    EXPECT_EQ(rule_of(claim_mode::exclusive).name, "exclusive");
    EXPECT_EQ(rule_of(claim_mode::shared).name, "shared");
    EXPECT_EQ(rule_of(claim_mode::permits).name, "permits");
}

}  // namespace
}  // namespace baton::core::test
