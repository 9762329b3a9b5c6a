// Snapshots, back from maps (wire_snapshot.cpp). Fields that are not known are passed over, and those that are missing
// keep their default.
#include <utility>

#include "stores/resp/reader.hpp"

namespace baton::resp {
namespace {

using namespace protocol;

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
    void get(std::string_view key, claim_mode& mode) const {
        const value* found = find(key, kind::bulk);
        if (found == nullptr) return;
        for (const baton::claim_mode each : {claim_mode::exclusive, claim_mode::shared, claim_mode::permits})
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
