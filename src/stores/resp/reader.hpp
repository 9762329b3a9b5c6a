// Reading one field after the other out of a value. The first that is missing or of another kind fails the whole;
// callers read on with harmless values and ask once, at the end.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "stores/resp/wire.hpp"

namespace baton::resp {

class reader {
public:
    explicit reader(const value& from) : items_{&from.items} {
        if (from.kind != kind::array && from.kind != kind::push) fail();
    }

    [[nodiscard]] bool failed() const { return failed_; }
    /// All was read, and nothing was wrong.
    [[nodiscard]] bool complete() const { return !failed_ && at_ == items_->size(); }
    [[nodiscard]] std::size_t left() const { return failed_ ? 0 : items_->size() - at_; }
    void fail() { failed_ = true; }

    const value& next() {
        static const value nothing;
        if (left() == 0) {
            fail();
            return nothing;
        }
        return (*items_)[at_++];
    }

    const std::string& text() {
        const value& item = next();
        if (item.kind != kind::bulk && item.kind != kind::simple) fail();
        return item.text;
    }

    /// A decimal, as a string or as a number.
    template <std::integral Number> Number number() { return to_number<Number>(next()); }

    /// None for `-`, `auto` or null.
    template <std::integral Number> std::optional<Number> number_if_any(std::string_view none = "-") {
        const value& item = next();
        if (item.kind == kind::null || (item.kind == kind::bulk && item.text == none)) return {};
        return to_number<Number>(item);
    }

    /// How many things follow, of at least so many fields each: never more than there can be.
    std::size_t count(std::size_t fields_each) {
        const auto count = number<std::size_t>();
        if (count > left() / fields_each) fail();
        return failed_ ? 0 : count;
    }

    bool flag() {
        const value& item = next();
        if (item.kind != kind::boolean) fail();
        return item.number != 0;
    }

    bool one_of(std::string_view yes, std::string_view no) {
        const std::string& word = text();
        if (word != yes && word != no) fail();
        return word == yes;
    }

    protocol::session_id session() {
        const auto id = from_hex(text());
        if (!id) fail();
        return id.value_or(protocol::session_id{});
    }
    protocol::request_id request() {
        const protocol::session_id id = session();
        return {id, number<std::uint64_t>()};
    }
    protocol::instant instant() { return protocol::instant{protocol::duration{number<std::int64_t>()}}; }
    std::optional<protocol::instant> instant_if_any() {
        const auto time = number_if_any<std::int64_t>();
        return time ? std::optional{protocol::instant{protocol::duration{*time}}} : std::nullopt;
    }
    std::optional<protocol::duration> duration_if_any() {
        const auto time = number_if_any<std::int64_t>();
        return time ? std::optional{protocol::duration{*time}} : std::nullopt;
    }

private:
    template <std::integral Number> Number to_number(const value& item) {
        if (item.kind == kind::number) {
            if (!std::in_range<Number>(item.number)) fail();
            return static_cast<Number>(item.number);
        }
        Number number = 0;
        const char* end = item.text.data() + item.text.size();
        const auto read = std::from_chars(item.text.data(), end, number);
        const bool is_text = item.kind == kind::bulk || item.kind == kind::big;
        if (!is_text || item.text.empty() || read.ec != std::errc{} || read.ptr != end) {
            fail();
            return 0;
        }
        return number;
    }

    const value::list* items_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

/// The enumerator that a word stands for: they count from 0, without gaps, up to `last`.
template <typename Enum, typename Name> Enum enumerator(reader& from, Enum last, Name name) {
    const std::string& word = from.text();
    for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i)
        if (word == name(static_cast<Enum>(i))) return static_cast<Enum>(i);
    from.fail();
    return Enum{};
}

inline std::string_view word(claim_mode mode) {
    return mode == claim_mode::exclusive ? "exclusive" : mode == claim_mode::shared ? "shared" : "permits";
}

}  // namespace baton::resp
