// Encodes and decodes replies and notices: an event is an array `[name, at_us, fields…]`, with the fields of
// protocol/fields.hpp.
#include "stores/resp/field_reader.hpp"
#include "stores/resp/field_writer.hpp"

namespace baton::resp {
namespace {

using namespace protocol;

constexpr std::string_view notice_name = "baton.notice";

void write_event(std::string& out, const event& event) {
    field_writer write{out, field_writer::style::values};
    write.put(names_of<decltype(event::what)>[event.what.index()]);
    write.put(event.at);
    std::visit([&write](const auto& what) { write.put(what); }, event.what);
}

bool read_event(const value& item, event& into) {
    field_reader from{item};
    if (!emplace_named(into.what, from.text())) return false;
    from.read(into.at);
    std::visit([&from](auto& what) { from.read(what); }, into.what);
    return from.complete();
}

bool read_reply(field_reader& from, reply& into) {
    from.read(into.epoch);
    into.events.clear();
    while (from.left() > 0)
        if (!read_event(from.next(), into.events.emplace_back())) return false;
    return !from.failed();
}

}  // namespace

void encode_reply(std::string& out, epoch epoch, const std::vector<event>& events) {
    writer write{out};
    write.array(1 + events.size());
    write.number(epoch);
    for (const event& event : events) write_event(out, event);
}

bool decode_reply(const value& value, reply& into) {
    if (value.kind != kind::array) return false;
    field_reader from{value};
    return read_reply(from, into);
}

std::optional<reply> decode_reply(const value& value) {
    reply reply;
    return decode_reply(value, reply) ? std::optional{std::move(reply)} : std::nullopt;
}

void encode_notice(std::string& out, epoch epoch, const event& event) {
    writer write{out};
    write.push(3);
    write.bulk(notice_name);
    write.number(epoch);
    write_event(out, event);
}

std::optional<reply> decode_notice(const value& value) {
    if (value.kind != kind::push) return {};
    field_reader from{value};
    if (from.text() != notice_name) return {};
    reply notice;
    if (!read_reply(from, notice) || notice.events.size() != 1) return {};
    return notice;
}

void encode(std::string& out, const hello_reply& reply) {
    writer write{out};
    write.array(3);
    write.number(reply.version);
    write.number(reply.epoch);
    write.bulk(reply.program);
}

std::optional<hello_reply> decode_hello_reply(const value& value) {
    field_reader from{value};
    hello_reply reply{from.get<std::uint64_t>(), from.get<epoch>(), from.text()};
    return from.failed() || reply.epoch == 0 ? std::nullopt : std::optional{std::move(reply)};
}

}  // namespace baton::resp
