// Reads the text that the functions write: decimals that end with a colon, numbers of 16 digits, strings after their
// length. A missing or malformed field makes the reader fail: later reads return default values, and callers check
// `failed` once, at the end.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "baton/protocol.hpp"

namespace baton::redis {

class text_reader {
public:
    explicit text_reader(std::string_view text) : left_{text} {}

    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] bool done() const { return failed_ || left_.empty(); }
    [[nodiscard]] std::size_t left() const { return left_.size(); }
    void fail() {
        failed_ = true;
        left_ = {};
    }

    std::string_view bytes(std::size_t count) {
        if (count > left_.size()) {
            fail();
            return {};
        }
        const std::string_view taken = left_.substr(0, count);
        left_.remove_prefix(count);
        return taken;
    }
    [[nodiscard]] bool next_is(char letter) const { return left_.starts_with(letter); }
    char letter() {
        const std::string_view taken = bytes(1);
        return taken.empty() ? '\0' : taken[0];
    }

    /// The text before the next colon.
    std::string_view word() {
        const std::size_t end = left_.find(':');
        if (end == std::string_view::npos) {
            fail();
            return {};
        }
        const std::string_view taken = bytes(end);
        left_.remove_prefix(1);
        return taken;
    }
    template <std::integral Number> Number number() { return to_number<Number>(word()); }
    /// Reads all remaining text as one number.
    template <std::integral Number> Number whole_number() { return to_number<Number>(bytes(left_.size())); }
    template <std::integral Number> std::optional<Number> number_if_any() {
        const std::string_view taken = word();
        if (taken == "-") return {};
        return to_number<Number>(taken);
    }
    std::string_view sized() { return bytes(number<std::size_t>()); }

    /// Reads a number of items, and fails if the remaining text is too short for items of `bytes_each` bytes.
    std::size_t count(std::size_t bytes_each) {
        const auto count = number<std::size_t>();
        if (count > left_.size() / bytes_each) fail();
        return failed_ ? 0 : count;
    }

    std::uint64_t digits() { return to_number<std::uint64_t>(bytes(16)); }
    protocol::instant instant() { return to_instant(digits()); }
    std::optional<protocol::instant> instant_if_any() {
        const auto time = number_if_any<std::uint64_t>();
        return time ? std::optional{to_instant(*time)} : std::nullopt;
    }

    static protocol::instant to_instant(std::uint64_t micros) {
        return protocol::instant{protocol::duration{static_cast<std::int64_t>(micros)}};
    }

private:
    template <std::integral Number> Number to_number(std::string_view text) {
        Number number = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
            fail();
            return 0;
        }
        return number;
    }

    std::string_view left_;
    bool failed_ = false;
};

}  // namespace baton::redis
