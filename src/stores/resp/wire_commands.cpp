// Commands: to an array of strings, and back.
#include <algorithm>
#include <array>
#include <charconv>

#include "program/space_name.hpp"
#include "stores/resp/reader.hpp"

namespace baton::resp {
namespace {

using namespace protocol;

/// Appends strings one after the other, as an array; how many they are is known at the end.
class words {
public:
    words(std::string& out, std::string_view name) : out_{out}, begin_{out.size()} { add(name); }
    words(const words&) = delete;
    words& operator=(const words&) = delete;
    /// The array's header goes before what it announces.
    ~words() {
        std::array<char, 24> header;
        out_.insert(begin_, writer::header_of(header, '*', count_));
    }

    words& add(std::string_view word) {
        writer{out_}.bulk(word);
        ++count_;
        return *this;
    }
    template <std::integral Number> words& add(Number number) {
        std::array<char, 24> digits;
        const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        return add(std::string_view{digits.data(), end});
    }
    words& add(const session_id& id) { return add(std::string_view{to_hex(id)}); }
    words& add(const request_id& id) { return add(id.session).add(id.number); }
    words& add(const std::optional<duration>& time) { return time ? add(time->count()) : add("-"); }
    words& add(std::span<const claim> claims) {
        add(claims.size());
        for (const claim& claim : claims) {
            add(word(claim.mode)).add(claim.resource);
            if (claim.mode == claim_mode::permits) add(claim.permits).add(claim.limit);
        }
        return *this;
    }
    words& add(const std::vector<claim_slots>& list) {
        add(list.size());
        for (const claim_slots& claim : list) {
            add(claim.resource).add(claim.slots.size());
            for (const slot slot : claim.slots) add(slot);
        }
        return *this;
    }

private:
    std::string& out_;
    const std::size_t begin_;
    std::size_t count_ = 0;
};

std::string_view name(manner manner) {
    return manner == manner::clean ? "clean" : manner == manner::keep ? "keep" : "unclean";
}

void write(std::string& out, const open& command) {
    words words{out, "BATON.OPEN"};
    words.add(command.session).add(command.ttl.count()).add(command.label).add(command.link).add(command.highest);
    words.add(command.live.size());
    for (const live_request& live : command.live)
        words.add(live.number).add(live.ticket).add(live.fence).add(live.hold).add(live.claims).add(live.slots);
}
void write(std::string& out, const enter& command) {
    words words{out, "BATON.ENTER"};
    words.add(command.request).add(command.options.nowait ? "nowait" : "wait").add(command.options.hold_limit);
    if (command.options.queue_bound)
        words.add(*command.options.queue_bound);
    else
        words.add("-");
    words.add(command.claims);
}
void write(std::string& out, const leave& command) {
    words{out, "BATON.LEAVE"}.add(command.request).add(name(command.manner));
}
void write(std::string& out, const renew& command) { words{out, "BATON.RENEW"}.add(command.session); }
void write(std::string& out, const list& command) { words{out, "BATON.LIST"}.add(command.session).add(command.after); }
void write(std::string& out, const close& command) {
    words{out, "BATON.CLOSE"}.add(command.session).add(command.how == closing::left ? "left" : "gone");
}
void write(std::string& out, const tick&) { words{out, "BATON.TICK"}; }
void write(std::string& out, const revoke& command) {
    words{out, "BATON.REVOKE"}
        .add(command.resource)
        .add(command.ticket)
        .add(command.note)
        .add(command.at_once ? "now" : "asked");
}
void write(std::string& out, const mend& command) { words{out, "BATON.MEND"}.add(command.resource); }
void write(std::string& out, const resize& command) {
    words words{out, "BATON.RESIZE"};
    words.add(command.resource);
    if (command.limit)
        words.add(*command.limit);
    else
        words.add("auto");
}
void write(std::string& out, const pause& command) {
    words{out, "BATON.PAUSE"}.add(command.until.time_since_epoch().count());
}

std::vector<claim> read_claims(reader& from) {
    std::vector<claim> claims(from.count(2));
    for (claim& claim : claims) {
        claim.mode = enumerator(from, claim_mode::permits, word);
        claim.resource = from.text();
        if (claim.mode != claim_mode::permits) continue;
        claim.permits = from.number<std::uint32_t>();
        claim.limit = from.number<std::uint32_t>();
    }
    return claims;
}

std::vector<claim_slots> read_slots(reader& from) {
    std::vector<claim_slots> list(from.count(2));
    for (claim_slots& claim : list) {
        claim.resource = from.text();
        claim.slots.resize(from.count(1));
        for (slot& slot : claim.slots) slot = from.number<protocol::slot>();
    }
    return list;
}

// Braced lists are evaluated from left to right, as the words stand.
command read_open(reader& from) {
    open command{from.session(),
                 std::chrono::milliseconds{from.number<std::int64_t>()},
                 from.text(),
                 from.number<std::uint64_t>(),
                 from.number<std::uint64_t>(),
                 {}};
    command.live.resize(from.count(6));
    for (live_request& live : command.live) {
        live.number = from.number<std::uint64_t>();
        live.ticket = from.number<serial>();
        live.fence = from.number<serial>();
        live.hold = from.duration_if_any();
        live.claims = read_claims(from);
        live.slots = read_slots(from);
    }
    return command;
}
command read_enter(reader& from) {
    enter command{
        from.request(), {}, {from.one_of("nowait", "wait"), from.duration_if_any(), from.number_if_any<std::size_t>()}};
    command.claims = read_claims(from);
    return command;
}
command read_leave(reader& from) { return leave{from.request(), enumerator(from, manner::unclean, name)}; }
command read_renew(reader& from) { return renew{from.session()}; }
command read_list(reader& from) { return list{from.session(), from.number<std::uint64_t>()}; }
command read_close(reader& from) {
    return close{from.session(), from.one_of("left", "gone") ? closing::left : closing::gone};
}
command read_tick(reader&) { return tick{}; }
command read_revoke(reader& from) {
    return revoke{from.text(), from.number<serial>(), from.text(), from.one_of("now", "asked")};
}
command read_mend(reader& from) { return mend{from.text()}; }
command read_resize(reader& from) { return resize{from.text(), from.number_if_any<std::uint32_t>("auto")}; }
command read_pause(reader& from) { return pause{from.instant()}; }

request read_hello(reader& from) {
    hello hello{from.number<std::uint64_t>(), from.text(), {}};
    // Another version may say more, or something else here; it must still be told which version this is.
    if (hello.version != wire_version)
        while (from.left() > 0) from.next();
    if (from.left() > 0) hello.processes = from.number<std::uint64_t>();
    if (!detail::valid_space(hello.space)) from.fail();
    return hello;
}
request read_sweep(reader& from) {
    sweep sweep{{from.text(), from.left() > 0 ? from.text() : std::string{}}};
    if (!valid_cookie(sweep.tree.cookie)) from.fail();
    return sweep;
}
request read_inspect(reader& from) {
    look look;
    if (from.left() == 0) return look;
    using match = inspect_filter::match;
    constexpr auto names = [](match how) {
        return how == match::all ? "all" : how == match::prefix ? "prefix" : "exact";
    };
    look.filter.how = enumerator(from, match::exact, names);
    look.filter.name = from.text();
    look.filter.related = from.one_of("related", "alone");
    return look;
}
request read_ping(reader&) { return ping{}; }
request read_redis_hello(reader& from) {
    redis_hello hello;
    if (from.left() > 0) hello.protocol = from.number<std::uint64_t>();
    while (from.left() > 0) from.next();  // a name and a password, as any Redis client may send them
    return hello;
}

template <command (*Read)(reader&)> request as_request(reader& from) { return Read(from); }

struct row {
    std::string_view name;
    request (*read)(reader&);
};
constexpr row rows[] = {
    {"BATON.ENTER", as_request<read_enter>},
    {"BATON.LEAVE", as_request<read_leave>},
    {"BATON.RENEW", as_request<read_renew>},
    {"BATON.LIST", as_request<read_list>},
    {"BATON.OPEN", as_request<read_open>},
    {"BATON.CLOSE", as_request<read_close>},
    {"BATON.REVOKE", as_request<read_revoke>},
    {"BATON.MEND", as_request<read_mend>},
    {"BATON.RESIZE", as_request<read_resize>},
    {"BATON.PAUSE", as_request<read_pause>},
    {"BATON.TICK", as_request<read_tick>},
    {"BATON.INSPECT", read_inspect},
    {"BATON.HELLO", read_hello},
    {"BATON.SWEEP", read_sweep},
    {"PING", read_ping},
    {"HELLO", read_redis_hello},
};

/// For whoever looks inside with redis-cli, and takes it for a Redis.
std::string unknown(const std::string& name) {
    std::string shown = name.substr(0, 32);
    std::ranges::replace_if(
        shown, [](char c) { return c < ' ' || c > '~'; }, '?');
    return "ERR unknown command '" + shown + "': this is Baton's agent, not Redis; to look inside, say BATON.INSPECT";
}

constexpr unsigned no_digit = 16;

/// What each character is worth as a hex digit in lower case.
constexpr std::array<std::uint8_t, 256> digit_of = [] {
    std::array<std::uint8_t, 256> worth{};
    worth.fill(no_digit);
    for (unsigned char i = 0; i < 10; ++i) worth['0' + i] = i;
    for (unsigned char i = 0; i < 6; ++i) worth['a' + i] = static_cast<std::uint8_t>(10 + i);
    return worth;
}();

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return text;
}

}  // namespace

void encode(std::string& out, const command& command) {
    std::visit([&out](const auto& what) { write(out, what); }, command);
}

void encode(std::string& out, const hello& hello) {
    words words{out, "BATON.HELLO"};
    words.add(hello.version).add(hello.space);
    if (hello.processes) words.add(*hello.processes);
}

void encode(std::string& out, const sweep& sweep) {
    words words{out, "BATON.SWEEP"};
    words.add(sweep.tree.cookie);
    if (!sweep.tree.control_group.empty()) words.add(sweep.tree.control_group);
}

void encode(std::string& out, const look& look) {
    using match = inspect_filter::match;
    const match how = look.filter.how;
    words{out, "BATON.INSPECT"}
        .add(how == match::all      ? "all"
             : how == match::prefix ? "prefix"
                                    : "exact")
        .add(look.filter.name)
        .add(look.filter.related ? "related" : "alone");
}

decoded_request decode_request(const value& value) {
    reader from{value};
    const std::string name = upper(from.text());
    if (value.kind != kind::array || from.failed()) return {{}, "ERR a command is an array of strings"};
    const auto* const found = std::ranges::find(rows, name, &row::name);
    if (found == std::end(rows)) return {{}, unknown(name)};
    request request = found->read(from);
    if (!from.complete()) return {{}, "ERR wrong arguments for " + name};
    return {std::move(request), {}};
}

hex_text to_hex(const session_id& id) {
    constexpr std::string_view digits = "0123456789abcdef";
    hex_text text;
    for (unsigned i = 0; i < 16; ++i) {
        text.digits[i] = digits[(id.high >> (60 - 4 * i)) & 15U];
        text.digits[16 + i] = digits[(id.low >> (60 - 4 * i)) & 15U];
    }
    return text;
}

std::optional<session_id> from_hex(std::string_view text) {
    if (text.size() != 32) return {};
    unsigned wrong = 0;
    const auto half = [&](std::string_view digits) {
        std::uint64_t number = 0;
        for (const char c : digits) {
            const unsigned digit = digit_of[static_cast<unsigned char>(c)];
            wrong |= digit & no_digit;
            number = number << 4U | digit;
        }
        return number;
    };
    const session_id id{half(text.substr(0, 16)), half(text.substr(16))};
    return wrong == 0 ? std::optional{id} : std::nullopt;
}

}  // namespace baton::resp
