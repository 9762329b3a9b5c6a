#include "event.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

namespace baton::history {
namespace {

constexpr std::array<std::string_view, 10> verbs{"asked", "queued",  "held",    "still",    "released",
                                                 "lost",  "gave_up", "refused", "reopened", "killed"};
constexpr std::array<std::string_view, 3> modes{"exclusive", "shared", "permits"};
constexpr std::string_view hex = "0123456789ABCDEF";

bool is_plain(char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           std::string_view{"._-"}.find(byte) != std::string_view::npos;
}

std::string escaped(std::string_view text) {
    std::string word;
    for (const char byte : text) {
        if (is_plain(byte)) {
            word += byte;
            continue;
        }
        const auto code = static_cast<unsigned char>(byte);
        word += {'%', hex[code >> 4U], hex[code & 15U]};
    }
    return word;
}

std::optional<std::string> unescaped(std::string_view word) {
    std::string text;
    for (std::size_t at = 0; at < word.size(); ++at) {
        if (word[at] != '%') {
            text += word[at];
            continue;
        }
        if (at + 2 >= word.size()) return {};
        const std::size_t high = hex.find(word[at + 1]);
        const std::size_t low = hex.find(word[at + 2]);
        if (high == std::string_view::npos || low == std::string_view::npos) return {};
        text += static_cast<char>(high * 16 + low);
        at += 2;
    }
    return text;
}

template <typename Number> bool read(std::string_view word, Number& number) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc{} && end == word.data() + word.size();
}

bool read(std::string_view word, moment& moment) {
    std::int64_t count = 0;
    if (!read(word, count)) return false;
    moment = history::moment{count};
    return true;
}

bool read(std::string_view word, std::string& text) {
    auto plain = unescaped(word);
    if (!plain) return false;
    text = std::move(*plain);
    return true;
}

template <std::size_t Count>
std::optional<std::size_t> place_in(const std::array<std::string_view, Count>& words, std::string_view word) {
    const auto found = std::ranges::find(words, word);
    if (found == words.end()) return {};
    return static_cast<std::size_t>(found - words.begin());
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> words;
    for (;;) {
        const std::size_t end = text.find(separator);
        words.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return words;
        text.remove_prefix(end + 1);
    }
}

bool read(std::string_view word, claim& claim) {
    const auto parts = split(word, ':');
    const auto mode = place_in(modes, parts[0]);
    if (!mode || parts.size() < 2 || !read(parts[1], claim.resource)) return false;
    claim.mode = static_cast<baton::claim_mode>(*mode);
    if (claim.mode != claim_mode::permits) return parts.size() == 2;
    if (parts.size() != 3) return false;
    const auto numbers = split(parts[2], '/');
    return numbers.size() == 2 && read(numbers[0], claim.permits) && read(numbers[1], claim.limit);
}

bool read(std::string_view word, slots_of& slots) {
    const auto parts = split(word, ':');
    if (parts.size() != 2 || !read(parts[0], slots.resource)) return false;
    for (const std::string_view number : split(parts[1], ','))
        if (!read(number, slots.slots.emplace_back())) return false;
    return true;
}

/// Reads a word of the form key=value.
bool read_field(std::string_view word, event& event) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = word.substr(equals + 1);
    if (key == "claim") return read(value, event.claims.emplace_back());
    if (key == "ticket") return read(value, event.ticket);
    if (key == "fence") return read(value, event.fence);
    if (key == "until") return read(value, event.until.emplace());
    if (key == "slots") return read(value, event.slots.emplace_back());
    if (key == "why") return read(value, event.why);
    return false;
}

}  // namespace

moment now() {
    // The steady clock of libstdc++ is CLOCK_MONOTONIC.
    return std::chrono::steady_clock::now().time_since_epoch();
}

std::string_view to_string(verb verb) { return verbs.at(static_cast<std::size_t>(verb)); }

std::optional<claim> claim_from(std::string_view word) {
    claim made;
    if (!read(word, made)) return {};
    return made;
}

std::string to_line(const event& event) {
    std::ostringstream line;
    line << event.at.count() << ' ' << escaped(event.who) << ' ' << to_string(event.verb) << ' ';
    if (event.verb == verb::killed)
        line << escaped(event.whom);
    else
        line << event.number;
    for (const claim& claim : event.claims) {
        line << " claim=" << modes.at(static_cast<std::size_t>(claim.mode)) << ':' << escaped(claim.resource);
        if (claim.mode == claim_mode::permits) line << ':' << claim.permits << '/' << claim.limit;
    }
    if (event.fence != 0) line << " fence=" << event.fence;
    if (event.ticket != 0) line << " ticket=" << event.ticket;
    if (event.until) line << " until=" << event.until->count();
    for (const slots_of& slots : event.slots) {
        line << " slots=" << escaped(slots.resource);
        char before = ':';
        for (const std::uint32_t slot : slots.slots) {
            line << before << slot;
            before = ',';
        }
    }
    if (!event.why.empty()) line << " why=" << escaped(event.why);
    line << '\n';
    return std::move(line).str();
}

std::optional<event> from_line(std::string_view line) {
    const auto words = split(line, ' ');
    event made;
    if (words.size() < 4 || !read(words[0], made.at) || !read(words[1], made.who) || made.who.empty()) return {};
    const auto verb = place_in(verbs, words[2]);
    if (!verb) return {};
    made.verb = static_cast<history::verb>(*verb);
    if (made.verb == verb::killed ? !read(words[3], made.whom) : !read(words[3], made.number)) return {};
    for (std::size_t at = 4; at < words.size(); ++at)
        if (!read_field(words[at], made)) return {};
    return made;
}

}  // namespace baton::history
