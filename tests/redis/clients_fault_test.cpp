// Clients that are killed or stopped at critical moments.
#include "fault_test.hpp"
#include "proxy.hpp"

namespace baton::redis_tests {
namespace {

bool holds(client& viewer, const std::string& label) {
    for (const request_view& request : viewer.inspect().requests)
        if (request.label == label && request.fence != 0) return true;
    return false;
}

TEST_F(RedisFault, KilledHoldersAndWaitersDelayOthersByTheirTtlOnly) {
    const private_server server;
    make_space(server);
    load load{space_at(server.at()), 300ms};
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(load.stop_holding(load.names[0]));
        load.kill(load.names[0]);
        ASSERT_TRUE(load.stop_waiting(load.names[1]));
        load.kill(load.names[1]);
        load.names = {load.names[2], load.names[3], load.add(), load.add()};
        ASSERT_TRUE(load.goes_on()) << "others are served when their ttl is over";
    }
    load.end_soundly({.grants = 60, .processes = 6, .handoffs = 20, .tickets = 60, .losses = 3});
    expect_empty(server);
}

TEST_F(RedisFault, AWaiterKilledBeforeItsGrantArrivesDelaysOthersByItsTtl) {
    const private_server server;
    make_space(server);
    const folder files;
    proxy proxy{server.at(), files.path("proxy")};
    load load{space_at(server.at()), 300ms, 10ms, {"exclusive:a"}, 3};
    client viewer = client_at(server.at());
    for (int i = 0; i < 3; ++i) {
        const std::string who = load.add(space_at(proxy.at()));
        ASSERT_TRUE(load.stop_holding(who));
        proxy.set({.drop_replies = true});
        load.signal(who, SIGCONT);
        // It releases and acquires again, receives no replies, and is granted.
        ASSERT_TRUE(load.stop_waiting(who));
        load.signal(who, SIGCONT);
        ASSERT_TRUE(eventually([&] { return holds(viewer, who); }));
        load.kill(who);
        proxy.set({});
        ASSERT_TRUE(load.goes_on());
    }
    load.end_soundly({.grants = 60, .processes = 4, .handoffs = 20, .tickets = 60});
    viewer.close(5s);
    expect_empty(server);
}

TEST_F(RedisFault, AClientKilledBeforeItsRequestArrivesHasNoEffect) {
    const private_server server;
    make_space(server);
    const folder files;
    proxy proxy{server.at(), files.path("proxy")};
    // Held for long enough to stop a client while it holds.
    load load{space_at(server.at()), 300ms, 10ms, {"exclusive:a"}, 3};
    for (int i = 0; i < 3; ++i) {
        const std::string who = load.add(space_at(proxy.at()));
        ASSERT_TRUE(load.stop_holding(who));
        proxy.set({.swallow_requests = true});
        const auto before = proxy.seen().request_bytes;
        load.signal(who, SIGCONT);
        ASSERT_TRUE(eventually([&] { return proxy.seen().request_bytes > before; })) << "its release";
        ASSERT_TRUE(load.stop_waiting(who));
        load.kill(who);
        proxy.set({});
        ASSERT_TRUE(load.goes_on());
    }
    load.end_soundly({.grants = 60, .processes = 4, .handoffs = 20, .tickets = 60});
    expect_empty(server);
}

TEST_F(RedisFault, AClientStoppedForLongerThanItsTtlReleasesNothingAndDetectsItsLoss) {
    const private_server server;
    make_space(server);
    const folder files;
    proxy proxy{server.at(), files.path("proxy")};
    // Held for long enough that the commands of the stale client meet a holder.
    load load{space_at(server.at()), 300ms, 20ms, {"exclusive:a"}, 2};
    const std::string who = load.add(space_at(proxy.at()));
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(load.stop_holding(who));
        const auto held = load.so_far().requests;
        const auto stale = std::find_if(held.rbegin(), held.rend(), [&](const auto& each) { return each.who == who; });
        ASSERT_NE(stale, held.rend());
        // It gets no notification: it detects the loss by its own clock.
        proxy.set({.drop_replies = true});
        ASSERT_TRUE(load.goes_on(5)) << "it passes on after the ttl";
        load.signal(who, SIGCONT);
        EXPECT_TRUE(eventually([&] {
            for (const history::request& each : load.so_far().requests)
                if (each.who == who && each.number == stale->number) return each.lost;
            return false;
        }));
        proxy.cut(proxy_rules{});
        ASSERT_TRUE(load.goes_on(10)) << "and it is served again";
    }
    load.end_soundly({.grants = 45, .processes = 3, .handoffs = 20, .tickets = 45, .losses = 3});
    expect_empty(server);
}

}  // namespace
}  // namespace baton::redis_tests
