#include "stores/resp/codec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace baton::resp {
namespace {

/// Space to reserve for announced items: enough for most messages. It grows only with items that have arrived.
constexpr std::size_t most_reserved = 16;

/// The memory of larger messages is not kept for reuse.
constexpr std::size_t most_kept_values = 64;
constexpr std::size_t most_kept_bytes = 4'096;

constexpr int most_digits = 19;

enum class line_state : std::uint8_t { complete, cut, malformed };

struct number_line {
    line_state state = line_state::malformed;
    std::int64_t number = 0;
    std::size_t length = 0;  // including the line end
};

number_line read_number(std::string_view bytes) {
    const char* at = bytes.data();
    const char* const limit = at + bytes.size();
    const bool negative = bytes.starts_with('-');
    if (negative || bytes.starts_with('+')) ++at;
    const char* const first = at;
    const char* const last = at + std::min<std::ptrdiff_t>(limit - at, most_digits);
    std::uint64_t number = 0;
    for (; at != last; ++at) {
        const auto digit = static_cast<unsigned>(*at) - '0';
        if (digit > 9) break;
        number = 10 * number + digit;
    }
    if (at == limit) return {line_state::cut};
    if (at == first || *at != '\r') return {};
    if (++at == limit) return {line_state::cut};
    const std::uint64_t most = std::uint64_t{std::numeric_limits<std::int64_t>::max()} + (negative ? 1 : 0);
    if (*at != '\n' || number > most) return {};
    return {line_state::complete, static_cast<std::int64_t>(negative ? 0 - number : number),
            static_cast<std::size_t>(++at - bytes.data())};
}

/// Digits with an optional sign.
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
    // Erase decoded bytes only when they are most of the buffer, so that each byte is moved a bounded number of times.
    if (at_ > buffer_.size() / 2) {
        buffer_.erase(0, at_);
        scanned_ -= std::min(scanned_, at_);
        at_ = 0;
    }
    buffer_ += bytes;
}

void decoder::restart() {
    fail(fault::none);
    message_bytes_ = message_values_ = 0;
}

decoder::progress decoder::fail(resp::fault fault) {
    fault_ = fault;
    buffer_.clear();
    open_.clear();
    root_ = {};
    at_ = scanned_ = 0;
    return progress::starved;
}

std::optional<value> decoder::next() {
    if (next_in_place() == nullptr) return {};
    return std::exchange(root_, {});
}

const value* decoder::next_in_place() {
    if (open_.empty()) begin_message();
    while (fault_ == fault::none) {
        auto* const siblings = open_.empty() ? nullptr : &open_.back().made->items;
        value& made = siblings == nullptr ? root_ : siblings->add();
        const progress progress = token(made);
        if (progress == progress::opened) continue;
        if (progress == progress::starved) {
            if (fault_ == fault::none && siblings != nullptr) siblings->pop_back();
            return nullptr;
        }
        if (!close_outwards()) continue;
        root_is_large_ = message_values_ > most_kept_values || message_bytes_ > most_kept_bytes;
        message_bytes_ = message_values_ = 0;
        if (at_ == buffer_.size()) {
            buffer_.clear();
            at_ = scanned_ = 0;
        }
        return &root_;
    }
    return nullptr;
}

void decoder::begin_message() {
    if (std::exchange(root_is_large_, false))
        root_ = {};
    else
        root_.clear();
}

/// Closes the open values that the last item completes. True if the message is complete.
bool decoder::close_outwards() {
    while (!open_.empty()) {
        if (--open_.back().missing > 0) return false;
        open_.pop_back();
    }
    return true;
}

/// Counts one more value of `bytes` bytes.
decoder::progress decoder::take(std::size_t bytes) {
    at_ += bytes;
    scanned_ = at_;
    message_bytes_ += bytes;
    ++message_values_;
    return progress::finished;
}

/// Decodes one line, with the string that it announces.
decoder::progress decoder::token(value& made) {
    if (at_ == buffer_.size()) return progress::starved;
    if (message_values_ >= bounds_.values) return fail(fault::too_large);
    const char type = buffer_[at_];
    switch (type) {
        case '_':
        case '#':
        case '(':
        case ',':
        case '+':
        case '-': return text(made, type);
        case ':':
        case '$':
        case '=':
        case '!':
        case '*':
        case '%':
        case '~':
        case '>': return number(made, type);
        default: return fail(buffer_.size() - at_ > bounds_.line ? fault::too_large : fault::malformed);
    }
}

decoder::progress decoder::text(value& made, char type) {
    const std::size_t end = buffer_.find("\r\n", std::max(at_, scanned_));
    if (end == std::string::npos) {
        scanned_ = std::max(at_, buffer_.size() - 1);
        return buffer_.size() - at_ > bounds_.line + 2 ? fail(fault::too_large) : progress::starved;
    }
    scanned_ = end;
    const std::size_t bytes = end + 2 - at_;
    if (end - at_ > bounds_.line || message_bytes_ + bytes > bounds_.message) return fail(fault::too_large);
    const std::string_view line = std::string_view{buffer_}.substr(at_ + 1, end - at_ - 1);
    switch (type) {
        case '_':
            if (!line.empty()) return fail(fault::malformed);
            break;
        case '#':
            if (line != "t" && line != "f") return fail(fault::malformed);
            made.kind = kind::boolean;
            made.number = line == "t" ? 1 : 0;
            break;
        case '(':
            if (!big_number(line)) return fail(fault::malformed);
            made.kind = kind::big;
            made.text = line;
            break;
        default: made.kind = type == ',' ? kind::real : type == '+' ? kind::simple : kind::error; made.text = line;
    }
    return take(bytes);
}

decoder::progress decoder::number(value& made, char type) {
    const number_line line = read_number(std::string_view{buffer_}.substr(at_ + 1));
    if (line.state == line_state::cut) return progress::starved;
    if (line.state == line_state::malformed) return fail(fault::malformed);
    const std::size_t bytes = 1 + line.length;
    if (message_bytes_ + bytes > bounds_.message) return fail(fault::too_large);
    switch (type) {
        case '$':
        case '=': return bulk(made, kind::bulk, line.number, bytes);
        case '!': return bulk(made, kind::error, line.number, bytes);
        case '*': return aggregate(made, kind::array, line.number, bytes);
        case '%': return aggregate(made, kind::map, line.number, bytes);
        case '~': return aggregate(made, kind::set, line.number, bytes);
        case '>': return aggregate(made, kind::push, line.number, bytes);
        default: break;
    }
    made.kind = kind::number;
    made.number = line.number;
    return take(bytes);
}

decoder::progress decoder::bulk(value& made, resp::kind kind, std::int64_t length, std::size_t header) {
    if (length < -1) return fail(fault::malformed);
    if (length == -1) return take(header);  // a null of RESP2
    const auto bytes = static_cast<std::size_t>(length);
    if (bytes > bounds_.bulk || message_bytes_ + header + bytes + 2 > bounds_.message) return fail(fault::too_large);
    if (buffer_.size() - at_ < header + bytes + 2) return progress::starved;
    if (buffer_[at_ + header + bytes] != '\r' || buffer_[at_ + header + bytes + 1] != '\n')
        return fail(fault::malformed);
    made.kind = kind;
    made.text.assign(buffer_, at_ + header, bytes);
    return take(header + bytes + 2);
}

/// Returns finished if there are no items, otherwise opened.
decoder::progress decoder::aggregate(value& made, resp::kind kind, std::int64_t length, std::size_t header) {
    if (length < -1 || (length == -1 && kind != kind::array)) return fail(fault::malformed);
    if (length == -1) return take(header);
    const auto count = static_cast<std::size_t>(length);
    if (count > bounds_.values) return fail(fault::too_large);
    const std::size_t items = kind == kind::map ? 2 * count : count;
    if (message_values_ + 1 + items > bounds_.values) return fail(fault::too_large);
    if (open_.size() >= bounds_.depth) return fail(fault::too_deep);
    made.kind = kind;
    if (items == 0) return take(header);
    take(header);
    made.items.reserve(std::min(items, most_reserved));
    open_.push_back({&made, items});
    return progress::opened;
}

std::string_view writer::header_of(std::array<char, 24>& line, char type, std::uint64_t number) {
    line[0] = type;
    char* end = std::to_chars(&line[1], line.data() + line.size() - 2, number).ptr;
    *end++ = '\r';
    *end++ = '\n';
    return {line.data(), static_cast<std::size_t>(end - line.data())};
}

void writer::header(char type, std::uint64_t number) {
    std::array<char, 24> line;  // uninitialized: `header_of` writes the bytes that it returns
    out_ += header_of(line, type, number);
}

void writer::bulk(std::string_view text) {
    header('$', text.size());
    out_ += text;
    out_ += "\r\n";
}

void writer::bulk(std::initializer_list<std::string_view> parts) {
    std::size_t size = 0;
    for (const std::string_view part : parts) size += part.size();
    header('$', size);
    for (const std::string_view part : parts) out_ += part;
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

namespace {

template <typename Words> void write_command(std::string& out, const Words& words) {
    writer write{out};
    write.array(words.size());
    for (const std::string_view word : words) write.bulk(word);
}

}  // namespace

void encode_command(std::string& out, const std::vector<std::string>& words) { write_command(out, words); }
void encode_command(std::string& out, std::initializer_list<std::string_view> words) { write_command(out, words); }

}  // namespace baton::resp
