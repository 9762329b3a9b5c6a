// Appends the fields of a message (protocol/fields.hpp) to an array, whose header it writes at the end. Nothing is
// nested: an absent optional field is one item, a list is its length and its items, and a part of a message is its
// fields.
#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>

#include "protocol/fields.hpp"
#include "stores/resp/wire.hpp"

namespace baton::resp {

class field_writer {
public:
    /// `strings` is for commands: numbers are decimal strings, and `-` is an absent value.
    enum class style : std::uint8_t { strings, values };

    field_writer(std::string& out, style style) : out_{out}, style_{style}, begin_{out.size()} {}
    field_writer(const field_writer&) = delete;
    field_writer& operator=(const field_writer&) = delete;
    ~field_writer() {
        std::array<char, 24> header;
        out_.insert(begin_, writer::header_of(header, '*', count_));
    }

    template <typename Field> void operator()(std::string_view /*name*/, const Field& field) { put(field); }

    void put(std::string_view text) {
        writer{out_}.bulk(text);
        ++count_;
    }
    void put(std::initializer_list<std::string_view> parts) {
        writer{out_}.bulk(parts);
        ++count_;
    }
    template <std::signed_integral Number> void put(Number number) { put_number(std::int64_t{number}); }
    template <std::unsigned_integral Number> void put(Number number) { put_number(std::uint64_t{number}); }
    template <typename Rep, typename Period> void put(std::chrono::duration<Rep, Period> time) { put(time.count()); }
    void put(protocol::instant time) { put(time.time_since_epoch()); }
    void put(const protocol::session_id& id) { put(std::string_view{to_hex(id)}); }
    template <protocol::worded Enum> void put(Enum value) { put(protocol::word(value)); }
    void put(const protocol::either<const bool>& choice) { put(choice.flag ? choice.yes : choice.no); }
    template <typename Item> void put(const std::optional<Item>& item) {
        if (item) return put(*item);
        if (style_ == style::strings) return put("-");
        writer{out_}.null();
        ++count_;
    }
    template <std::ranges::sized_range List>
        requires(!std::convertible_to<List, std::string_view>)
    void put(const List& list) {
        put(std::ranges::size(list));
        for (const auto& item : list) put(item);
    }
    template <protocol::described Part> void put(const Part& part) { protocol::fields(*this, part); }

private:
    template <typename Number> void put_number(Number number) {
        if (style_ == style::values) {
            writer{out_}.number(number);
            ++count_;
            return;
        }
        std::array<char, 24> digits;
        put(std::string_view{digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr});
    }

    std::string& out_;
    const style style_;
    const std::size_t begin_;
    std::size_t count_ = 0;
};

}  // namespace baton::resp
