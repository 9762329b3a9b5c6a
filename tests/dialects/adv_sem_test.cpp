// The semaphores of asyncio-advanced-semaphores: their own tests, held to our client, and each fault of their protocol
// that is cured.
#include "dialect_test.hpp"

namespace baton::dialect_tests {
namespace {

class AdvSem : public Dialect {
protected:
    AdvSem() : Dialect{"adv-sem"} {}

    [[nodiscard]] bool only_the_limit_is_left() const {
        return std::ranges::all_of(keys(),
                                   [](const std::string& key) { return key.starts_with("adv-sem:semaphore_max:"); });
    }
};

TEST_F(AdvSem, AcquireAndReleaseTwice) {
    client ours = join();
    for (int times = 0; times < 2; ++times) {
        const lease held = ours.acquire(permits("a", 1, 2));
        EXPECT_TRUE(held.valid());
        EXPECT_NE(held.fence(), 0U);
        EXPECT_EQ(ask({"ZCARD", "adv-sem:semaphore_main:a"}).number, 1);
    }
    EXPECT_TRUE(eventually([&] { return only_the_limit_is_left(); }));
}

TEST_F(AdvSem, PassesFromOneToTheOther) {
    client first = join(), second = join();
    lease held = first.acquire(exclusive("a"));
    EXPECT_FALSE(second.try_acquire(exclusive("a")));
    held.release();
    EXPECT_TRUE(second.acquire(exclusive("a"), {.wait = 5s}).valid());
    EXPECT_TRUE(eventually([&] { return only_the_limit_is_left(); }));
}

TEST_F(AdvSem, APeerHandsOverToOursAndBack) {
    const auto other = peer();
    client ours = join();
    other->tell("acquire x a limit=1");
    EXPECT_EQ(other->hear(), "acquired x");
    EXPECT_FALSE(ours.try_acquire(exclusive("a")));
    other->tell("release x");
    EXPECT_EQ(other->hear(), "released x");
    lease held = ours.acquire(exclusive("a"), {.wait = 5s});
    other->tell("acquire y a limit=1");
    EXPECT_TRUE(eventually([&] { return ask({"ZCARD", "adv-sem:semaphore_waiting:a"}).number == 1; }));
    held.release();
    EXPECT_EQ(other->hear(), "acquired y");
    other->tell("release y");
    EXPECT_EQ(other->hear(), "released y");
    EXPECT_TRUE(eventually([&] { return only_the_limit_is_left(); }));
}

}  // namespace
}  // namespace baton::dialect_tests
