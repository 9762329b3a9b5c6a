// The codec: the encoding of each type; cuts at any byte have no effect; bounds are checked before memory is allocated.
#include "stores/resp/codec.hpp"

#include <gtest/gtest.h>

namespace baton::resp {
namespace {

std::optional<value> decode(std::string_view bytes, bounds bounds = {}) {
    decoder decoder{bounds};
    decoder.feed(bytes);
    return decoder.next();
}

fault fault_of(std::string_view bytes, bounds bounds = {}) {
    decoder decoder{bounds};
    decoder.feed(bytes);
    EXPECT_FALSE(decoder.next());
    return decoder.fault();
}

value bulk(std::string text) { return {kind::bulk, 0, std::move(text), {}}; }
value number(std::int64_t number) { return {kind::number, number, {}, {}}; }

TEST(RespCodec, ReadsEveryType) {
    EXPECT_EQ(decode("_\r\n"), value{});
    EXPECT_EQ(decode("$-1\r\n"), value{});
    EXPECT_EQ(decode("*-1\r\n"), value{});
    EXPECT_EQ(decode("#t\r\n"), (value{kind::boolean, 1, {}, {}}));
    EXPECT_EQ(decode(":-42\r\n"), number(-42));
    EXPECT_EQ(decode("(18446744073709551615\r\n"), (value{kind::big, 0, "18446744073709551615", {}}));
    EXPECT_EQ(decode(",1.5\r\n"), (value{kind::real, 0, "1.5", {}}));
    EXPECT_EQ(decode("+OK\r\n"), (value{kind::simple, 0, "OK", {}}));
    EXPECT_EQ(decode("-ERR no\r\n"), (value{kind::error, 0, "ERR no", {}}));
    EXPECT_EQ(decode("!6\r\nERR no\r\n"), (value{kind::error, 0, "ERR no", {}}));
    EXPECT_EQ(decode("$4\r\n\r\n\0a\r\n"), std::nullopt);
    EXPECT_EQ(decode({"$4\r\n\r\n\0a\r\n", 10}), bulk({"\r\n\0a", 4}));
    EXPECT_EQ(decode("*2\r\n$1\r\na\r\n*0\r\n"), (value{kind::array, 0, {}, {bulk("a"), {kind::array, 0, {}, {}}}}));
    EXPECT_EQ(decode("%1\r\n+a\r\n:1\r\n"), (value{kind::map, 0, {}, {{kind::simple, 0, "a", {}}, number(1)}}));
    EXPECT_EQ(decode("~1\r\n:1\r\n"), (value{kind::set, 0, {}, {number(1)}}));
    EXPECT_EQ(decode(">1\r\n:1\r\n"), (value{kind::push, 0, {}, {number(1)}}));
}

TEST(RespCodec, AMessageReadInPlaceDoesNotChangeTheNext) {
    const std::string large = "*100\r\n" + [] {
        std::string items;
        for (int i = 0; i < 100; ++i) items += "$3\r\nfoo\r\n";
        return items;
    }();
    const std::string messages[] = {
        "*3\r\n$3\r\nfoo\r\n*2\r\n:1\r\n+two\r\n:3\r\n", "*2\r\n*1\r\n_\r\n#t\r\n", large, "-ERR no\r\n", "*0\r\n",
        "*2\r\n*3\r\n:1\r\n:2\r\n$0\r\n\r\n_\r\n"};
    for (const std::string& first : messages)
        for (const std::string& second : messages) {
            decoder decoder;
            decoder.feed(first + second);
            const value* message = decoder.next_in_place();
            ASSERT_NE(message, nullptr);
            EXPECT_EQ(*message, decode(first));
            message = decoder.next_in_place();
            ASSERT_NE(message, nullptr);
            EXPECT_EQ(*message, decode(second));
            EXPECT_EQ(decoder.next_in_place(), nullptr);
        }
}

TEST(RespCodec, BytesMayComeOneByOneAndSeveralMessagesAtOnce) {
    const std::string bytes = "*3\r\n$3\r\nfoo\r\n:7\r\n*2\r\n_\r\n%1\r\n+k\r\n$0\r\n\r\n+next\r\n";
    decoder whole;
    whole.feed(bytes);
    const auto first = whole.next();
    const auto second = whole.next();
    ASSERT_TRUE(first && second);
    EXPECT_FALSE(whole.in_the_middle());
    for (std::size_t step = 1; step < 7; ++step) {
        decoder decoder;
        std::vector<value> got;
        for (std::size_t at = 0; at < bytes.size(); at += step) {
            decoder.feed(std::string_view{bytes}.substr(at, step));
            while (auto made = decoder.next()) got.push_back(std::move(*made));
        }
        EXPECT_EQ(got, (std::vector<value>{*first, *second})) << step;
    }
}

TEST(RespCodec, InvalidInputIsAFault) {
    for (const std::string_view bytes :
         {"GET / HTTP/1.1\r\n", "\r\n", ":\r\n", ":1x\r\n", "$x\r\n", "$-2\r\n", "$1\r\nab\r\n", "*-2\r\n", "%-1\r\n",
          "#x\r\n", "_x\r\n", "(12a\r\n", "(\r\n", "$?\r\n", ":99999999999999999999\r\n", "*1\r\n?\r\n"})
        EXPECT_EQ(fault_of(bytes), fault::malformed) << bytes;
}

TEST(RespCodec, AFaultIsFinal) {
    decoder decoder;
    decoder.feed("?\r\n");
    EXPECT_FALSE(decoder.next());
    decoder.feed("+OK\r\n");
    EXPECT_FALSE(decoder.next());
}

TEST(RespCodec, BoundsAreCheckedBeforeAllocation) {
    EXPECT_EQ(fault_of("$2000000000\r\n"), fault::too_large);
    EXPECT_EQ(fault_of("*2000000000\r\n"), fault::too_large);
    EXPECT_EQ(fault_of("%9223372036854775807\r\n"), fault::too_large);
    EXPECT_EQ(fault_of(std::string(5'000, 'x')), fault::too_large);
    EXPECT_EQ(fault_of("+" + std::string(5'000, 'x') + "\r\n"), fault::too_large);
    EXPECT_EQ(fault_of("*3\r\n*3\r\n_\r\n_\r\n_\r\n_\r\n_\r\n", {.values = 6}), fault::too_large);
    EXPECT_TRUE(decode("*2\r\n*2\r\n_\r\n_\r\n_\r\n", {.values = 5}));
    EXPECT_EQ(fault_of("*2\r\n$4\r\nabcd\r\n$4\r\nabcd\r\n", {.message = 20}), fault::too_large);
}

TEST(RespCodec, NestingIsBounded) {
    std::string deep;
    for (int i = 0; i < 8; ++i) deep += "*1\r\n";
    EXPECT_TRUE(decode(deep + "_\r\n"));
    EXPECT_EQ(fault_of("*1\r\n" + deep + "_\r\n"), fault::too_deep);
}

TEST(RespCodec, BoundsApplyToEachMessage) {
    decoder decoder{{.values = 3, .message = 40}};
    for (int i = 0; i < 100; ++i) {
        decoder.feed("*2\r\n$3\r\nfoo\r\n:1\r\n");
        EXPECT_TRUE(decoder.next());
    }
    EXPECT_EQ(decoder.fault(), fault::none);
}

TEST(RespCodec, AnErrorIsOneLine) {
    std::string out;
    writer{out}.error("ERR a\r\nb");
    EXPECT_EQ(out, "-ERR a  b\r\n");
}

}  // namespace
}  // namespace baton::resp
