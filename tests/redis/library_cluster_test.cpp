// What functions do for a call that declares a second key, as calls in a cluster do. The server is no node of a
// cluster: it accepts these calls, and has sharded channels, too.
#include <algorithm>

#include "library_fixture.hpp"

namespace baton::redis::library_tests {
namespace {

using namespace std::chrono_literals;

class LibraryInACluster : public Library {
protected:
    /// The commands of a release that hands the name over: `mode` of the waiter decides the path.
    work work_of_hand_over(bool in_cluster, claim_mode mode) {
        in_cluster_ = in_cluster;
        space_ = std::string{in_cluster ? "sharded" : "plain"} + (mode == claim_mode::shared ? "-long" : "-short");
        open_both();
        say(protocol::enter{{holder, 1}, {exclusive_claim("x")}, {}}, holder);
        say(protocol::enter{{waiter, 1}, {{"x", mode, 0, 0}}, {}}, waiter);
        return work_of(protocol::leave{{holder, 1}});
    }
};

TEST_F(LibraryInACluster, NoticesGoToShardedChannels) {
    for (const claim_mode mode : {claim_mode::exclusive, claim_mode::shared}) {
        work plain = work_of_hand_over(false, mode);
        work sharded = work_of_hand_over(true, mode);
        EXPECT_EQ(plain.calls["publish"], 1U);
        EXPECT_EQ(plain.calls["spublish"], 0U);
        EXPECT_EQ(sharded.calls["publish"], 0U);
        EXPECT_EQ(sharded.calls["spublish"], 1U);
        EXPECT_EQ(sharded.total(), plain.total()) << "no call costs more than elsewhere";
    }
}

TEST_F(LibraryInACluster, ViewersOfShardedChannelsAreCounted) {
    in_cluster_ = true;
    server_connection viewer{server_->at().path};
    std::string bytes;
    resp::encode_command(bytes, {"SSUBSCRIBE", events_channel(space_)});
    viewer.send(bytes);
    viewer.ask({"PING"});
    open_both();
    viewer.ask({"PING"});
    const auto is_event = [](const resp::value& push) { return push.items[0].text == "smessage"; };
    const std::vector<resp::value> heard = viewer.pushed();
    EXPECT_EQ(std::ranges::count_if(heard, is_event), 2);
}

TEST_F(LibraryInACluster, HelloChecksTheRightsToShardedChannels) {
    in_cluster_ = true;
    const auto missing_of = [this](std::vector<std::string> rules) {
        rules.insert(rules.begin(), {"ACL", "SETUSER", "poor", "reset", "on", "nopass"});
        EXPECT_EQ(connection_->ask(rules).text, "OK");
        server_connection poor{server_->at().path};
        EXPECT_EQ(poor.ask({"AUTH", "poor", "x"}).text, "OK");
        std::string out;
        encode(out, hello_call(space(), {}));
        poor.send(out);
        return poor.answer().text;
    };
    EXPECT_EQ(missing_of({"+@all", "-spublish", "~baton:*", "&*"}), "BATONACL +SPUBLISH");
    EXPECT_EQ(missing_of({"+@all", "-ssubscribe", "~baton:*", "&*"}), "BATONACL +SSUBSCRIBE");
    EXPECT_EQ(missing_of({"+@all", "-sunsubscribe", "~baton:*", "&*"}), "BATONACL +SUNSUBSCRIBE");
    EXPECT_EQ(missing_of({"+@all", "-pubsub|shardnumsub", "~baton:*", "&*"}), "BATONACL +PUBSUB|SHARDNUMSUB");
    EXPECT_EQ(missing_of({"+@all", "~baton:*", "resetchannels"}), "BATONACL &baton:{test}:* +SPUBLISH +SSUBSCRIBE");
    EXPECT_NE(missing_of({"+@all", "-publish", "-subscribe", "~baton:*", "&*"}).substr(0, 8), "BATONACL");
}

}  // namespace
}  // namespace baton::redis::library_tests
