// Servers whose clock is behind the numbers that their clients have seen, and servers that have just been started.
#include <mutex>

#include "server_clock.hpp"
#include "state_test.hpp"

namespace baton::redis_tests {
namespace {

using std::chrono::steady_clock;

class RedisEpoch : public RedisState {};

/// The server restarts without its data, and with its clock an hour back. The client has seen larger numbers than the
/// server assigns. It is served or gets the reason, and does not flood the server with connections.
TEST_F(RedisEpoch, AClientThatHasSeenALargerEpochIsServedOrGetsAReason) {
    const folder files;
    server_clock clock{files.path("clock")};
    clock.jump(1h);
    private_server server{{.clock = &clock}};
    proxy way{server.at(), files.path("way")};
    client known = client_to(way.at());
    warm_up(known);
    server.kill();
    clock.jump(-1h);
    server.start();
    const auto before = way.seen().connections;
    struct result {
        std::atomic<bool> known{false};
        std::error_code error;
        lease held;
    } answer;
    known.async_acquire(exclusive("x"), {}, [&answer](std::error_code error, lease lease) {
        answer.error = error;
        answer.held = std::move(lease);
        answer.known = true;
    });
    EXPECT_TRUE(eventually([&] { return answer.known.load(); }, 8s)) << "it waits for ever without a reply";
    EXPECT_LT(way.seen().connections - before, 40U) << "within 8 s";
    EXPECT_TRUE(answer.held.valid() || answer.error) << "neither a lease nor an error";
    known.close(1s);
}

/// The same with a server that keeps its data: its epoch and counter are those of the clock that was ahead.
TEST_F(RedisEpoch, AClockThatWasAheadWithUnchangedData) {
    const folder files;
    server_clock clock{files.path("clock")};
    clock.jump(1h);
    private_server server{{.keeps_data = true, .clock = &clock}};
    client known = client_to(server.at());
    const auto fence = known.acquire(exclusive("x"), patiently).fence();
    server.kill();
    clock.jump(-1h);
    server.start();
    std::error_code error;
    const lease next = known.acquire(exclusive("x"), patiently, error);
    EXPECT_TRUE(next.valid()) << error.message();
    EXPECT_GT(next.fence(), fence);
}

/// Leases from before a start end max_ttl after it at the latest. A client that connects later waits only for the rest.
/// A server reports its age in whole seconds, and the library does not trust one second of that: up to 2 s of the age
/// do not count.
TEST_F(RedisEpoch, ThePauseAfterAStartCountsFromTheStart) {
    const terms terms{.max_ttl = 4s};
    const auto started = steady_clock::now();
    const private_server server;
    const auto age = 3500ms;
    ASSERT_TRUE(eventually([&] { return steady_clock::now() >= started + age; }));
    client first = client_to(server.at(), terms);
    std::error_code error;
    const lease held = first.acquire(exclusive("x"), patiently, error);
    const auto after = std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - started);
    EXPECT_TRUE(held.valid()) << error.message();
    EXPECT_GE(after, terms.max_ttl) << "a lease from before the start may still be valid";
    EXPECT_LE(after, age + terms.pause() - 1s) << "the pause began with the new client";
}

/// The name has no holder, so "busy" would be wrong: a caller would take it for contention.
TEST_F(RedisEpoch, ATryInAPauseIsNotBusy) {
    const private_server server;
    client first = client_to(server.at());
    first.connect(long_enough);
    std::error_code error;
    const auto tried = first.try_acquire(exclusive("x"), {}, error);
    EXPECT_TRUE(tried || error) << "refused as busy";
}

/// The try detects the loss. It is not kept in the queue of the pause, where it would wait until its limit.
TEST_F(RedisEpoch, ATryThatDetectsALossIsPaused) {
    const private_server server;
    client first = client_to(server.at());
    warm_up(first);
    ASSERT_EQ(server.ask({"FLUSHALL"}).text, "OK");
    std::error_code error;
    EXPECT_FALSE(first.try_acquire(exclusive("x"), {}, error));
    EXPECT_EQ(error, errc::paused) << error.message();
}

}  // namespace
}  // namespace baton::redis_tests
