#include "stores/resp/codec.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace baton::resp {
namespace {

/// Room for the items of most messages. More is only made for what has come.
constexpr std::size_t most_reserved = 16;

std::optional<std::int64_t> integer(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return number;
}

/// Digits, with a sign before them.
bool big_number(std::string_view text) {
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string_view to_string(fault fault) {
    switch (fault) {
        case fault::none: return "none";
        case fault::malformed: return "not the Redis protocol";
        case fault::too_large: return "a message is too large";
        case fault::too_deep: return "a message is nested too deeply";
    }
    return "unknown fault";
}

void decoder::feed(std::string_view bytes) {
    if (fault_ != fault::none) return;
    // What was taken out goes when it is most of the buffer: each byte is moved a bounded number of times.
    if (at_ > buffer_.size() / 2) {
        buffer_.erase(0, at_);
        scanned_ -= std::min(scanned_, at_);
        at_ = 0;
    }
    buffer_ += bytes;
}

std::optional<value> decoder::fail(resp::fault fault) {
    fault_ = fault;
    buffer_.clear();
    open_.clear();
    at_ = scanned_ = 0;
    return {};
}

void decoder::consume(std::size_t bytes) {
    at_ += bytes;
    scanned_ = at_;
    message_bytes_ += bytes;
}

std::optional<value> decoder::next() {
    while (fault_ == fault::none) {
        std::optional<value> made = token();
        if (!made) return {};
        std::optional<value> whole = close(std::move(*made));
        if (!whole) continue;
        message_bytes_ = message_values_ = 0;
        if (at_ == buffer_.size()) {
            buffer_.clear();
            at_ = scanned_ = 0;
        }
        return whole;
    }
    return {};
}

/// Puts a finished value into the one that it belongs to; that may finish it, and so on outwards.
std::optional<value> decoder::close(value made) {
    while (!open_.empty()) {
        open_value& outer = open_.back();
        outer.made.items.push_back(std::move(made));
        if (--outer.missing > 0) return {};
        made = std::move(outer.made);
        open_.pop_back();
    }
    return made;
}

/// One line, with the string that it announces. An aggregate that has items is opened, and the first of them is read.
std::optional<value> decoder::token() {
    for (;;) {
        const std::size_t from = std::max(at_, scanned_);
        const std::size_t end = buffer_.find("\r\n", from);
        if (end == std::string::npos) {
            scanned_ = std::max(at_, buffer_.empty() ? 0 : buffer_.size() - 1);
            if (buffer_.size() - at_ > bounds_.line + 2) return fail(fault::too_large);
            return {};
        }
        scanned_ = end;
        if (end - at_ > bounds_.line) return fail(fault::too_large);
        if (end == at_) return fail(fault::malformed);
        const char type = buffer_[at_];
        const std::string_view rest = std::string_view{buffer_}.substr(at_ + 1, end - at_ - 1);
        const std::size_t header = end + 2 - at_;
        if (message_values_ >= bounds_.values || message_bytes_ + header > bounds_.message)
            return fail(fault::too_large);

        value made;
        switch (type) {
            case '_':
                if (!rest.empty()) return fail(fault::malformed);
                break;
            case '#':
                if (rest != "t" && rest != "f") return fail(fault::malformed);
                made = {kind::boolean, rest == "t" ? 1 : 0, {}, {}};
                break;
            case ':': {
                const auto number = integer(rest);
                if (!number) return fail(fault::malformed);
                made = {kind::number, *number, {}, {}};
                break;
            }
            case '(':
                if (!big_number(rest)) return fail(fault::malformed);
                made = {kind::big, 0, std::string{rest}, {}};
                break;
            case ',': made = {kind::real, 0, std::string{rest}, {}}; break;
            case '+': made = {kind::simple, 0, std::string{rest}, {}}; break;
            case '-': made = {kind::error, 0, std::string{rest}, {}}; break;
            case '$':
            case '=': return bulk(kind::bulk, rest, header);
            case '!': return bulk(kind::error, rest, header);
            case '*':
            case '%':
            case '~':
            case '>': {
                const kind kind = type == '*'   ? kind::array
                                  : type == '%' ? kind::map
                                  : type == '~' ? kind::set
                                                : kind::push;
                auto finished = aggregate(kind, rest, header);
                if (finished || fault_ != fault::none) return finished;
                continue;
            }
            default: return fail(fault::malformed);
        }
        consume(header);
        ++message_values_;
        return made;
    }
}

std::optional<value> decoder::bulk(resp::kind kind, std::string_view length, std::size_t header) {
    const auto size = integer(length);
    if (!size || *size < -1) return fail(fault::malformed);
    if (*size == -1) {  // RESP2's null
        consume(header);
        ++message_values_;
        return value{};
    }
    const auto bytes = static_cast<std::size_t>(*size);
    if (bytes > bounds_.bulk || message_bytes_ + header + bytes + 2 > bounds_.message) return fail(fault::too_large);
    if (buffer_.size() - at_ < header + bytes + 2) return {};
    if (buffer_.compare(at_ + header + bytes, 2, "\r\n") != 0) return fail(fault::malformed);
    value made{kind, 0, buffer_.substr(at_ + header, bytes), {}};
    consume(header + bytes + 2);
    ++message_values_;
    return made;
}

/// Finished if there is nothing in it; else it is opened.
std::optional<value> decoder::aggregate(resp::kind kind, std::string_view length, std::size_t header) {
    const auto size = integer(length);
    if (!size || *size < -1 || (*size == -1 && kind != kind::array)) return fail(fault::malformed);
    const auto count = *size < 0 ? 0 : static_cast<std::size_t>(*size);
    if (count > bounds_.values) return fail(fault::too_large);
    const std::size_t items = kind == kind::map ? 2 * count : count;
    if (message_values_ + 1 + items > bounds_.values) return fail(fault::too_large);
    if (open_.size() >= bounds_.depth) return fail(fault::too_deep);
    consume(header);
    ++message_values_;
    if (*size == -1) return value{};
    value made{kind, 0, {}, {}};
    if (items == 0) return made;
    made.items.reserve(std::min(items, most_reserved));
    open_.push_back({std::move(made), items});
    return {};
}

void writer::header(char type, std::uint64_t number) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out_ += type;
    out_.append(digits.data(), end);
    out_ += "\r\n";
}

void writer::bulk(std::string_view text) {
    header('$', text.size());
    out_ += text;
    out_ += "\r\n";
}

void writer::simple(std::string_view text) {
    out_ += '+';
    out_ += text;
    out_ += "\r\n";
}

void writer::error(std::string_view text) {
    out_ += '-';
    std::ranges::replace_copy_if(
        text, std::back_inserter(out_), [](char c) { return c == '\r' || c == '\n'; }, ' ');
    out_ += "\r\n";
}

void writer::number(std::int64_t number) {
    if (number >= 0) return header(':', static_cast<std::uint64_t>(number));
    out_ += ":" + std::to_string(number) + "\r\n";
}

void writer::number(std::uint64_t number) { header(number >> 63U == 0 ? ':' : '(', number); }

std::string encode(const value& value) {
    std::string out;
    writer write{out};
    switch (value.kind) {
        case kind::null: write.null(); break;
        case kind::boolean: write.boolean(value.number != 0); break;
        case kind::number: write.number(value.number); break;
        case kind::real: out = "," + value.text + "\r\n"; break;
        case kind::big: out = "(" + value.text + "\r\n"; break;
        case kind::simple: write.simple(value.text); break;
        case kind::bulk: write.bulk(value.text); break;
        case kind::error: write.error(value.text); break;
        case kind::array: write.array(value.items.size()); break;
        case kind::map: write.map(value.items.size() / 2); break;
        case kind::set: out = "~" + std::to_string(value.items.size()) + "\r\n"; break;
        case kind::push: write.push(value.items.size()); break;
    }
    for (const resp::value& item : value.items) out += encode(item);
    return out;
}

}  // namespace baton::resp
