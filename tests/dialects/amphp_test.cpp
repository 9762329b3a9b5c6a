// The mutex of amphp/redis: its own tests, held to our client, and each fault of its protocol that is cured.
#include "dialect_test.hpp"

namespace baton::dialect_tests {
namespace {

class Amphp : public Dialect {
protected:
    Amphp() : Dialect{"amphp"} {}
};

TEST_F(Amphp, TakesItAndGivesItBack) {
    client ours = join();
    {
        const lease held = ours.acquire(exclusive("a"));
        EXPECT_TRUE(held.valid());
        EXPECT_NE(held.fence(), 0U);
        EXPECT_EQ(keys(), std::vector<std::string>{"lock:a"});
        EXPECT_EQ(ask({"GET", "lock:a"}).text.size(), 24U);
    }
    EXPECT_TRUE(eventually([&] { return keys().empty(); }));
}

TEST_F(Amphp, PassesFromOneToTheOther) {
    client first = join(), second = join();
    lease held = first.acquire(exclusive("a"));
    EXPECT_FALSE(second.try_acquire(exclusive("a")));
    held.release();
    EXPECT_TRUE(second.acquire(exclusive("a"), {.wait = 5s}).valid());
    EXPECT_TRUE(eventually([&] { return keys().empty(); }));
}

TEST_F(Amphp, APeerHandsOverToOursAndBack) {
    const auto other = peer();
    client ours = join();
    other->tell("acquire x a");
    EXPECT_EQ(other->hear(), "acquired x");
    EXPECT_FALSE(ours.try_acquire(exclusive("a")));
    other->tell("release x");
    EXPECT_EQ(other->hear(), "released x");
    lease held = ours.acquire(exclusive("a"), {.wait = 5s});
    other->tell("acquire y a");
    EXPECT_TRUE(eventually([&] { return ask({"LLEN", "lock-queue:a"}).number == 1; }));
    held.release();
    EXPECT_EQ(other->hear(), "acquired y");
    other->tell("release y");
    EXPECT_EQ(other->hear(), "released y");
    EXPECT_TRUE(eventually([&] { return keys().empty(); }));
}

}  // namespace
}  // namespace baton::dialect_tests
