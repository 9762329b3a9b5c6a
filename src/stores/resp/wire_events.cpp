// Answers and notices: events to arrays `[name, at, fields…]`, and back.
#include "stores/resp/reader.hpp"

namespace baton::resp {
namespace {

using namespace protocol;

constexpr std::string_view notice_name = "baton.notice";

class event_writer {
public:
    event_writer(std::string& out, instant at) : write_{out}, at_{at} {}

    void operator()(const granted& event) {
        begin("granted", 7);
        put(event.request);
        write_.number(event.ticket);
        write_.number(event.fence);
        write_.array(event.slots.size());
        for (const claim_slots& claim : event.slots) {
            write_.array(1 + claim.slots.size());
            write_.bulk(claim.resource);
            for (const slot slot : claim.slots) write_.number(std::uint64_t{slot});
        }
        write_.array(event.abandoned.size());
        for (const abandoned_resource& resource : event.abandoned) {
            write_.array(2);
            write_.bulk(resource.resource);
            put(resource.mark);
        }
        put(event.hold_deadline);
    }
    void operator()(const queued& event) {
        begin("queued", 3);
        put(event.request);
        write_.number(event.ticket);
    }
    void operator()(const refused& event) {
        begin("refused", event.request ? 4 : 2);
        write_.bulk(to_string(event.reason));
        put(event.until);
        if (event.request) put(*event.request);
    }
    void operator()(const ended& event) {
        begin("ended", 4);
        put(event.request);
        write_.bulk(to_string(event.reason));
        write_.number(event.fence);
    }
    void operator()(const session_lost& event) {
        begin("session_lost", 1);
        put(event.session);
    }
    void operator()(const alive& event) {
        begin("alive", 5);
        put(event.session);
        put(event.deadline);
        write_.boolean(event.settled);
        write_.number(event.count);
        write_.number(event.digest);
    }
    void operator()(const listed& event) {
        begin("listed", 4);
        put(event.session);
        write_.number(event.after);
        write_.boolean(event.more);
        write_.array(event.requests.size());
        for (const request_state& request : event.requests) {
            write_.array(4);
            write_.number(request.number);
            write_.number(request.ticket);
            write_.number(request.fence);
            put(request.revoked);
        }
    }
    void operator()(const closed& event) {
        begin("closed", 1);
        put(event.session);
    }
    void operator()(const revoking& event) {
        begin("revoking", 4);
        put(event.request);
        write_.bulk(event.note);
        put(event.deadline);
    }
    void operator()(const mended& event) {
        begin("mended", 2);
        write_.bulk(event.resource);
        put(event.mark);
    }
    void operator()(const resized& event) {
        begin("resized", 2);
        write_.bulk(event.resource);
        if (event.limit)
            write_.number(std::uint64_t{*event.limit});
        else
            write_.null();
    }
    void operator()(const paused& event) {
        begin("paused", 1);
        put(event.until);
    }

private:
    void begin(std::string_view name, std::size_t fields) {
        write_.array(2 + fields);
        write_.bulk(name);
        put(at_);
    }
    void put(const session_id& id) { write_.bulk(to_hex(id)); }
    void put(const request_id& id) {
        put(id.session);
        write_.number(id.number);
    }
    void put(instant time) { write_.number(std::int64_t{time.time_since_epoch().count()}); }
    void put(const std::optional<instant>& time) {
        if (time)
            put(*time);
        else
            write_.null();
    }
    void put(const mark& mark) {
        write_.array(4);
        write_.bulk(mark.label);
        write_.number(mark.fence);
        put(mark.at);
        write_.number(mark.count);
    }

    writer write_;
    instant at_;
};

mark read_mark(reader& outer) {
    reader from{outer.next()};
    mark mark{from.text(), from.number<serial>(), from.instant(), from.number<std::uint64_t>()};
    if (!from.complete()) outer.fail();
    return mark;
}

/// A list of arrays, each read by a function.
template <typename Item, typename Read> std::vector<Item> read_list(reader& outer, Read read) {
    std::vector<Item> list;
    reader items{outer.next()};
    while (items.left() > 0) {
        reader from{items.next()};
        list.push_back(read(from));
        if (!from.complete()) outer.fail();
        if (outer.failed()) break;
    }
    if (items.failed()) outer.fail();
    return list;
}

claim_slots read_claim_slots(reader& from) {
    claim_slots claim{from.text(), {}};
    while (from.left() > 0) claim.slots.push_back(from.number<slot>());
    return claim;
}
abandoned_resource read_abandoned(reader& from) { return {from.text(), read_mark(from)}; }
request_state read_state(reader& from) {
    return {from.number<std::uint64_t>(), from.number<serial>(), from.number<serial>(), from.instant_if_any()};
}

granted read_granted(reader& from) {
    return {from.request(),
            from.number<serial>(),
            from.number<serial>(),
            read_list<claim_slots>(from, read_claim_slots),
            read_list<abandoned_resource>(from, read_abandoned),
            from.instant_if_any()};
}
refused read_refused(reader& from) {
    refused refused{{}, enumerator(from, refusal::note_too_long, [](refusal reason) { return to_string(reason); })};
    refused.until = from.instant_if_any();
    if (from.left() > 0) refused.request = from.request();
    return refused;
}
ended read_ended(reader& from) {
    return {from.request(), enumerator(from, end_reason::gone, [](end_reason reason) { return to_string(reason); }),
            from.number<serial>()};
}
alive read_alive(reader& from) {
    alive alive{from.session(), from.instant(), 0, 0, from.flag()};
    alive.count = from.number<std::uint64_t>();
    alive.digest = from.number<std::uint64_t>();
    return alive;
}
listed read_listed(reader& from) {
    listed listed{from.session(), from.number<std::uint64_t>(), {}, from.flag()};
    listed.requests = read_list<request_state>(from, read_state);
    return listed;
}

decltype(event::what) read_what(const std::string& name, reader& from) {
    if (name == "granted") return read_granted(from);
    if (name == "queued") return queued{from.request(), from.number<serial>()};
    if (name == "refused") return read_refused(from);
    if (name == "ended") return read_ended(from);
    if (name == "session_lost") return session_lost{from.session()};
    if (name == "alive") return read_alive(from);
    if (name == "listed") return read_listed(from);
    if (name == "closed") return closed{from.session()};
    if (name == "revoking") return revoking{from.request(), from.text(), from.instant()};
    if (name == "mended") return mended{from.text(), read_mark(from)};
    if (name == "resized") return resized{from.text(), from.number_if_any<std::uint32_t>()};
    if (name == "paused") return paused{from.instant()};
    from.fail();
    return closed{};
}

event read_event(reader& from) {
    const std::string& name = from.text();
    const instant at = from.instant();
    return {at, read_what(name, from)};
}

bool read_answer(reader& from, answer& into) {
    into.lineage = from.number<lineage>();
    into.events.clear();
    while (from.left() > 0) {
        reader fields{from.next()};
        into.events.push_back(read_event(fields));
        if (!fields.complete()) return false;
    }
    return !from.failed();
}

}  // namespace

void encode_answer(std::string& out, lineage lineage, const std::vector<event>& events) {
    writer write{out};
    write.array(1 + events.size());
    write.number(lineage);
    for (const event& event : events) std::visit(event_writer{out, event.at}, event.what);
}

bool decode_answer(const value& value, answer& into) {
    if (value.kind != kind::array) return false;
    reader from{value};
    return read_answer(from, into);
}

std::optional<answer> decode_answer(const value& value) {
    answer answer;
    return decode_answer(value, answer) ? std::optional{std::move(answer)} : std::nullopt;
}

void encode_notice(std::string& out, lineage lineage, const event& event) {
    writer write{out};
    write.push(3);
    write.bulk(notice_name);
    write.number(lineage);
    std::visit(event_writer{out, event.at}, event.what);
}

std::optional<answer> decode_notice(const value& value) {
    if (value.kind != kind::push) return {};
    reader from{value};
    if (from.text() != notice_name) return {};
    answer notice;
    if (!read_answer(from, notice) || notice.events.size() != 1) return {};
    return notice;
}

void encode(std::string& out, const greeting& greeting) {
    writer write{out};
    write.array(3);
    write.number(greeting.version);
    write.number(greeting.lineage);
    write.bulk(greeting.program);
}

std::optional<greeting> decode_greeting(const value& value) {
    reader from{value};
    greeting greeting{from.number<std::uint64_t>(), from.number<lineage>(), from.text()};
    return from.failed() || greeting.lineage == 0 ? std::nullopt : std::optional{std::move(greeting)};
}

}  // namespace baton::resp
