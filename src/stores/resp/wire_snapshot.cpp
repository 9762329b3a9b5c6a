// Snapshots: maps with words for keys, so that `redis-cli -s PATH BATON.INSPECT` can be read by people.

#include "stores/resp/reader.hpp"

namespace baton::resp {
namespace {

using namespace protocol;

/// Writes a map whose pairs are counted as they come.
class map_writer {
public:
    map_writer& put(std::string_view key, std::uint64_t number) {
        begin(key).number(number);
        return *this;
    }
    map_writer& put(std::string_view key, std::int64_t number) {
        begin(key).number(number);
        return *this;
    }
    map_writer& put(std::string_view key, std::string_view text) {
        begin(key).bulk(text);
        return *this;
    }
    template <typename Number> map_writer& put_if(std::string_view key, const std::optional<Number>& number) {
        return number ? put(key, std::uint64_t{*number}) : *this;
    }
    map_writer& put_if(std::string_view key, const std::optional<duration>& time) {
        return time ? put(key, std::int64_t{time->count()}) : *this;
    }
    template <typename Item, typename Write>
    map_writer& put(std::string_view key, const std::vector<Item>& list, Write write) {
        begin(key).array(list.size());
        for (const Item& item : list) write(body_, item);
        return *this;
    }
    template <typename Item, typename Write> map_writer& put_one(std::string_view key, const Item& item, Write write) {
        begin(key);
        write(body_, item);
        return *this;
    }

    void append_to(std::string& out) const {
        writer{out}.map(pairs_);
        out += body_;
    }

private:
    writer begin(std::string_view key) {
        ++pairs_;
        writer write{body_};
        write.bulk(key);
        return write;
    }

    std::string body_;
    std::size_t pairs_ = 0;
};

std::int64_t count(instant time) { return time.time_since_epoch().count(); }

void write_slot(std::string& out, slot slot) { writer{out}.number(std::uint64_t{slot}); }

void write_claim_view(std::string& out, const claim_view& view) {
    map_writer map;
    map.put("ticket", view.ticket).put("mode", word(view.mode));
    if (view.mode == claim_mode::permits)
        map.put("permits", std::uint64_t{view.permits}).put("limit", std::uint64_t{view.limit});
    map.put("admitted", std::uint64_t{view.admitted}).put("slots", view.slots, write_slot).append_to(out);
}

void write_claim(std::string& out, const claim& claim) {
    map_writer map;
    map.put("resource", claim.resource).put("mode", word(claim.mode));
    if (claim.mode == claim_mode::permits)
        map.put("permits", std::uint64_t{claim.permits}).put("limit", std::uint64_t{claim.limit});
    map.append_to(out);
}

void write_mark(std::string& out, const mark& mark) {
    map_writer{}
        .put("label", mark.label)
        .put("fence", mark.fence)
        .put("at", count(mark.at))
        .put("count", mark.count)
        .append_to(out);
}

void write_resource(std::string& out, const resource_view& view) {
    map_writer map;
    map.put("name", view.name)
        .put("holders", view.holders, write_claim_view)
        .put("queue", view.queue, write_claim_view)
        .put("used", view.used)
        .put_if("limit", view.limit)
        .put_if("percent", view.percent)
        .put_if("pinned", view.pinned);
    if (view.mark) map.put_one("mark", *view.mark, write_mark);
    map.append_to(out);
}

void write_blocker(std::string& out, const blocker& blocker) {
    map_writer{}
        .put("ticket", blocker.ticket)
        .put("resource", blocker.resource)
        .put("hard", std::uint64_t{blocker.hard})
        .append_to(out);
}

void write_request(std::string& out, const request_view& view) {
    map_writer map;
    map.put("ticket", view.ticket)
        .put("fence", view.fence)
        .put("session", std::uint64_t{view.session})
        .put("label", view.label)
        .put("claims", view.claims, write_claim)
        .put("age_us", std::int64_t{view.age.count()})
        .put("silence_us", std::int64_t{view.silence.count()})
        .put("place", std::uint64_t{view.place})
        .put("blockers", view.blockers, write_blocker)
        .put("blockers_left_out", std::uint64_t{view.blockers_left_out})
        .put_if("hold_left_us", view.hold_left)
        .put_if("revoked_in_us", view.revoked_in);
    if (!view.revoke_note.empty()) map.put("revoke_note", view.revoke_note);
    map.append_to(out);
}

void write_step(std::string& out, const circle_step& step) {
    map_writer{}.put("ticket", step.ticket).put("resource", step.resource).put("blocker", step.blocker).append_to(out);
}

void write_circle(std::string& out, const circle& circle) {
    writer{out}.array(circle.size());
    for (const circle_step& step : circle) write_step(out, step);
}

}  // namespace

void encode(std::string& out, const snapshot& snapshot) {
    map_writer map;
    map.put("at_us", count(snapshot.at));
    if (snapshot.paused_until) map.put("paused_until_us", count(*snapshot.paused_until));
    map.put("sessions", std::uint64_t{snapshot.sessions})
        .put("resources", snapshot.resources, write_resource)
        .put("requests", snapshot.requests, write_request)
        .put("circles", snapshot.circles, write_circle)
        .append_to(out);
}

}  // namespace baton::resp
