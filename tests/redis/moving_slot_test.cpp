// Calls of functions on a slot that is half on one node and half on another. Functions use keys that they do not
// declare (docs/decisions/014), so the second key of a call in a cluster must keep them from running there.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster.hpp"
#include "stores/redis/function_call.hpp"
#include "stores/redis/function_reply.hpp"

namespace baton::redis_tests {
namespace {

using namespace std::chrono_literals;
using redis::called_space;

constexpr const char* space = "default";
constexpr protocol::session_id holder{1, 1};
constexpr protocol::session_id waiter{2, 2};

class MovingSlot : public testing::Test {
protected:
    void SetUp() override {
        if (!find_server()) GTEST_SKIP() << no_server;
        cluster_.emplace(cluster_options{.replicas = 0, .settings = {"--cluster-node-timeout", "5000"}});
        from_ = cluster_->primary_of(space);
        to_ = (from_ + 1) % 3;
        for (const std::size_t node : {from_, to_})
            ASSERT_EQ(cluster_->node(node).ask({"FUNCTION", "LOAD", std::string{redis::server_library().text}}).text,
                      redis::server_library().name);
        const std::string hello = call(from_, redis::hello_call(protecting, {60s, 0ms, false}));
        epoch_ = redis::decode_reply(hello, {}).value().head.epoch;
        for (const protocol::session_id& session : {holder, waiter})
            call(from_, call_of(protecting, epoch_, protocol::open{session, 60s, {}, 1, 0, {}}));
        const std::string granted = call(from_, enter(protecting, holder));
        ASSERT_EQ(redis::decode_reply(granted, holder).value().events.size(), 1U);
    }

    /// The text of the reply or the error. `asking` as a client that follows ASK.
    std::string call(std::size_t node, const redis::function_call& call, bool asking = false) {
        std::string bytes;
        if (asking) resp::encode_command(bytes, {"ASKING"});
        encode(bytes, call);
        resp_client client{cluster_->node(node).tcp()};
        client.say_bytes(bytes);
        if (asking) client.hear();
        const resp::value reply = client.hear().value();
        return reply.items.size() != 0 ? reply.items[0].text : reply.text;
    }
    redis::function_call enter(const called_space& where, const protocol::session_id& session) const {
        return call_of(where, epoch_,
                       protocol::enter{.request = {session, 1}, .claims = {{.resource = "x"}}, .options = {}});
    }
    /// The state of the name x.
    std::string state(std::size_t node) {
        resp_client client{cluster_->node(node).tcp()};
        return client.call({"HGET", "baton:{default}:m", "nx"}).value().text;
    }
    std::vector<redis::function_call> all_calls() const {
        std::vector<redis::function_call> calls;
        calls.push_back(redis::hello_call(protecting, {60s, 0ms, false}));
        calls.push_back(redis::look_call(protecting));
        calls.push_back(redis::space_page_call(protecting, epoch_, "", "0", {64}));
        calls.push_back(enter(protecting, waiter));
        calls.push_back(call_of(protecting, epoch_, protocol::leave{.request = {holder, 1}}));
        calls.push_back(call_of(protecting, epoch_, protocol::renew{.session = holder}));
        calls.push_back(call_of(protecting, epoch_, protocol::tick{}));
        return calls;
    }

    const called_space protecting{space, true};
    const called_space bare{space, false};
    std::optional<private_cluster> cluster_;
    std::size_t from_ = 0;
    std::size_t to_ = 0;
    epoch epoch_ = 0;
};

// The reason for the second key: the test shows what happens without it.
TEST_F(MovingSlot, WithoutASecondKeyACallFailsInTheMiddle) {
    cluster_->begin_move(space, to_);
    ASSERT_TRUE(state(from_).starts_with("X"));
    const std::string error = call(from_, enter(bare, waiter));
    EXPECT_NE(error.find("attempted to access a non local key"), std::string::npos) << error;
    EXPECT_TRUE(state(from_).starts_with("Y")) << "the name says that a queue exists, and there is none";
}

TEST_F(MovingSlot, WithASecondKeyNoCallRuns) {
    cluster_->begin_move(space, to_);
    const std::string before = state(from_);
    for (const redis::function_call& each : all_calls()) {
        SCOPED_TRACE(name_of(each.verb));
        EXPECT_TRUE(call(from_, each).starts_with("TRYAGAIN ")) << call(from_, each);
        EXPECT_TRUE(call(to_, each).starts_with("MOVED ")) << call(to_, each);
    }
    EXPECT_EQ(state(from_), before);
    // When some keys have moved, or all.
    const std::string port = std::to_string(cluster_->node(to_).tcp().port);
    for (const char* key : {"d", "m"}) {
        ASSERT_EQ(cluster_->node(from_)
                      .ask({"MIGRATE", "127.0.0.1", port, std::string{"baton:{default}:"} + key, "0", "5000"})
                      .text,
                  "OK");
        for (const redis::function_call& each : all_calls()) {
            SCOPED_TRACE(std::string{name_of(each.verb)} + " without " + key);
            const std::string refused = call(from_, each);
            EXPECT_TRUE(refused.starts_with("TRYAGAIN ") || refused.starts_with("ASK ")) << refused;
            EXPECT_TRUE(call(to_, each).starts_with("MOVED ")) << call(to_, each);
            EXPECT_TRUE(call(to_, each, true).starts_with("TRYAGAIN ")) << "also where ASK leads";
        }
    }
}

}  // namespace
}  // namespace baton::redis_tests
