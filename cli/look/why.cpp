#include <algorithm>
#include <map>
#include <set>

#include "baton/printable.hpp"
#include "duration.hpp"
#include "look/show.hpp"

namespace baton::cli {
namespace {

using protocol::serial;

/// Why one request is held up by another.
struct reason {
    serial blocked = 0;
    std::string text;
};

/// Who holds up whom, among the requests that bear on one resource.
class blocking {
public:
    blocking(const snapshot& snapshot, const resource_view& resource) : snapshot_{snapshot} {
        for (const auto* list : {&resource.holders, &resource.queue})
            for (const claim_view& claim : *list) climb(claim.ticket);
    }

    [[nodiscard]] std::string tree() const {
        std::string text;
        std::set<serial> shown;
        // Those that nobody holds up come first; what is left after that goes around in circles.
        for (const serial ticket : known_)
            if (!held_up_.contains(ticket)) show(ticket, "", "", shown, text);
        for (const serial ticket : known_)
            if (!shown.contains(ticket)) show(ticket, "", "", shown, text);
        return text;
    }

private:
    void climb(serial ticket) {
        const request_view* const request = find_request(snapshot_, ticket);
        if (request == nullptr || !known_.insert(ticket).second) return;
        for (const blocker& blocker : request->blockers) {
            add(blocker.ticket, ticket,
                (blocker.hard ? "waits for " : "comes after it for ") + printable(blocker.resource));
            climb(blocker.ticket);
        }
        // One that holds may be held up itself: by what its session waits for elsewhere.
        if (request->fence == 0) return;
        for (const request_view& other : snapshot_.requests) {
            if (other.session != request->session || other.fence != 0) continue;
            add(other.ticket, ticket, "is of the same session, and goes on after it");
            climb(other.ticket);
        }
    }

    void add(serial blocker, serial blocked, const std::string& text) {
        below_[blocker].push_back({blocked, text});
        held_up_.insert(blocked);
    }

    void show(serial ticket, const std::string& indent, const std::string& why, std::set<serial>& shown,
              std::string& text) const {
        const request_view* const request = find_request(snapshot_, ticket);
        if (request == nullptr) return;
        text += indent + printable(request->label) + (why.empty() ? "" : " " + why);
        if (snapshot_.foreign && !why.empty()) {  // there is no more to tell
            shown.insert(ticket);
            text += "\n";
            return show_below(ticket, indent, shown, text);
        }
        text += ": ";
        if (!shown.insert(ticket).second) {
            text += "see above\n";
            return;
        }
        text += request->fence != 0 ? "holds " : "has waited for ";
        for (const claim& claim : request->claims)
            text += (&claim == &request->claims.front() ? "" : ", ") + printable(claim.resource);
        if (!snapshot_.foreign) text += (request->fence != 0 ? " for " : " ") + show_duration(request->age);
        text += alive_text(snapshot_, *request) + "\n";
        show_below(ticket, indent, shown, text);
    }

    void show_below(serial ticket, const std::string& indent, std::set<serial>& shown, std::string& text) const {
        const auto found = below_.find(ticket);
        if (found == below_.end()) return;
        for (const reason& reason : found->second) show(reason.blocked, indent + "  ", reason.text, shown, text);
    }

    const snapshot& snapshot_;
    std::set<serial> known_;
    std::set<serial> held_up_;
    std::map<serial, std::vector<reason>> below_;
};

std::string holders_text(const snapshot& snapshot, const resource_view& resource) {
    std::string text;
    for (const claim_view& claim : resource.holders) {
        const request_view* const request = find_request(snapshot, claim.ticket);
        if (request == nullptr) continue;
        text += (text.empty() ? "" : "; ") + printable(request->label) + " (" +
                mode_text(claim.mode, claim.permits, claim.limit);
        if (!snapshot.foreign)
            text += ", fence " + std::to_string(request->fence) + ") for " + show_duration(request->age);
        else
            text += ")";
        text += alive_text(snapshot, *request);
    }
    return text;
}

std::string queue_text(const snapshot& snapshot, const resource_view& resource) {
    if (resource.queue.empty()) return "Nobody waits for it.";
    const request_view* const next = find_request(snapshot, resource.queue.front().ticket);
    std::string text =
        resource.queue.size() == 1 ? "One waits for it" : std::to_string(resource.queue.size()) + " wait for it";
    if (next != nullptr) text += "; next is " + printable(next->label);
    if (next != nullptr && !snapshot.foreign) text += ", after " + show_duration(next->age);
    return text + ".";
}

}  // namespace

std::string why_text(const snapshot& snapshot, const std::string& name) {
    const resource_view* const resource = find_resource(snapshot, name);
    if (is_free(snapshot, name)) {
        std::string text = printable(name) + " is free.";
        if (resource != nullptr && resource->pinned)
            text += " Its limit is pinned to " + std::to_string(*resource->pinned) + ".";
        if (resource != nullptr && resource->mark)
            text += " Its last holder, " + printable(resource->mark->label) + ", left it behind " +
                    show_duration(snapshot.at - resource->mark->at) + " ago.";
        return text + "\n";
    }
    std::string text = printable(name);
    if (resource == nullptr || (resource->holders.empty() && resource->queue.empty()))
        return text + " is not granted yet: " + pause_text(*snapshot.paused_until - snapshot.at) + ".\n";
    if (resource->holders.empty())
        text += is_paused(snapshot) ? " is not granted yet. "
                                    : " is held by nobody, but reserved for a request that waits for other names too. ";
    else
        text += " is held by " + holders_text(snapshot, *resource) + ". ";
    text += queue_text(snapshot, *resource);
    if (is_paused(snapshot)) text += " Here " + pause_text(*snapshot.paused_until - snapshot.at) + ".";
    for (const circle& circle : snapshot.circles) {
        text += " A circle of sessions that wait for each other:";
        for (const circle_step& step : circle)
            if (const request_view* const request = find_request(snapshot, step.ticket))
                text += (&step == &circle.front() ? " " : ", ") + printable(request->label) + " for " +
                        printable(step.resource);
        text += ".";
    }
    return text + "\n\n" + blocking{snapshot, *resource}.tree();
}

}  // namespace baton::cli
