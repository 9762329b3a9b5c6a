#include "inspect/show.hpp"
#include "json.hpp"

namespace baton::cli {
namespace {

std::int64_t ms(protocol::duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

const char* word(claim_mode mode) {
    switch (mode) {
        case claim_mode::exclusive: return "exclusive";
        case claim_mode::shared: return "shared";
        case claim_mode::permits: break;
    }
    return "permits";
}

json_text shown(const claim_view& claim) {
    json_text object{{"ticket", claim.ticket}, {"mode", word(claim.mode)}, {"admitted", claim.admitted}};
    if (claim.mode != claim_mode::permits) return object;
    object["permits"] = claim.permits;
    object["limit"] = claim.limit;
    object["slots"] = claim.slots;
    return object;
}

json_text shown(const claim& claim) {
    json_text object;
    add(object, "name", claim.resource);
    object["mode"] = word(claim.mode);
    if (claim.mode != claim_mode::permits) return object;
    object["permits"] = claim.permits;
    object["limit"] = claim.limit;
    return object;
}

json_text shown(const protocol::mark& mark) {
    json_text object;
    add(object, "by", mark.label);
    object["fence"] = mark.fence;
    object["at"] = time_text(mark.at);
    object["count"] = mark.count;
    return object;
}

json_text shown(const blocker& blocker) {
    json_text object{{"ticket", blocker.ticket}};
    add(object, "name", blocker.resource);
    object["hard"] = blocker.hard;
    return object;
}

json_text shown(const circle_step& step) {
    json_text object{{"ticket", step.ticket}};
    add(object, "name", step.resource);
    object["blocker"] = step.blocker;
    return object;
}

// Declared before `all`, because argument-dependent lookup searches namespace baton only and would not find them.
json_text shown(const resource_view& resource);
json_text shown(const request_view& request);
json_text shown(const circle& circle);

template <typename Items> json_text all(const Items& items) {
    json_text list = json_text::array();
    for (const auto& item : items) list.push_back(shown(item));
    return list;
}

json_text shown(const circle& circle) { return all(circle); }

json_text shown(const resource_view& resource) {
    json_text object;
    add(object, "name", resource.name);
    object["holders"] = all(resource.holders);
    object["queue"] = all(resource.queue);
    object["used"] = resource.used;
    if (resource.limit) object["limit"] = *resource.limit;
    if (resource.percent) object["percent"] = *resource.percent;
    if (resource.pinned) object["pinned"] = *resource.pinned;
    if (resource.mark) object["abandoned"] = shown(*resource.mark);
    return object;
}

json_text shown(const request_view& request) {
    json_text object{{"ticket", request.ticket}};
    if (request.fence != 0) object["fence"] = request.fence;
    object["session"] = request.session;
    add(object, "label", request.label);
    object["claims"] = all(request.claims);
    object["age_ms"] = ms(request.age);
    object["silence_ms"] = ms(request.silence);
    if (request.position != 0) object["position"] = request.position;
    if (!request.blockers.empty()) object["blockers"] = all(request.blockers);
    if (request.blockers_left_out != 0) object["blockers_left_out"] = request.blockers_left_out;
    if (request.hold_left) object["hold_left_ms"] = ms(*request.hold_left);
    if (request.revoked_in) object["revoked_in_ms"] = ms(*request.revoked_in);
    if (!request.revoke_note.empty()) add(object, "revoke_note", request.revoke_note);
    return object;
}

}  // namespace

std::string list_json(const snapshot& snapshot) {
    json_text object{{"at", time_text(snapshot.at)}};
    if (snapshot.paused_until && *snapshot.paused_until > snapshot.at)
        object["paused_ms"] = ms(*snapshot.paused_until - snapshot.at);
    object["sessions"] = snapshot.sessions;
    object["resources"] = all(snapshot.resources);
    object["requests"] = all(snapshot.requests);
    if (snapshot.foreign) {
        object["foreign"] = true;
        for (json_text& request : object["requests"])
            for (const char* unknown : {"fence", "age_ms", "silence_ms"}) request.erase(unknown);
    }
    object["circles"] = all(snapshot.circles);
    return line_of(object);
}

}  // namespace baton::cli
