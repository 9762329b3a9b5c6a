// Encodes and decodes requests: the commands of protocol/fields.hpp, and requests that only the agent knows.
#include <algorithm>
#include <array>

#include "base/ascii_case.hpp"
#include "program/space_name.hpp"
#include "stores/resp/field_reader.hpp"
#include "stores/resp/field_writer.hpp"

namespace baton::resp {
namespace {

using namespace protocol;

constexpr std::string_view prefix = "baton.";

/// Starts a request with its name in lower case, which servers accept like upper case.
class request_writer : public field_writer {
public:
    request_writer(std::string& out, std::string_view name) : field_writer{out, style::strings} { put({prefix, name}); }
};

request read_hello(field_reader& from) {
    hello hello{from.get<std::uint64_t>(), from.text(), {}};
    // Other versions may send other fields; their HELLO must decode, so that the reply can name this version.
    if (hello.version != wire_version)
        while (from.left() > 0) from.next();
    if (from.left() > 0) hello.processes = from.get<std::uint64_t>();
    if (!detail::valid_space(hello.space)) from.fail();
    return hello;
}
request read_sweep(field_reader& from) {
    sweep sweep{{from.text(), from.left() > 0 ? from.text() : std::string{}}};
    if (!valid_cookie(sweep.tree.cookie)) from.fail();
    return sweep;
}
request read_inspect(field_reader& from) {
    inspect_request inspect;
    if (from.left() > 0) from.read(inspect.filter);
    return inspect;
}
request read_ping(field_reader&) { return ping{}; }
request read_redis_hello(field_reader& from) {
    redis_hello hello;
    if (from.left() > 0) from.read(hello.protocol);
    while (from.left() > 0) from.next();  // credentials and a client name are ignored
    return hello;
}

struct row {
    std::string_view name;
    request (*read)(field_reader&);
};
constexpr row other_requests[] = {
    {"baton.inspect", read_inspect}, {"baton.hello", read_hello}, {"baton.sweep", read_sweep}, {"ping", read_ping},
    {"hello", read_redis_hello},
};

std::optional<request> read_request(std::string_view name, field_reader& from) {
    if (command command; name.starts_with(prefix) && emplace_named(command, name.substr(prefix.size())))
        return std::visit(
            [&from](auto& what) -> resp::request {
                from.read(what);
                return std::move(what);
            },
            command);
    const auto* const found = std::ranges::find(other_requests, name, &row::name);
    return found == std::end(other_requests) ? std::nullopt : std::optional{found->read(from)};
}

/// The error reply for people who connect with redis-cli.
std::string unknown(const std::string& name) {
    std::string shown = name.substr(0, 32);
    std::ranges::replace_if(
        shown, [](char c) { return c < ' ' || c > '~'; }, '?');
    return "ERR unknown command '" + shown + "': this is Baton's agent, not Redis; BATON.INSPECT shows its state";
}

constexpr unsigned no_digit = 16;

/// The value of each character as a lower-case hex digit.
constexpr std::array<std::uint8_t, 256> digit_of = [] {
    std::array<std::uint8_t, 256> worth{};
    worth.fill(no_digit);
    for (unsigned char i = 0; i < 10; ++i) worth['0' + i] = i;
    for (unsigned char i = 0; i < 6; ++i) worth['a' + i] = static_cast<std::uint8_t>(10 + i);
    return worth;
}();

}  // namespace

void encode(std::string& out, const command& command) {
    request_writer write{out, names_of<protocol::command>[command.index()]};
    std::visit([&write](const auto& what) { write.put(what); }, command);
}

void encode(std::string& out, const hello& hello) {
    request_writer write{out, "hello"};
    write.put(hello.version);
    write.put(hello.space);
    if (hello.processes) write.put(*hello.processes);
}

void encode(std::string& out, const sweep& sweep) {
    request_writer write{out, "sweep"};
    write.put(sweep.tree.cookie);
    if (!sweep.tree.control_group.empty()) write.put(sweep.tree.control_group);
}

void encode(std::string& out, const inspect_request& inspect) { request_writer{out, "inspect"}.put(inspect.filter); }

decoded_request decode_request(const value& value) {
    field_reader from{value};
    const std::string& name = from.text();
    if (value.kind != kind::array || from.failed()) return {{}, "ERR a command is an array of strings"};
    auto request = read_request(detail::lower(name), from);
    if (!request) return {{}, unknown(detail::upper(name))};
    if (!from.complete()) return {{}, "ERR wrong arguments for " + detail::upper(name)};
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
