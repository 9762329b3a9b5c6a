// The calls of the function library and the parsing of its replies, without a server.
#include <gtest/gtest.h>

#include "stores/redis/function_call.hpp"
#include "stores/redis/function_reply.hpp"
#include "stores/redis/inspect_pages.hpp"
#include "stores/redis/waiting_requests.hpp"

namespace baton::redis {
namespace {

using namespace protocol;
using words = std::vector<std::string>;

const session_id someone{0x0102030405060708, 0x090a0b0c0d0e0f10};
const std::string head =
    "0000000000000100"
    "0000000000000499"
    "0000000000000007"
    "0000000000000000";

function_call called(const command& command) { return call_of("space", 7, command); }
std::optional<function_reply> read(const std::string& events) { return decode_reply(head + events, someone); }
template <typename What> What only(const std::string& events) {
    const auto answer = read(events);
    if (!answer || answer->events.size() != 1) throw std::runtime_error("not one event: " + events);
    return std::get<What>(answer->events[0].what);
}

const std::string id{"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"};

TEST(FunctionCall, NamesTheSpaceAsTheKeyAndTheSessionAsAnArgument) {
    const function_call call = called(renew{someone});
    EXPECT_EQ(call.keys, (words{"baton:{space}:m"}));
    EXPECT_EQ(call.arguments, (words{"0000000000000007", id}));
    EXPECT_EQ(wake_channel("space", someone), "baton:{space}:wake:" + id);
    EXPECT_EQ(called(tick{}).arguments, (words{"0000000000000007"}));
}

TEST(FunctionCall, NamesARequestByItsSessionAndNumber) {
    const std::string request = "x" + id + "0000000000000012";
    EXPECT_EQ(called(leave{{someone, 12}, release_kind::keep}).arguments, (words{"0000000000000007", request, "k"}));
    const std::uint64_t large = 12'345'678'901'234'567;  // the engine refuses it
    EXPECT_EQ(called(leave{{someone, large}, release_kind::clean}).arguments,
              (words{"0000000000000007", "x" + id + "12345678901234567"}));
}

TEST(FunctionCall, WritesClaimsWithoutNumbersAsLetterAndName) {
    const std::string request = "x" + id + "0000000000000012";
    const enter one{{someone, 12}, {{"name", claim_mode::exclusive, 0, 0}}, {}};
    EXPECT_EQ(called(one).arguments, (words{"0000000000000007", request, "nname"}));
    const enter two{{someone, 12}, {{"", claim_mode::exclusive, 0, 0}, {"b", claim_mode::shared, 0, 0}}, {}};
    EXPECT_EQ(called(two).arguments, (words{"0000000000000007", request, "n", "sb"}));
}

TEST(FunctionCall, WritesOptionsAndPermitsInFull) {
    const std::string request = "x" + id + "0000000000000012";
    const enter asked{{someone, 12},
                      {{"a:1", claim_mode::shared, 1, 0}, {"b", claim_mode::permits, 2, 8}},
                      {true, duration{1'500}, 3}};
    EXPECT_EQ(called(asked).arguments, (words{"0000000000000007", request, "1:1500:3", "S1:0:a:1", "p2:8:b"}));
}

TEST(FunctionCall, SendsAtMostOneClaimBeyondTheLimit) {
    enter asked{{someone, 12}, std::vector<claim>(5'000, claim{"a", claim_mode::shared, 0, 0}), {}};
    EXPECT_EQ(called(asked).arguments.size(), 2 + bounds::claims + 1);
}

TEST(FunctionCall, ListsLiveRequestsAsOneArgumentEach) {
    const open asked{someone, std::chrono::milliseconds{5'000},
                     "label", 3,
                     9,       {{4, {{"gpu", claim_mode::permits, 3, 8}}, 11, 12, {{"gpu", {0, 1, 5}}}, duration{77}}}};
    EXPECT_EQ(called(asked).arguments, (words{"0000000000000007", id, "5000", "00000000000000000003", "9", "label",
                                              "4:11:12:77:1:p3:8:3:gpu1:3:gpu2:0:1:5:5:"}));
}

TEST(FunctionCall, NamesTheFunctionOfThisLibrary) {
    std::string out;
    encode(out, called(tick{}));
    const std::string function = std::string{server_library().name} + "_tick";
    EXPECT_TRUE(out.starts_with("*5\r\n$5\r\nFCALL\r\n$" + std::to_string(function.size()) + "\r\n" + function)) << out;
    out.clear();
    encode(out, name_page_call("space", 7, "a", "0", page_size{10}));
    EXPECT_TRUE(out.starts_with("*9\r\n$8\r\nFCALL_RO\r\n")) << out;
}

TEST(FunctionCall, NamesEveryVerbAsItsFile) {
    for (unsigned i = 0; i <= static_cast<unsigned>(verb::inspect); ++i) {
        const std::string registered = "register('" + std::string{name_of(static_cast<verb>(i))} + "'";
        EXPECT_NE(server_library().text.find(registered), std::string_view::npos) << registered;
    }
}

TEST(FunctionCall, EscapesThePrefixInItsPattern) {
    EXPECT_EQ(space_page_call("space", 7, "", "0", page_size{10}).arguments,
              (words{"0000000000000007", "10", "space", "0", ""}));
    EXPECT_EQ(space_page_call("space", 7, "a*[b", "17", page_size{10}).arguments,
              (words{"0000000000000007", "10", "space", "17", "a\\*\\[b*"}));
}

TEST(FunctionCall, RequestsTheQueuePositionsOfWaitingRequests) {
    EXPECT_EQ(renew_call("space", 7, renew{someone}, std::array<std::uint64_t, 2>{4, 9}).arguments,
              (words{"0000000000000007", id, "4", "9"}));
}

TEST(FunctionReply, BeginsWithTimeDueEpochAndPause) {
    const auto answer = read("");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->head.at, instant{duration{100}});
    EXPECT_EQ(answer->head.due, instant{duration{500}});
    EXPECT_EQ(answer->head.epoch, 7U);
    const auto never = decode_reply(
        "0000000000000100"
        "9999999999999999"
        "0000000000000007"
        "0000000000000000",
        {});
    ASSERT_TRUE(never);
    EXPECT_FALSE(never->head.due);
}

TEST(FunctionReply, ComputesCountAndDigestOfAListOfLiveRequests) {
    const std::string deadline = "0000000000000099";
    EXPECT_EQ(only<alive>("A" + deadline + "+:"), (alive{someone, instant{duration{99}}, 0, 0, true}));
    const std::uint64_t digest = request_digest(4, 0, std::uint64_t{0}) + request_digest(5, 12, std::uint64_t{0});
    EXPECT_EQ(only<alive>("A" + deadline + "-" + "00000000000000040000000000000000" +
                          "00000000000000050000000000000012" + ":"),
              (alive{someone, instant{duration{99}}, 2, digest, false}));
    EXPECT_FALSE(read("A" + deadline + "+0000000000000004"));
}

TEST(FunctionReply, ReadsEveryEvent) {
    const std::string ticket = "0000000000000011";
    const std::string fence = "0000000000000012";
    EXPECT_EQ(only<granted>("g4:" + ticket + fence + "."), (granted{{someone, 4}, 11, 12, {}, {}, {}}));
    EXPECT_EQ(only<granted>("g4:" + ticket + fence + "+99:1:1:a2:0:1:5:5:1:1:b3:bob5:6:7:"),
              (granted{{someone, 4},
                       11,
                       12,
                       {{"a", {0, 1, 5}}},
                       {{"b", {"bob", 5, instant{duration{6}}, 7}}},
                       instant{duration{99}}}));
    EXPECT_EQ(only<queued>("q4:" + ticket), (queued{{someone, 4}, 11}));
    EXPECT_EQ(only<refused>("rqueue full:4:"), (refused{request_id{someone, 4}, refusal::queue_full}));
    EXPECT_EQ(only<refused>("rstale connection:-:"), (refused{{}, refusal::stale_connection}));
    EXPECT_EQ(only<ended>("e4:l" + fence), (ended{{someone, 4}, end_reason::left, 12}));
    EXPECT_EQ(only<session_lost>("l"), (session_lost{someone}));
    EXPECT_EQ(only<alive>("a" + fence + "-2:77:"), (alive{someone, instant{duration{12}}, 2, 77, false}));
    EXPECT_EQ(only<listed>("t3:+2:0000000000000004" + ticket + fence + "!" + fence + "0000000000000009" + ticket +
                           fence + "-"),
              (listed{someone, 3, {{4, 11, 12, instant{duration{12}}}, {9, 11, 12, {}}}, true}));
    EXPECT_EQ(only<closed>("c"), (closed{someone}));
    EXPECT_EQ(only<revoking>("v4:" + fence + "4:note"), (revoking{{someone, 4}, "note", instant{duration{12}}}));
    EXPECT_EQ(only<revoking>("v0:" + fence + "0:"), (revoking{{}, "", instant{duration{12}}}));
    EXPECT_EQ(only<mended>("m1:a3:bob5:6:7:"), (mended{"a", {"bob", 5, instant{duration{6}}, 7}}));
    EXPECT_EQ(only<resized>("z1:a4:"), (resized{"a", 4}));
    EXPECT_EQ(only<resized>("z1:a-:"), (resized{"a", {}}));
    EXPECT_EQ(only<paused>("p77:"), (paused{instant{duration{77}}}));
}

TEST(FunctionReply, HasTheSendersQueuePositionAfterTheEvents) {
    const auto answer = read("q4:0000000000000011w12:");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->events.size(), 1U);
    EXPECT_EQ(answer->ahead, 12U);
    EXPECT_EQ(read("w0:")->ahead, 0U);
    EXPECT_FALSE(read("q4:0000000000000011")->ahead);
    for (const char* wrong : {"w", "w:", "w-:", "w1", "w1:c", "w1:w1:"}) EXPECT_FALSE(read(wrong)) << wrong;
}

TEST(WaitingRequests, ReportTheSmallestQueuePosition) {
    waiting_requests waiting;
    const auto hear = [&](const std::string& events) { waiting.note(read(events).value()); };
    const std::string ticket = "0000000000000011";
    hear("q1:" + ticket + "w7:");
    EXPECT_TRUE(waiting.any());
    EXPECT_EQ(waiting.ahead(), 7U);
    hear("q2:" + ticket + "w9:");
    EXPECT_EQ(waiting.ahead(), 7U);
    hear("q3:" + ticket + "w2:");
    EXPECT_EQ(waiting.ahead(), 2U);
    hear("g3:" + ticket + ticket + ".");
    EXPECT_EQ(waiting.ahead(), 2U) << "until the next reply with a position";
    EXPECT_EQ(waiting.oldest(), (std::vector<std::uint64_t>{1, 2}));
    hear("a" + ticket + "+2:77:w5:");
    EXPECT_EQ(waiting.ahead(), 5U);
    hear("l");
    EXPECT_FALSE(waiting.any());
    hear("q1:" + ticket + "w3:");
    EXPECT_EQ(waiting.ahead(), 3U);
}

TEST(WaitingRequests, ReportPositionZeroIfMoreWaitThanARenewalLists) {
    waiting_requests waiting;
    for (int number = 1; number <= 9; ++number)
        waiting.note(read("q" + std::to_string(number) + ":0000000000000011w7:").value());
    EXPECT_EQ(waiting.oldest().size(), waiting_requests::most_places);
    EXPECT_EQ(waiting.ahead(), 0U);
}

TEST(WaitingRequests, CountRequestsPresentedAsWaiting) {
    waiting_requests waiting;
    waiting.present({someone, {}, "", 1, 5, {{4, {}, 11, 12, {}, {}}, {5, {}, 11, 0, {}, {}}}});
    EXPECT_EQ(waiting.oldest(), (std::vector<std::uint64_t>{5}));
}

// A truncated reply, or one with missing parts, is refused.
TEST(FunctionReply, RefusesTruncatedOrForgedReplies) {
    const std::string whole = head + "g4:00000000000000110000000000000012+99:1:1:a2:0:1:5:5:1:1:b3:bob5:6:7:";
    for (std::size_t length = 0; length < whole.size(); ++length) {
        if (length == head.size()) continue;
        EXPECT_FALSE(decode_reply(whole.substr(0, length), someone)) << length;
    }
    for (const char* wrong : {"x", "g4:", "rno such word:4:", "e4:?0000000000000012", "q-4:0000000000000011",
                              "a0000000000000012+99999999999:", "z1:a5", "v4:00000000000000121000000:x",
                              "g4:00000000000000110000000000000012+-:1:1:a1:0:4000000000:0:"})
        EXPECT_FALSE(read(wrong)) << wrong;
}

class InspectPages : public testing::Test {
protected:
    static std::string name(const std::string& name, const std::string& whole, const std::string& claims) {
        return std::to_string(name.size()) + ":" + name + "-:-1:1:0:" + whole + claims;
    }
    static std::string claim_of(const std::string& alias, const std::string& others) {
        return alias + "5:" + "0000000000000011" + "0000000000000012" + "-:-:0:" + "0000000000000400" +
               "00001000:" + "3:bob" + others;
    }
    std::optional<std::string> add(const std::string& cursor, const std::vector<std::string>& names) {
        resp::value page{resp::kind::array, 0, {}, {}};
        for (const std::string& text : {head, cursor, std::string{"3"}})
            page.items.push_back({resp::kind::bulk, 0, text, {}});
        for (const std::string& text : names) page.items.push_back({resp::kind::bulk, 0, text, {}});
        return pages_.add(page);
    }

    const std::string alias_ = "0123456789abcdef";
    inspect_pages pages_;
};

TEST_F(InspectPages, ShowANameOnceIfSeveralPagesHaveIt) {
    const std::string a = name("a", "+", "1:" + claim_of(alias_, "1:1:+x0:0:0:-"));
    EXPECT_EQ(add("17", {a, a}), "17");
    const snapshot seen = pages_.take();
    EXPECT_EQ(seen.sessions, 3U);
    ASSERT_EQ(seen.requests.size(), 1U);
    EXPECT_EQ(seen.requests[0].label, "bob");
    ASSERT_EQ(seen.resources.size(), 1U);
    EXPECT_EQ(seen.resources[0].holders.size(), 1U);
    EXPECT_EQ(seen.resources[0].limit, 1U);
}

TEST_F(InspectPages, JoinTheClaimsOfARequestOnSeveralNames) {
    EXPECT_EQ(add("0", {name("b", "+", "1:" + claim_of(alias_, "2:2:+s0:0:0:-")),
                        name("a", "+", "1:" + claim_of(alias_, "1:2:+x0:0:0:-"))}),
              "0");
    const snapshot seen = pages_.take();
    ASSERT_EQ(seen.requests.size(), 1U);
    EXPECT_EQ(seen.requests[0].claims,
              (std::vector<claim>{{"a", claim_mode::exclusive, 0, 0}, {"b", claim_mode::shared, 0, 0}}));
}

TEST_F(InspectPages, RequestALargeNameSeparately) {
    EXPECT_EQ(add("0", {name("a", "-", "0:")}), "0");
    EXPECT_EQ(pages_.next_large(), "a");
    EXPECT_EQ(add("q1", {name("a", "-", "1:" + claim_of(alias_, "1:1:+s0:0:0:+"))}), "q1");
    EXPECT_EQ(add("0", {name("a", "+", "1:" + claim_of("fedcba9876543210", "1:1:+s0:0:0:+"))}), "0");
    EXPECT_FALSE(pages_.next_large());
    EXPECT_EQ(pages_.take().resources.at(0).holders.size(), 2U);
}

TEST_F(InspectPages, RefuseTruncatedOrForgedPages) {
    const std::string whole = name("a", "+", "1:" + claim_of(alias_, "1:1:+p1:8:1:0:0:-"));
    ASSERT_TRUE(add("0", {whole}));
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(add("0", {whole.substr(0, length)})) << length;
    EXPECT_FALSE(add("0", {name("a", "+", "1:" + claim_of(alias_, "2:1:+x0:0:0:-"))}));
    EXPECT_FALSE(add("0", {name("a", "+", "1:" + claim_of(alias_, "1:1000000:+x0:0:0:-"))}));
}

}  // namespace
}  // namespace baton::redis
