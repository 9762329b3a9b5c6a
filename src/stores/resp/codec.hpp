// Encodes and decodes RESP3, the Redis protocol, between bytes and values; the agent speaks it too. No I/O here. The
// decoder accepts bytes in pieces of any size. It checks the size limits on lengths, nesting and number of values
// before it allocates, so a peer cannot make it allocate memory by announcing a large value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton::resp {

enum class kind : std::uint8_t { null, boolean, number, real, big, simple, bulk, error, array, map, set, push };

/// One value, including nested values.
struct value {
    /// A list that keeps removed values, with their memory, behind its end and reuses them.
    class list {
    public:
        list() = default;
        list(std::initializer_list<value> values) : kept_{values}, size_{values.size()} {}
        list(const list& other) : kept_{other.begin(), other.end()}, size_{other.size_} {}
        list(list&& other) noexcept : kept_{std::move(other.kept_)}, size_{std::exchange(other.size_, 0)} {}
        list& operator=(list other) noexcept {
            kept_.swap(other.kept_);
            size_ = other.size_;
            return *this;
        }
        ~list() = default;

        [[nodiscard]] bool empty() const { return size_ == 0; }
        [[nodiscard]] std::size_t size() const { return size_; }
        [[nodiscard]] const value* begin() const { return kept_.data(); }
        [[nodiscard]] const value* end() const { return begin() + size_; }
        [[nodiscard]] const value& operator[](std::size_t at) const { return kept_[at]; }
        [[nodiscard]] const value& back() const { return kept_[size_ - 1]; }
        [[nodiscard]] const value& at(std::size_t at) const {
            if (at >= size_) throw std::out_of_range{"resp::value::list::at"};
            return kept_[at];
        }

        void reserve(std::size_t count) { kept_.reserve(count); }
        void push_back(value added) { add() = std::move(added); }
        /// Appends a null.
        value& add() {
            if (size_ == kept_.size()) kept_.emplace_back();
            value& added = kept_[size_++];
            added.clear();
            return added;
        }
        void pop_back() { --size_; }
        void clear() { size_ = 0; }

        friend bool operator==(const list& one, const list& other) { return std::ranges::equal(one, other); }

    private:
        std::vector<value> kept_;
        std::size_t size_ = 0;
    };

    resp::kind kind = kind::null;
    std::int64_t number = 0;  // number; 0 or 1 for a boolean
    std::string text;         // simple, bulk, error; the digits of real and big
    list items;               // array, set, push; in a map keys and values alternate

    /// Makes it a null, and keeps its memory.
    void clear() {
        kind = kind::null;
        number = 0;
        text.clear();
        items.clear();
    }

    friend bool operator==(const value&, const value&) = default;
};

struct bounds {
    std::size_t bulk = 1U << 20U;      // bytes of one string
    std::size_t line = 4U << 10U;      // bytes of one line
    std::size_t values = 1U << 18U;    // in one message, including nested ones
    std::size_t depth = 8;             // levels of nesting
    std::size_t message = 16U << 20U;  // bytes of one message
};

enum class fault : std::uint8_t { none, malformed, too_large, too_deep };

[[nodiscard]] std::string_view to_string(fault fault);

class decoder {
public:
    explicit decoder(resp::bounds bounds = {}) : bounds_{bounds} {}
    decoder(const decoder&) = delete;
    decoder& operator=(const decoder&) = delete;

    /// Resets the decoder for a new connection.
    void restart();

    /// Buffers the bytes until `next` has returned their messages.
    void feed(std::string_view bytes);

    /// The next complete message, if there is one. After a fault there are no more messages.
    [[nodiscard]] std::optional<value> next();
    /// Like `next`, but the message is valid until the next call only, which reuses its memory.
    [[nodiscard]] const value* next_in_place();

    [[nodiscard]] resp::fault fault() const { return fault_; }
    /// Whether a message is incomplete.
    [[nodiscard]] bool in_the_middle() const { return at_ < buffer_.size() || !open_.empty(); }

private:
    /// A value that lacks items. The pointer stays valid: the list that contains the value gets no other item before.
    struct open_value {
        value* made;
        std::size_t missing;
    };
    enum class progress : std::uint8_t { finished, opened, starved };

    void begin_message();
    progress token(value& made);
    progress text(value& made, char type);
    progress number(value& made, char type);
    progress bulk(value& made, resp::kind kind, std::int64_t length, std::size_t header);
    progress aggregate(value& made, resp::kind kind, std::int64_t length, std::size_t header);
    progress take(std::size_t bytes);
    progress fail(resp::fault fault);
    bool close_outwards();

    resp::bounds bounds_;
    std::string buffer_;
    std::size_t at_ = 0;
    std::size_t scanned_ = 0;  // there is no line end before this
    std::size_t message_bytes_ = 0;
    std::size_t message_values_ = 0;
    value root_;
    bool root_is_large_ = false;
    std::vector<open_value> open_;
    resp::fault fault_ = fault::none;
};

/// Appends values to a string.
class writer {
public:
    explicit writer(std::string& out) : out_{out} {}

    void array(std::size_t items) { header('*', items); }
    void map(std::size_t pairs) { header('%', pairs); }
    void push(std::size_t items) { header('>', items); }
    void bulk(std::string_view text);
    /// Concatenates the parts to one string.
    void bulk(std::initializer_list<std::string_view> parts);
    void simple(std::string_view text);
    /// The first word is the kind of error. Ends of lines become spaces.
    void error(std::string_view text);
    void number(std::int64_t number);
    void number(std::uint64_t number);  // as a big one where it has to be
    void boolean(bool yes) { out_ += yes ? "#t\r\n" : "#f\r\n"; }
    void null() { out_ += "_\r\n"; }

    /// A header line: type, number and line end.
    static std::string_view header_of(std::array<char, 24>& line, char type, std::uint64_t number);

private:
    void header(char type, std::uint64_t number);
    std::string& out_;
};

/// Appends a command: an array of strings.
void encode_command(std::string& out, const std::vector<std::string>& words);
void encode_command(std::string& out, std::initializer_list<std::string_view> words);

}  // namespace baton::resp
