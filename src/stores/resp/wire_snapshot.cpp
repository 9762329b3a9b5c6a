// Snapshots: maps with words for keys, so that `redis-cli -s PATH BATON.INSPECT` can be read by people. Fields that are
// not known are passed over, and those that are missing keep their default.
#include <algorithm>

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
    if (view.mode == mode::permits)
        map.put("permits", std::uint64_t{view.permits}).put("limit", std::uint64_t{view.limit});
    map.put("admitted", std::uint64_t{view.admitted}).put("slots", view.slots, write_slot).append_to(out);
}

void write_claim(std::string& out, const claim& claim) {
    map_writer map;
    map.put("resource", claim.resource).put("mode", word(claim.mode));
    if (claim.mode == mode::permits)
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

/// Reads a map. The first field of a wrong kind fails the whole.
class map_reader {
public:
    map_reader(const value& map, bool& failed) : map_{map}, failed_{failed} {
        if (map.kind != kind::map) failed_ = true;
    }

    template <typename Number> void get(std::string_view key, Number& number) const {
        const value* found = find(key, kind::number);
        if (found == nullptr) return;
        if (!std::in_range<Number>(found->number))
            failed_ = true;
        else
            number = static_cast<Number>(found->number);
    }
    void get(std::string_view key, bool& flag) const {
        if (const value* found = find(key, kind::number)) flag = found->number != 0;
    }
    void get(std::string_view key, duration& time) const {
        if (const value* found = find(key, kind::number)) time = duration{found->number};
    }
    void get(std::string_view key, instant& time) const {
        if (const value* found = find(key, kind::number)) time = instant{duration{found->number}};
    }
    void get(std::string_view key, std::string& text) const {
        if (const value* found = find(key, kind::bulk)) text = found->text;
    }
    void get(std::string_view key, mode& mode) const {
        const value* found = find(key, kind::bulk);
        if (found == nullptr) return;
        for (const baton::mode each : {mode::exclusive, mode::shared, mode::permits})
            if (found->text == word(each)) {
                mode = each;
                return;
            }
        failed_ = true;
    }
    template <typename Item> void get(std::string_view key, std::optional<Item>& item) const {
        if (find(key) == nullptr) return;
        get(key, item.emplace());
    }
    void get(std::string_view key, mark& mark) const {
        const value* found = find(key, kind::map);
        if (found == nullptr) return;
        const map_reader from{*found, failed_};
        from.get("label", mark.label);
        from.get("fence", mark.fence);
        from.get("at", mark.at);
        from.get("count", mark.count);
    }
    template <typename Item, typename Read> void get(std::string_view key, std::vector<Item>& list, Read read) const {
        const value* found = find(key, kind::array);
        if (found == nullptr) return;
        for (const value& item : found->items) list.push_back(read(item, failed_));
    }

private:
    [[nodiscard]] const value* find(std::string_view key) const {
        for (std::size_t i = 0; i + 1 < map_.items.size(); i += 2)
            if (map_.items[i].text == key) return &map_.items[i + 1];
        return nullptr;
    }
    [[nodiscard]] const value* find(std::string_view key, resp::kind kind) const {
        const value* found = find(key);
        if (found == nullptr || found->kind == kind) return found;
        failed_ = true;
        return nullptr;
    }

    const value& map_;
    bool& failed_;
};

slot read_slot(const value& from, bool& failed) {
    if (from.kind != kind::number || !std::in_range<slot>(from.number)) failed = true;
    return static_cast<slot>(from.number);
}

template <typename Claim> void read_permits(const map_reader& from, Claim& claim) {
    from.get("mode", claim.mode);
    from.get("permits", claim.permits);
    from.get("limit", claim.limit);
}

claim_view read_claim_view(const value& map, bool& failed) {
    const map_reader from{map, failed};
    claim_view view;
    from.get("ticket", view.ticket);
    read_permits(from, view);
    from.get("admitted", view.admitted);
    from.get("slots", view.slots, read_slot);
    return view;
}

claim read_claim(const value& map, bool& failed) {
    const map_reader from{map, failed};
    claim claim;
    from.get("resource", claim.resource);
    read_permits(from, claim);
    return claim;
}

resource_view read_resource(const value& map, bool& failed) {
    const map_reader from{map, failed};
    resource_view view;
    from.get("name", view.name);
    from.get("holders", view.holders, read_claim_view);
    from.get("queue", view.queue, read_claim_view);
    from.get("used", view.used);
    from.get("limit", view.limit);
    from.get("percent", view.percent);
    from.get("pinned", view.pinned);
    from.get("mark", view.mark);
    return view;
}

blocker read_blocker(const value& map, bool& failed) {
    const map_reader from{map, failed};
    blocker blocker;
    from.get("ticket", blocker.ticket);
    from.get("resource", blocker.resource);
    from.get("hard", blocker.hard);
    return blocker;
}

request_view read_request(const value& map, bool& failed) {
    const map_reader from{map, failed};
    request_view view;
    from.get("ticket", view.ticket);
    from.get("fence", view.fence);
    from.get("session", view.session);
    from.get("label", view.label);
    from.get("claims", view.claims, read_claim);
    from.get("age_us", view.age);
    from.get("silence_us", view.silence);
    from.get("place", view.place);
    from.get("blockers", view.blockers, read_blocker);
    from.get("blockers_left_out", view.blockers_left_out);
    from.get("hold_left_us", view.hold_left);
    from.get("revoked_in_us", view.revoked_in);
    from.get("revoke_note", view.revoke_note);
    return view;
}

circle_step read_step(const value& map, bool& failed) {
    const map_reader from{map, failed};
    circle_step step;
    from.get("ticket", step.ticket);
    from.get("resource", step.resource);
    from.get("blocker", step.blocker);
    return step;
}

circle read_circle(const value& list, bool& failed) {
    circle circle;
    if (list.kind != kind::array) failed = true;
    for (const value& step : list.items) circle.push_back(read_step(step, failed));
    return circle;
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

std::optional<snapshot> decode_snapshot(const value& value) {
    bool failed = false;
    const map_reader from{value, failed};
    snapshot snapshot;
    from.get("at_us", snapshot.at);
    from.get("paused_until_us", snapshot.paused_until);
    from.get("sessions", snapshot.sessions);
    from.get("resources", snapshot.resources, read_resource);
    from.get("requests", snapshot.requests, read_request);
    from.get("circles", snapshot.circles, read_circle);
    return failed ? std::nullopt : std::optional{std::move(snapshot)};
}

}  // namespace baton::resp
