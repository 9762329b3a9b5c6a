#include <algorithm>
#include <chrono>

#include "baton/printable.hpp"
#include "duration.hpp"
#include "inspect/show.hpp"

namespace baton::cli {
namespace {

std::string head(const snapshot& snapshot, const resource_view& resource) {
    std::string text = printable(resource.name) + ": ";
    const bool counted =
        std::ranges::any_of(resource.holders, [](const auto& c) { return c.mode == claim_mode::permits; });
    if (resource.holders.empty() && resource.queue.empty()) {
        text += is_paused(snapshot) ? "not granted yet" : "free";
    } else if (counted && resource.limit) {
        text += std::to_string(resource.used) + " of " + std::to_string(*resource.limit);
        if (resource.percent) text += ", " + std::to_string(*resource.percent) + " %";
    } else {
        text += !resource.holders.empty() ? "held" : is_paused(snapshot) ? "not granted yet" : "reserved";
    }
    if (resource.pinned) text += ", limit pinned to " + std::to_string(*resource.pinned);
    if (!resource.queue.empty()) text += ", " + std::to_string(resource.queue.size()) + " waiting";
    return text + "\n";
}

std::string slots_text(const std::vector<protocol::slot>& slots) {
    if (slots.empty()) return "";
    std::string text = slots.size() == 1 ? ", slot " : ", slots ";
    for (std::size_t i = 0; i < slots.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(slots[i]);
    return text;
}

std::string line(const snapshot& snapshot, const claim_view& claim, const std::string& what) {
    std::string text = "  " + what + mode_text(claim.mode, claim.permits, claim.limit) + slots_text(claim.slots);
    const request_view* const request = find_request(snapshot, claim.ticket);
    if (request == nullptr) return text + "\n";
    if (!snapshot.foreign) text += ", " + show_duration(request->age);
    if (!snapshot.foreign && request->fence != 0) text += ", fence " + std::to_string(request->fence);
    text += ": " + printable(request->label) + alive_text(snapshot, *request);
    if (request->hold_left) text += ", ends in " + show_duration(*request->hold_left);
    if (request->revoked_in) {
        text += ", revoked in " + show_duration(*request->revoked_in);
        if (!request->revoke_note.empty()) text += " (" + printable(request->revoke_note) + ")";
    }
    return text + "\n";
}

std::string mark_text(const snapshot& snapshot, const protocol::mark& mark) {
    std::string text = "  abandoned by " + printable(mark.label) + ", " + show_duration(snapshot.at - mark.at) +
                       " ago, fence " + std::to_string(mark.fence);
    if (mark.count > 1) text += ", the last of " + std::to_string(mark.count);
    return text + "\n";
}

std::string circle_text(const snapshot& snapshot, const circle& circle) {
    std::string text = "circle: ";
    for (const circle_step& step : circle) {
        const request_view* const waits = find_request(snapshot, step.ticket);
        const request_view* const holds = find_request(snapshot, step.blocker);
        if (waits == nullptr || holds == nullptr) continue;
        text += (&step == &circle.front() ? "" : "; ") + printable(waits->label) + " waits for " +
                printable(step.resource) + ", which " + printable(holds->label) +
                (holds->fence != 0 ? " has" : " is next for");
    }
    return text + "\n";
}

}  // namespace

std::string alive_text(const snapshot& snapshot, const request_view& request) {
    return snapshot.foreign ? "" : ", alive " + show_duration(request.silence) + " ago";
}

const resource_view* find_resource(const snapshot& snapshot, const std::string& name) {
    const auto found = std::ranges::find(snapshot.resources, name, &resource_view::name);
    return found == snapshot.resources.end() ? nullptr : &*found;
}

const request_view* find_request(const snapshot& snapshot, protocol::serial ticket) {
    const auto found = std::ranges::find(snapshot.requests, ticket, &request_view::ticket);
    return found == snapshot.requests.end() ? nullptr : &*found;
}

std::string pause_text(protocol::duration left) {
    return "the store has restarted or may have lost state, and grants nothing for another " + show_duration(left) +
           ", so that holders can reclaim what they hold";
}

bool is_free(const snapshot& snapshot, const std::string& name) {
    if (is_paused(snapshot)) return false;
    const resource_view* const resource = find_resource(snapshot, name);
    return resource == nullptr || (resource->holders.empty() && resource->queue.empty());
}

std::string mode_text(baton::claim_mode mode, std::uint32_t permits, std::uint32_t limit) {
    if (mode == baton::claim_mode::exclusive) return "exclusive";
    if (mode == baton::claim_mode::shared) return "shared";
    return std::to_string(permits) + " of " + std::to_string(limit) + (limit == 1 ? " permit" : " permits");
}

std::string list_text(const snapshot& snapshot) {
    std::string text;
    if (is_paused(snapshot)) text += "paused: " + pause_text(*snapshot.paused_until - snapshot.at) + "\n";
    for (const resource_view& resource : snapshot.resources) {
        text += head(snapshot, resource);
        for (const claim_view& claim : resource.holders) text += line(snapshot, claim, "holds  ");
        std::size_t position = 0;
        for (const claim_view& claim : resource.queue)
            text += line(snapshot, claim, (claim.admitted ? "next   " : "waits " + std::to_string(++position) + "  "));
        if (resource.mark) text += mark_text(snapshot, *resource.mark);
    }
    for (const circle& circle : snapshot.circles) text += circle_text(snapshot, circle);
    return text;
}

}  // namespace baton::cli
