// Judges a local: store with clients that are killed and stopped and an agent that is killed.
#include "hammers.hpp"

#include <gtest/gtest.h>

#include "../local/agent_process.hpp"

namespace baton::history {
namespace {

using namespace local_tests;

TEST(Hammers, LocalIsSoundWhileClientsAndTheAgentAreKilled) {
    const workplace place;
    const std::vector<std::string> short_ttl{"--max-ttl-ms", "500"};
    agent_process agent{place, short_ttl};
    hammers hammers{{.url = place.url(),
                     .ttl = 500ms,
                     .requests = {"exclusive:a", "shared:a", "exclusive:a+exclusive:b", "permits:p:1/2",
                                  "permits:p:2/2+shared:b", "exclusive:a"}}};
    std::vector<std::string> names;
    for (int i = 0; i < 4; ++i) names.push_back(hammers.add());
    ASSERT_TRUE(hammers.stop_holding(names[0]));
    hammers.kill(names[0]);
    ASSERT_TRUE(hammers.stop_waiting(names[1]));
    hammers.kill(names[1]);
    for (int i = 0; i < 2; ++i) names.push_back(hammers.add());

    ASSERT_TRUE(hammers.stop_holding(names[2]));
    const auto before = hammers.grants();
    ASSERT_TRUE(eventually([&] { return hammers.grants() > before + 20; })) << "the name is handed on after the ttl";
    hammers.signal(names[2], SIGCONT);

    agent.end(SIGKILL);
    agent.start();
    const auto then = hammers.grants();
    ASSERT_TRUE(eventually([&] { return hammers.grants() > then + 100; }));
    // The process that was killed while it waited may never have been granted.
    const verdict verdict =
        hammers.finish({.grants = 100, .processes = 5, .handoffs = 50, .tickets = 100, .losses = 2});
    EXPECT_TRUE(verdict.sound()) << verdict.report();
}

}  // namespace
}  // namespace baton::history
