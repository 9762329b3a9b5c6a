// In each dialect, a client that ends while its connection or the scripts are lost releases its locks. Nothing expires
// during a test, so a name that is free was released.
#include "dialect_facts.hpp"
#include "dialect_test.hpp"

namespace baton::dialect_tests {
namespace {

class DialectRelease : public Dialect, public testing::WithParamInterface<dialect_facts> {
protected:
    DialectRelease() : Dialect{GetParam().name} {}

    void expect_free() const {
        client other = join();
        std::error_code error;
        const auto lease = other.try_acquire(exclusive("a"), {}, error);
        ASSERT_FALSE(error) << error.message();
        ASSERT_TRUE(lease) << "a is still held";
    }
};

TEST_P(DialectRelease, SurvivesForgottenScripts) {
    for (int time = 0; time < 5 && !HasFatalFailure(); ++time) {
        SCOPED_TRACE(time);
        {
            client ending = join();
            const lease held = ending.acquire(exclusive("a"));
            EXPECT_EQ(ask({"SCRIPT", "FLUSH"}).text, "OK");
        }
        expect_free();
    }
}

TEST_P(DialectRelease, SurvivesAKilledConnection) {
    for (int time = 0; time < 5 && !HasFatalFailure(); ++time) {
        SCOPED_TRACE(time);
        {
            client ending = join();
            const lease held = ending.acquire(exclusive("a"));
            const auto killed =
                ask({"CLIENT", "KILL", "TYPE", "normal"}).number + ask({"CLIENT", "KILL", "TYPE", "pubsub"}).number;
            EXPECT_GE(killed, 1);
        }
        expect_free();
    }
}

// The connection is reset at every 11th byte that the ending client sends.
TEST_P(DialectRelease, SurvivesAResetAtAnyByte) {
    const folder place;
    redis_tests::proxy proxy{server_->at(), place.path("proxy")};
    const std::string url = "unix:" + proxy.at().path + "?dialect=" + name_;
    std::size_t cut_at = 0;
    for (bool reached = true; reached && !HasFatalFailure(); cut_at += 11) {
        SCOPED_TRACE(cut_at);
        const auto resets = proxy.seen().resets;
        {
            client ending{url, {.label = {}, .close_wait = long_enough}};
            const lease held = ending.acquire(exclusive("a"));
            proxy.set({.reset_after_request = cut_at});
        }
        reached = proxy.seen().resets > resets;
        proxy.set({});
        expect_free();
    }
    EXPECT_GT(cut_at, 100U) << "the messages of a release are longer";
}

TEST_P(DialectRelease, OfAWaiterSurvivesAKilledConnection) {
    client holder = join();
    lease held = holder.acquire(exclusive("a"));
    {
        client ending = join();
        ending.async_acquire(exclusive("a"), {}, {}, [](std::error_code, const lease&) {});
        ASSERT_TRUE(eventually([&] { return holder.inspect().requests.size() == 2; }));
        EXPECT_GE(ask({"CLIENT", "KILL", "TYPE", "normal"}).number + ask({"CLIENT", "KILL", "TYPE", "pubsub"}).number,
                  1);
    }
    held.release();
    EXPECT_TRUE(holder.close(long_enough));
    expect_free();
}

INSTANTIATE_TEST_SUITE_P(Each, DialectRelease, testing::ValuesIn(each_dialect),
                         [](const auto& each) { return test_name(each.param.name); });

}  // namespace
}  // namespace baton::dialect_tests
