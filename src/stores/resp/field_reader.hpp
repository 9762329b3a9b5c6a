// Reads the fields of a message (protocol/fields.hpp) from an array that `field_writer` has written. A missing or wrong
// item makes the reader fail: later reads return default values, and callers check `complete` once, at the end.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/fields.hpp"
#include "stores/resp/wire.hpp"

namespace baton::resp {

class field_reader {
public:
    explicit field_reader(const value& from) : items_{&from.items} {
        if (from.kind != kind::array && from.kind != kind::push) fail();
    }

    [[nodiscard]] bool failed() const { return failed_; }
    /// All items were read, and the reader has not failed.
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
    template <typename Field> Field get() {
        Field field{};
        read(field);
        return field;
    }

    template <typename Field> void operator()(std::string_view /*name*/, Field&& field) { read(field); }

    void read(std::string& into) { into = text(); }
    /// A number, or a decimal string.
    template <std::integral Number> void read(Number& into) {
        const value& item = next();
        if (item.kind == kind::number) {
            if (!std::in_range<Number>(item.number)) fail();
            into = static_cast<Number>(item.number);
            return;
        }
        const char* end = item.text.data() + item.text.size();
        const auto read = std::from_chars(item.text.data(), end, into);
        const bool is_text = item.kind == kind::bulk || item.kind == kind::big;
        if (!is_text || item.text.empty() || read.ec != std::errc{} || read.ptr != end) fail();
    }
    template <typename Rep, typename Period> void read(std::chrono::duration<Rep, Period>& into) {
        into = std::chrono::duration<Rep, Period>{get<Rep>()};
    }
    void read(protocol::instant& into) { into = protocol::instant{get<protocol::duration>()}; }
    void read(protocol::session_id& into) {
        const auto id = from_hex(text());
        if (!id) fail();
        into = id.value_or(protocol::session_id{});
    }
    template <protocol::worded Enum> void read(Enum& into) {
        const auto value = protocol::from_word<Enum>(text());
        if (!value) fail();
        into = value.value_or(Enum{});
    }
    void read(const protocol::either<bool>& choice) {
        const std::string& word = text();
        if (word != choice.yes && word != choice.no) fail();
        choice.flag = word == choice.yes;
    }
    /// Absent values are null, `-`, and `auto`, which people write for a limit.
    template <typename Item> void read(std::optional<Item>& into) {
        into.reset();
        if (left() == 0) return fail();
        const value& item = (*items_)[at_];
        if (item.kind == kind::null || (item.kind == kind::bulk && (item.text == "-" || item.text == "auto")))
            ++at_;
        else
            read(into.emplace());
    }
    /// Checks the count against the remaining items before it allocates.
    template <typename Item> void read(std::vector<Item>& into) {
        const auto count = get<std::size_t>();
        if (count > left() / least_items<Item>()) fail();
        into.clear();
        into.resize(failed_ ? 0 : count);
        for (Item& item : into) read(item);
    }
    void read(claim_list& into) { into = get<std::vector<claim>>(); }
    template <protocol::described Part> void read(Part& into) { protocol::fields(*this, into); }

private:
    /// Counts the array items of a message with default values, which is the shortest one.
    struct item_counter {
        std::size_t count = 0;

        template <typename Field> void operator()(std::string_view /*name*/, const Field& field) {
            if constexpr (protocol::described<Field>)
                protocol::fields(*this, field);
            else
                ++count;
        }
    };
    template <typename Item> static std::size_t least_items() {
        item_counter counter;
        counter("", Item{});
        return counter.count;
    }

    const value::list* items_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

}  // namespace baton::resp
