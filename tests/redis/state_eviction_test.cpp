// A server whose eviction policy is changed under open connections. Every handshake checks the policy.
#include "state_test.hpp"

namespace baton::redis_tests {
namespace {

class RedisEviction : public RedisState {};

TEST_F(RedisEviction, ThatIsSwitchedOnLaterIsRefusedByTheNextConnection) {
    const private_server server;
    client holder = client_to(server.at());
    warm_up(holder);
    const lease held = holder.acquire(exclusive("x"), patiently);
    ASSERT_EQ(server.ask({"CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru"}).text, "OK");
    client newcomer = client_to(server.at());
    std::error_code error;
    newcomer.connect(long_enough, error);
    EXPECT_EQ(error, errc::space_refused) << error.message();
    EXPECT_TRUE(held.valid()) << "clients that are connected do not read the policy";
    // A connection with a subscription is of this type.
    ASSERT_EQ(server.ask({"CLIENT", "KILL", "TYPE", "pubsub"}).number, 1);
    EXPECT_TRUE(eventually([&] { return held.lost_reason() == loss::expired; }));
    ASSERT_EQ(server.ask({"CONFIG", "SET", "maxmemory-policy", "noeviction"}).text, "OK");
    EXPECT_TRUE(eventually([&] { return holder.acquire(exclusive("x"), patiently, error).valid(); }))
        << error.message();
}

}  // namespace
}  // namespace baton::redis_tests
