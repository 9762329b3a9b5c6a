#include <algorithm>
#include <map>
#include <set>

#include "baton/printable.hpp"
#include "duration.hpp"
#include "inspect/show.hpp"

namespace baton::cli {
namespace {

using protocol::serial;

/// A blocked request and why it is blocked.
struct reason {
    serial blocked = 0;
    std::string text;
};

/// The tree of blockers and blocked requests around one resource.
class blocking {
public:
    blocking(const snapshot& snapshot, const resource_view& resource) : snapshot_{snapshot} {
        for (const auto* list : {&resource.holders, &resource.queue})
            for (const claim_view& claim : *list) climb(claim.ticket);
    }

    [[nodiscard]] std::string tree() const {
        std::string text;
        std::set<serial> shown;
        // Requests that are not blocked come first; the rest is in circles.
        for (const serial ticket : known_)
            if (!blocked_.contains(ticket)) show(ticket, "", "", shown, text);
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
                (blocker.hard ? "waits for " : "is behind it in the queue for ") + printable(blocker.resource));
            climb(blocker.ticket);
        }
        // A holder may be blocked too: its session may wait for another name.
        if (request->fence == 0) return;
        for (const request_view& other : snapshot_.requests) {
            if (other.session != request->session || other.fence != 0) continue;
            add(other.ticket, ticket, "belongs to the same session, and continues after it");
            climb(other.ticket);
        }
    }

    void add(serial blocker, serial blocked, const std::string& text) {
        below_[blocker].push_back({blocked, text});
        blocked_.insert(blocked);
    }

    void show(serial ticket, const std::string& indent, const std::string& why, std::set<serial>& shown,
              std::string& text) const {
        const request_view* const request = find_request(snapshot_, ticket);
        if (request == nullptr) return;
        text += indent + printable(request->label) + (why.empty() ? "" : " " + why);
        if (snapshot_.foreign && !why.empty()) {  // nothing else is known
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
    std::set<serial> blocked_;
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
    if (resource.queue.empty()) return "No request waits for it.";
    const request_view* const next = find_request(snapshot, resource.queue.front().ticket);
    std::string text = resource.queue.size() == 1 ? "1 request waits for it"
                                                  : std::to_string(resource.queue.size()) + " requests wait for it";
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
            text += " It is marked as abandoned: its holder " + printable(resource->mark->label) +
                    " did not release it cleanly, " + show_duration(snapshot.at - resource->mark->at) + " ago.";
        return text + "\n";
    }
    std::string text = printable(name);
    if (resource == nullptr || (resource->holders.empty() && resource->queue.empty()))
        return text + " is not granted yet: " + pause_text(*snapshot.paused_until - snapshot.at) + ".\n";
    if (resource->holders.empty())
        text += is_paused(snapshot) ? " is not granted yet. "
                                    : " is not held, but reserved for a request that also waits for other names. ";
    else
        text += " is held by " + holders_text(snapshot, *resource) + ". ";
    text += queue_text(snapshot, *resource);
    if (is_paused(snapshot)) text += " Paused: " + pause_text(*snapshot.paused_until - snapshot.at) + ".";
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
