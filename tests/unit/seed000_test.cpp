// The multi-key graph lock of seed 000 failed in 17 ways. Each is a case here that shows that Baton does not fail so.
#include <utility>

#include "world.hpp"

namespace baton::core::test {
namespace {

class Seed000 : public world {};

// X holds A; W waits for A and B; Y requests B. In the seed, Y and W could hold B together.
TEST_F(Seed000, Case01_ANewRequestWaitsBehindAWiderWaiter) {  // rule 2, rule 3
    EXPECT_EQ(enter("X", {exclusive("a")}), "granted X");
    EXPECT_EQ(enter("W", {exclusive("a"), exclusive("b")}), "queued W");
    EXPECT_EQ(enter("Y", {exclusive("b")}), "queued Y");
    EXPECT_EQ(leave("X"), "ended X: left; granted W");
    EXPECT_EQ(holders("b"), "W");
    EXPECT_EQ(leave("W"), "ended W: left; granted Y");
}

// X holds A, Z holds B; W waits for both; X leaves; Y requests A, which is reserved for W.
TEST_F(Seed000, Case02_ANewRequestWaitsBehindTheFirstWaiterOfItsKey) {  // rule 3
    enter("X", {exclusive("a")});
    enter("Z", {exclusive("b")});
    enter("W", {exclusive("a"), exclusive("b")});
    EXPECT_EQ(leave("X"), "ended X: left");
    EXPECT_EQ(enter("Y", {exclusive("a")}), "queued Y");
    EXPECT_EQ(leave("Z"), "ended Z: left; granted W");
    EXPECT_EQ(leave("W"), "ended W: left; granted Y");
}

TEST_F(Seed000, Case03_AfterAnAbortTheNextRequestWaitsForThePredecessor) {  // rule 4
    enter("X", {exclusive("a")});
    enter("W", {exclusive("a")});
    enter("Y", {exclusive("a")});
    EXPECT_EQ(leave("W"), "ended W: withdrawn") << "now Y waits for X";
    EXPECT_EQ(view("Y").position, 1U);
    EXPECT_EQ(view("Y").blockers, (std::vector<blocker>{{ticket("X"), "a", true}}));
    EXPECT_EQ(leave("X"), "ended X: left; granted Y") << "Y does not wait for the ended W";
}

// M shares A with X and B with S; S shares C with Z. After M aborts, S does not wait for X.
TEST_F(Seed000, Case04_AfterAnAbortTheSuccessorWaitsOnlyForRequestsThatShareItsKeys) {  // rule 4
    enter("X", {exclusive("a")});
    enter("Z", {exclusive("c")});
    enter("M", {exclusive("a"), exclusive("b")});
    enter("S", {exclusive("b"), exclusive("c")});
    EXPECT_EQ(leave("M"), "ended M: withdrawn");
    EXPECT_EQ(view("S").blockers, (std::vector<blocker>{{ticket("Z"), "c", true}}));
    EXPECT_EQ(leave("Z"), "ended Z: left; granted S") << "although X still holds A";
}

TEST_F(Seed000, Case05_AnAbortHandsOnTheReservedKeysAtOnce) {  // rule 4
    enter("X", {exclusive("a")});
    enter("W", {exclusive("a"), exclusive("b")});
    enter("Y", {exclusive("b")});
    EXPECT_EQ(leave("W"), "ended W: withdrawn; granted Y");
}

TEST_F(Seed000, Case06_NothingOfAnAbortedOrFreedRequestRemains) {  // rule 1
    enter("X", {exclusive("a")});
    enter("W", {exclusive("a"), exclusive("b")}, hold_limit(1h));
    enter("Y", {exclusive("b"), permits("c", 2, 3)}, hold_limit(1h));
    leave("W");
    leave("Y");
    leave("X");
    EXPECT_TRUE(take_snapshot().resources.empty());
    EXPECT_TRUE(take_snapshot().requests.empty());
    for (const char* each : {"X", "W", "Y"}) close(each);
    EXPECT_TRUE(idle());
    advance(15s);
    EXPECT_EQ(next_due(), std::nullopt);
}

TEST_F(Seed000, Case07_AnAbortThatRacesWithTheGrantHasADefiniteResult) {  // rule 12
    enter("X", {exclusive("a")});
    enter("W", {exclusive("a")});
    enter("Y", {exclusive("a")});
    leave("X");
    EXPECT_EQ(leave("W", release_kind::keep), "ended W: left; granted Y") << "the grant comes first and is released";
    EXPECT_EQ(std::get<ended>(events()[0].what).fence, fence("W"));

    EXPECT_EQ(enter("V", {exclusive("a")}), "queued V");
    EXPECT_EQ(leave("V"), "ended V: withdrawn") << "the abort comes first";
    EXPECT_EQ(leave("Y"), "ended Y: left") << "and V is not granted after that";
}

TEST_F(Seed000, Case08_FreeByAWaiterOrByAReplacedHolderGrantsNothing) {  // rule 9, rule 12
    enter("X", {exclusive("a")});
    enter("W", {exclusive("a")});
    enter("Y", {exclusive("a")});
    EXPECT_EQ(leave("W"), "ended W: withdrawn") << "X still holds, so Y is not granted";

    now += 9s;
    renew("Y");
    EXPECT_EQ(advance(1s), "lost W; ended X: expired; lost X; granted Y (a abandoned by X)");
    EXPECT_EQ(enter("Z", {exclusive("a")}), "queued Z");
    EXPECT_EQ(leave("X"), "ended X: gone") << "the replaced X frees nothing";
    EXPECT_EQ(holders("a"), "Y");
    EXPECT_EQ(queue("a"), "Z");
}

TEST_F(Seed000, Case09_ARepeatedIdKeepsItsQueuePositionAndFormsNoCircle) {  // rule 9
    enter("X", {exclusive("a")});
    enter("W", {exclusive("a"), exclusive("b")});
    enter("Y", {exclusive("a")});
    EXPECT_EQ(enter("W", {exclusive("a"), exclusive("b")}), "queued W");
    EXPECT_EQ(queue("a"), "W Y");
    EXPECT_TRUE(take_snapshot().circles.empty());
    EXPECT_EQ(leave("X"), "ended X: left; granted W");
    EXPECT_EQ(leave("W"), "ended W: left; granted Y");
}

TEST_F(Seed000, Case10_AKeyTwiceInOneRequestIsRefused) {
    EXPECT_EQ(enter("X", {exclusive("a"), exclusive("b"), exclusive("a")}), "refused X: duplicate resource");
    EXPECT_TRUE(take_snapshot().resources.empty());
    EXPECT_EQ(enter("X.2", {exclusive("a"), exclusive("b")}), "granted X.2") << "no request waits for itself";
}

// X holds A. Of the waiters U to Z some expire and the others renew; hand-offs skip the expired ones.
TEST_F(Seed000, Case11_ADeadWaiterIsSkippedAtEveryQueuePosition) {  // rule 5
    const struct {
        const char* dead;
        const char* queue;
    } table[] = {{"U", "V W Y Z"}, {"W", "U V Y Z"}, {"Z", "U V W Y"},
                 {"UVWYZ", ""},    {"UV", "W Y Z"},  {"", "U V W Y Z"}};
    for (const auto& row : table) {
        begin_again();
        for (const char* each : {"X", "U", "V", "W", "Y", "Z"}) enter(each, {exclusive("a")});
        now += 9s;
        for (const char* each : {"X", "U", "V", "W", "Y", "Z"})
            if (std::string{row.dead}.find(each) == std::string::npos) renew(each);
        advance(1s);
        EXPECT_EQ(holders("a"), "X") << "a waiter lives as long as its session";
        EXPECT_EQ(queue("a"), row.queue);
        const std::string next = std::string{row.queue}.substr(0, 1);
        EXPECT_EQ(leave("X"), "ended X: left" + (next.empty() ? "" : "; granted " + next));
    }
}

TEST_F(Seed000, Case12_AllKeysOfADeadHolderAreHandedOn) {  // rule 4, rule 5
    enter("X", {exclusive("a"), exclusive("b"), shared("c")});
    enter("X.2", {exclusive("d")});
    now += 1s;
    for (const auto& [name, key] : {std::pair{"P", "a"}, {"Q", "b"}, {"R", "c"}, {"S", "d"}})
        enter(name, {exclusive(key)});
    EXPECT_EQ(advance(9s),
              "ended X: expired; ended X.2: expired; lost X; granted P (a abandoned by X); "
              "granted Q (b abandoned by X); granted R; granted S (d abandoned by X)");
}

TEST_F(Seed000, Case13_TheAbandonedReportNamesExactlyTheKeysWhoseHolderDied) {  // rule 7
    const std::string spaces = "  two words and\ttab ";
    const std::string colons = ":a:b::";
    const std::string binary{"\0\xff\n\x01{}", 6};
    const std::string clean = "two";
    enter("X", {exclusive(spaces), exclusive(colons), exclusive(binary)});
    now += 1s;
    enter("Y", {exclusive(clean)});
    advance(9s);
    leave("Y");
    enter("Z", {exclusive(clean), exclusive(binary), exclusive("never used"), exclusive(spaces), exclusive(colons)});

    const mark mark{"X", fence("X"), now, 1};
    const std::vector<abandoned_resource> expected{{binary, mark}, {spaces, mark}, {colons, mark}};
    EXPECT_EQ(the<granted>().abandoned, expected);
}

TEST_F(Seed000, Case14_ALossOfKeepAliveIsReportedToTheHolder) {  // rule 5
    enter("X", {exclusive("a")});
    EXPECT_EQ(advance(10s), "ended X: expired; lost X") << "reported in the step that ends the session";
    EXPECT_EQ(renew("X"), "lost X") << "a late renewal gets the same reply";
}

// The notice of a grant is a hint. W does not receive it and learns of its grant by its next renewal or `enter`.
TEST_F(Seed000, Case15_ALostSignalDelaysAndNeverHangs) {  // rule 5, rule 9
    enter("X", {exclusive("a")});
    enter("W", {exclusive("a")});
    leave("X");  // the notice of W's grant is lost
    now += 3s;
    EXPECT_EQ(renew("W"), "alive W: W holds");
    EXPECT_EQ(enter("W", {exclusive("a")}), "granted W");
}

TEST_F(Seed000, Case16_AStartingProcessErasesNoLocks) {  // rule 11
    enter("X", {exclusive("a")});
    enter("W", {exclusive("a")});
    EXPECT_EQ(open("Y"), "alive Y") << "another client connects";
    EXPECT_EQ(holders("a"), "X");
    EXPECT_EQ(queue("a"), "W");

    lose_memory();  // an empty engine starts and waits for reclaims
    now += 1ms;
    pause(15s);
    EXPECT_EQ(enter("N", {exclusive("a")}), "queued N");
    EXPECT_EQ(open("X", {live("X")}), "alive X: X holds");
    EXPECT_EQ(open("W", {live("W")}), "alive W: W waits");
    EXPECT_EQ(holders("a"), "X");
    EXPECT_EQ(queue("a"), "W N");
}

TEST_F(Seed000, Case17_AThousandDisjointKeysAndNothingRemainsAfterTheLastIsFree) {  // rule 1
    std::vector<claim> all;
    for (int i = 0; i < 1'000; ++i) all.push_back(exclusive("key:" + std::to_string(i)));
    std::vector<std::string> holding;
    for (int i = 0; i < 1'000; i += 50) {  // twenty requests of fifty keys
        const std::string name = "X." + std::to_string(i + 1);
        EXPECT_EQ(enter(name, {all.begin() + i, all.begin() + i + 50}), i == 0 ? "granted X" : "granted " + name);
        holding.push_back(name);
    }
    EXPECT_EQ(take_snapshot().resources.size(), 1'000U);
    EXPECT_EQ(enter("W", all), "queued W");
    const std::string last = holding.back();
    holding.pop_back();
    for (const std::string& each : holding) leave(each);
    EXPECT_EQ(leave(last), "ended " + last + ": left; granted W");
    leave("W");
    EXPECT_TRUE(take_snapshot().resources.empty());
    close("X");
    close("W");
    EXPECT_TRUE(idle());
}

}  // namespace
}  // namespace baton::core::test
