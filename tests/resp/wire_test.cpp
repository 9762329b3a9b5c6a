// Baton's wire format: a round trip of every command and every event; invalid input is refused.
#include <gtest/gtest.h>

#include "wire_dice.hpp"

namespace baton::resp {
namespace {

using namespace protocol;

value parse(const std::string& bytes) {
    decoder decoder;
    decoder.feed(bytes);
    auto made = decoder.next();
    EXPECT_TRUE(made) << bytes;
    EXPECT_FALSE(decoder.in_the_middle());
    return made.value_or(value{});
}

std::string encoded(const command& command) {
    std::string out;
    encode(out, command);
    return out;
}

value words(const std::vector<std::string>& list) {
    value made{kind::array, 0, {}, {}};
    for (const std::string& word : list) made.items.push_back({kind::bulk, 0, word, {}});
    return made;
}

const std::string some_session(32, 'a');

TEST(Wire, EveryCommandIsDecodedAsItWasEncoded) {
    wire_dice dice{1};
    for (std::size_t round = 0; round < 200; ++round)
        for (std::size_t kind = 0; kind < std::variant_size_v<command>; ++kind) {
            const command said = dice.command(kind);
            ASSERT_EQ(said.index(), kind);
            const decoded_request heard = decode_request(parse(encoded(said)));
            ASSERT_TRUE(heard.request) << encoded(said) << heard.error;
            const auto* command = std::get_if<protocol::command>(&*heard.request);
            ASSERT_NE(command, nullptr);
            EXPECT_EQ(command->index(), kind);
            EXPECT_EQ(encoded(*command), encoded(said));  // commands have no operator==; their encodings are equal
        }
}

TEST(Wire, FieldsOfACommandKeepTheirOrder) {
    const open said{{1, 2},
                    std::chrono::milliseconds{3},
                    "label",
                    4,
                    5,
                    {{6,
                      {{"a", claim_mode::permits, 7, 8}, {"b", claim_mode::shared, 0, 0}},
                      9,
                      10,
                      {{"a", {0, 1}}},
                      duration{11}}}};
    const auto heard = decode_request(parse(encoded(said)));
    const auto& got = std::get<open>(std::get<command>(heard.request.value()));
    EXPECT_EQ(got.session, said.session);
    EXPECT_EQ(got.ttl, said.ttl);
    EXPECT_EQ(got.label, said.label);
    EXPECT_EQ(got.connection_number, said.connection_number);
    EXPECT_EQ(got.highest, said.highest);
    ASSERT_EQ(got.live.size(), 1U);
    EXPECT_EQ(got.live[0].number, 6U);
    EXPECT_EQ(got.live[0].claims, said.live[0].claims);
    EXPECT_EQ(got.live[0].ticket, 9U);
    EXPECT_EQ(got.live[0].fence, 10U);
    EXPECT_EQ(got.live[0].slots, said.live[0].slots);
    EXPECT_EQ(got.live[0].hold, said.live[0].hold);
}

TEST(Wire, EveryEventIsDecodedInRepliesAndNotifications) {
    wire_dice dice{2};
    for (std::size_t round = 0; round < 200; ++round)
        for (std::size_t kind = 0; kind < std::variant_size_v<decltype(event::what)>; ++kind) {
            const event said = dice.event(kind);
            ASSERT_EQ(said.what.index(), kind);
            std::string out;
            encode_reply(out, 17, {said, said});
            const auto heard = decode_reply(parse(out));
            ASSERT_TRUE(heard) << out;
            EXPECT_EQ(heard->epoch, 17U);
            EXPECT_EQ(heard->events, (std::vector<event>{said, said}));
            out.clear();
            encode_notice(out, 18, said);
            const auto notice = decode_notice(parse(out));
            ASSERT_TRUE(notice) << out;
            EXPECT_EQ(notice->epoch, 18U);
            EXPECT_EQ(notice->events, std::vector<event>{said});
        }
}

TEST(Wire, EveryReasonIsDecoded) {
    for (unsigned i = 0; i <= static_cast<unsigned>(refusal::note_too_long); ++i) {
        std::string out;
        const event said{{}, refused{{}, static_cast<refusal>(i)}};
        encode_reply(out, 1, {said});
        EXPECT_EQ(decode_reply(parse(out)).value_or(reply{}).events, std::vector<event>{said}) << i;
    }
}

TEST(Wire, ASnapshotIsDecodedAsItWasEncoded) {
    wire_dice dice{3};
    for (std::size_t round = 0; round < 200; ++round) {
        const snapshot said = dice.inspect();
        std::string out;
        encode(out, said);
        const auto heard = decode_snapshot(parse(out));
        ASSERT_TRUE(heard);
        std::string again;
        encode(again, *heard);
        EXPECT_EQ(again, out);
    }
}

TEST(Wire, HelloAndInspectAreDecoded) {
    std::string out;
    encode(out, hello{wire_version, "default", 2});
    EXPECT_EQ(std::get<hello>(decode_request(parse(out)).request.value()), (hello{wire_version, "default", 2}));
    out.clear();
    encode(out, inspect_request{{inspect_filter::match::prefix, "led", true}});
    const auto heard = decode_request(parse(out)).request.value();
    EXPECT_EQ(std::get<inspect_request>(heard).filter.how, inspect_filter::match::prefix);
    EXPECT_EQ(std::get<inspect_request>(heard).filter.name, "led");
    EXPECT_TRUE(std::get<inspect_request>(heard).filter.related);
    EXPECT_TRUE(decode_request(words({"baton.inspect"})).request);
    out.clear();
    encode(out, hello_reply{1, 99, "baton 1"});
    EXPECT_EQ(decode_hello_reply(parse(out)).value().epoch, 99U);
}

TEST(Wire, ASweepIsDecodedAndItsCookieIsChecked) {
    const std::string cookie(32, 'c');
    for (const run_tree& tree : {run_tree{cookie, ""}, run_tree{cookie, "/sys/fs/cgroup/a/baton-" + cookie}}) {
        std::string out;
        encode(out, sweep{tree});
        EXPECT_EQ(std::get<sweep>(decode_request(parse(out)).request.value()), sweep{tree});
    }
    EXPECT_FALSE(decode_request(words({"BATON.SWEEP", "short"})).request);
    EXPECT_FALSE(decode_request(words({"BATON.SWEEP", std::string(32, 'x')})).request);
}

TEST(Wire, AHandshakeOfAnotherVersionIsDecodedUpToItsVersion) {
    for (const std::vector<std::string>& list : std::vector<std::vector<std::string>>{
             {"BATON.HELLO", "1", "default", "4711"}, {"BATON.HELLO", "999", "default", "more", "words"}}) {
        const decoded_request heard = decode_request(words(list));
        ASSERT_TRUE(heard.request) << heard.error;
        EXPECT_EQ(std::to_string(std::get<hello>(*heard.request).version), list[1]);
        EXPECT_FALSE(std::get<hello>(*heard.request).processes);
    }
    EXPECT_FALSE(decode_request(words({"BATON.HELLO", std::to_string(wire_version), "default", "2", "more"})).request);
}

TEST(Wire, InvalidCommandsAreRefused) {
    for (const std::vector<std::string>& list : std::vector<std::vector<std::string>>{
             {},
             {"GET", "a"},
             {"BATON.RENEW"},
             {"BATON.RENEW", "short"},
             {"BATON.RENEW", some_session, "more"},
             {"BATON.RENEW", std::string(32, 'A')},
             {"BATON.LEAVE", some_session, "1", "softly"},
             {"BATON.LEAVE", some_session, "-1", "clean"},
             {"BATON.LEAVE", some_session, "", "clean"},
             {"BATON.ENTER", some_session, "1", "wait", "-", "-", "2", "exclusive", "a"},
             {"BATON.ENTER", some_session, "1", "wait", "-", "-", "99999999999", "exclusive", "a"},
             {"BATON.ENTER", some_session, "1", "wait", "-", "-", "1", "sideways", "a"},
             {"BATON.ENTER", some_session, "1", "wait", "-", "-", "1", "permits", "a", "1"},
             {"BATON.RESIZE", "a", "4294967296"},
             {"BATON.HELLO", "1", ""},
             {"BATON.HELLO", "1", "no spaces"},
         })
        EXPECT_FALSE(decode_request(words(list)).request) << (list.empty() ? "" : list[0]);
    EXPECT_FALSE(decode_request(value{}).request);
    EXPECT_FALSE(decode_request({kind::array, 0, {}, {value{}}}).request);
}

TEST(Wire, InvalidRepliesAreRefused) {
    EXPECT_FALSE(decode_reply(value{}));
    EXPECT_FALSE(decode_reply(parse("*2\r\n:1\r\n*2\r\n$5\r\nqueer\r\n:1\r\n")));
    EXPECT_FALSE(decode_reply(parse("*2\r\n:1\r\n*2\r\n$6\r\nclosed\r\n:1\r\n")));
    EXPECT_FALSE(decode_notice(parse(">2\r\n$7\r\nmessage\r\n:1\r\n")));
    EXPECT_FALSE(decode_hello_reply(parse("+OK\r\n")));
    EXPECT_FALSE(decode_snapshot(parse("%1\r\n$8\r\nsessions\r\n$1\r\nx\r\n")));
}

}  // namespace
}  // namespace baton::resp
