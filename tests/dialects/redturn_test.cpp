// The queue of red-turn and redturn.ts: their own tests, held to our client, and each fault of their protocol that is
// cured.
#include "dialect_test.hpp"

namespace baton::dialect_tests {
namespace {

class Redturn : public Dialect {
protected:
    Redturn() : Dialect{"redturn"} {}
};

TEST_F(Redturn, WaitStoresExactlyOneElementAndSignalEmptiesTheList) {
    client ours = join();
    {
        const lease held = ours.acquire(exclusive("a"));
        EXPECT_TRUE(held.valid());
        EXPECT_NE(held.fence(), 0U);
        EXPECT_EQ(ask({"LLEN", "a"}).number, 1);
    }
    EXPECT_TRUE(eventually([&] { return keys().empty(); }));
}

TEST_F(Redturn, TwoClientsHandOver) {
    client first = join(), second = join();
    lease held = first.acquire(exclusive("a"));
    EXPECT_FALSE(second.try_acquire(exclusive("a")));
    held.release();
    EXPECT_TRUE(second.acquire(exclusive("a"), {.wait = 5s}).valid());
    EXPECT_TRUE(eventually([&] { return keys().empty(); }));
}

TEST_F(Redturn, APeerHandsOverToOursAndBack) {
    const auto other = peer();
    client ours = join();
    other->tell("acquire x a");
    EXPECT_EQ(other->hear(), "acquired x");
    EXPECT_FALSE(ours.try_acquire(exclusive("a")));
    other->tell("release x");
    EXPECT_EQ(other->hear(), "released x");
    lease held = ours.acquire(exclusive("a"), {.wait = 5s});
    other->tell("acquire y a");
    EXPECT_TRUE(eventually([&] { return ask({"LLEN", "a"}).number == 2; }));
    held.release();
    EXPECT_EQ(other->hear(), "acquired y");
    other->tell("release y");
    EXPECT_EQ(other->hear(), "released y");
    EXPECT_TRUE(eventually([&] { return keys().empty(); }));
}

}  // namespace
}  // namespace baton::dialect_tests
