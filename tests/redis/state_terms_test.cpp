// A client whose address has other terms of the space than those of all other clients is the first to connect to a
// restarted server. If the server still has the space, the client is refused. If the server has no data, the client's
// terms apply until a client connects that knows the space; then its own terms replace them.
#include "state_test.hpp"

namespace baton::redis_tests {
namespace {

class RedisTerms : public RedisState {
protected:
    static inline const terms without_pause{.more = "&pause=off"};
    static inline const terms shorter{.max_ttl = 200ms, .lag = 0ms};

    /// The server's data after its start do not contain the holder.
    enum class data : std::uint8_t { none, older };

    static void play(data after, const terms& wrong) {
        private_server server;
        const folder files;
        proxy way{server.at(), files.path("way")};  // clients with the right terms connect later
        lone_holder lone{server.at()};
        client other = client_to(way.at());
        warm_up(other);
        if (after == data::older) server.copy_aside("then");
        lone.acquire();
        lone.cut_off();
        way.cut({.refuse = true});
        server.kill();
        if (after == data::older) server.put_back("then");
        server.start();
        std::error_code error;
        {
            client stranger = client_to(server.at(), wrong, std::min(wrong.max_ttl, 1'000ms));
            const lease strangers = stranger.acquire(exclusive("x"), {.wait = 300ms}, error);
            if (after == data::older) {
                EXPECT_FALSE(strangers.valid()) << "granted with other terms than the space's";
            }
        }
        way.set({});
        expect_passes_on(other, lone);
        client newcomer = client_to(server.at());
        EXPECT_TRUE(newcomer.acquire(exclusive("x"), patiently, error).valid()) << error.message();
        // A later client with other terms does not change the terms either.
        client stranger = client_to(server.at(), wrong, std::min(wrong.max_ttl, 1'000ms));
        static_cast<void>(stranger.acquire(exclusive("z"), {.wait = 300ms}, error));
        EXPECT_TRUE(other.acquire(exclusive("x"), patiently, error).valid()) << error.message();
    }
};

TEST_F(RedisTerms, PauseOffIsFirstAtAServerWithoutData) { play(data::none, without_pause); }
TEST_F(RedisTerms, PauseOffIsFirstAtAServerWithOlderData) { play(data::older, without_pause); }
TEST_F(RedisTerms, AShorterMaxTtlIsFirstAtAServerWithoutData) { play(data::none, shorter); }
TEST_F(RedisTerms, AShorterMaxTtlIsFirstAtAServerWithOlderData) { play(data::older, shorter); }

}  // namespace
}  // namespace baton::redis_tests
