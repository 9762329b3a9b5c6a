#include "run/status_line.hpp"

#include <algorithm>

#include "baton/printable.hpp"
#include "duration.hpp"

namespace baton::cli {
namespace {

using std::chrono::milliseconds;

const request_view* find(const snapshot& snapshot, protocol::serial ticket) {
    const auto found = std::ranges::find(snapshot.requests, ticket, &request_view::ticket);
    return found == snapshot.requests.end() ? nullptr : &*found;
}

const request_view* find_ours(const snapshot& snapshot, const std::string& label, std::span<const claim> claims) {
    const auto ours = [&](const request_view& r) {
        return r.fence == 0 && r.label == label && std::ranges::equal(r.claims, claims);
    };
    const auto found = std::ranges::find_if(snapshot.requests, ours);
    return found == snapshot.requests.end() ? nullptr : &*found;
}

/// Prefers a holder to a waiter that is ahead.
const blocker* choose(const std::vector<blocker>& blockers) {
    const auto hard = std::ranges::find(blockers, true, &blocker::hard);
    if (hard != blockers.end()) return &*hard;
    return blockers.empty() ? nullptr : &blockers.front();
}

std::size_t characters_in(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

/// The parts of a label as `run` and the library make it: PROGRAM PID on HOST, and perhaps a note.
struct label_parts {
    std::string program;  // or the whole label if it has another form
    std::string process;
    std::string host;
    std::string note;
};

label_parts parts_of(const std::string& label) {
    label_parts parts;
    const std::size_t dot = label.find(" · ");
    const std::string client = label.substr(0, dot);
    if (dot != std::string::npos) parts.note = label.substr(dot);
    parts.program = client;
    const std::size_t on = client.rfind(" on ");
    const std::size_t space = on == std::string::npos || on == 0 ? std::string::npos : client.rfind(' ', on - 1);
    if (space == std::string::npos) return parts;
    const std::string process = client.substr(space, on - space);
    if (process.size() < 2 || process.find_first_not_of("0123456789", 1) != std::string::npos) return parts;
    return {client.substr(0, space), process, client.substr(on), parts.note};
}

// Levels of shortening: each level leaves out its part and the parts of all levels before it.
enum : std::uint8_t { no_sign_of_life = 1, no_host, no_position, no_since, no_process, short_names };
constexpr std::uint8_t most_left_out = short_names;

std::string position_text(std::size_t position) {
    return position == 1 ? "next in the queue" : "position " + std::to_string(position);
}

std::string text_without(std::uint8_t left_out, const waiting_view& view, std::span<const claim> claims,
                         milliseconds waited, std::size_t short_name) {
    const auto fitted = [&](const std::string& name) { return left_out < short_names ? name : cut(name, short_name); };
    std::string text = "waiting for " + fitted(names_of(claims)) + ", " + show_duration(waited);
    if (!view.unreachable.empty()) return text + "; " + printable(view.unreachable);
    if (view.position != 0 && left_out < no_position) text += ", " + position_text(view.position);
    if (view.paused)
        text += "; paused for another " + show_duration(*view.paused) + ", as the store may have lost state";
    if (view.circle) text += "; in a circle of sessions that wait for each other";
    if (view.holder.empty()) return text;
    text += "; ";
    if (claims.size() > 1) text += fitted(printable(view.resource)) + " ";
    text += view.holds ? "held " : "wanted ";
    if (view.timed && left_out < no_since) text += "for " + show_duration(view.since) + " ";
    const label_parts holder = parts_of(view.holder);
    text += "by " + printable(holder.program);
    if (left_out < no_process) text += holder.process;
    if (left_out < no_host) text += printable(holder.host);
    text += printable(holder.note);
    if (view.others != 0) text += " and " + std::to_string(view.others) + " more";
    if (view.timed && left_out < no_sign_of_life) text += ", alive " + show_duration(view.silence) + " ago";
    return text;
}

}  // namespace

waiting_view view_of(const snapshot& snapshot, const std::string& label, std::span<const claim> claims) {
    waiting_view view;
    view.timed = !snapshot.foreign;
    if (snapshot.paused_until && *snapshot.paused_until > snapshot.at)
        view.paused = *snapshot.paused_until - snapshot.at;
    const request_view* const ours = find_ours(snapshot, label, claims);
    if (ours == nullptr) return view;
    view.position = ours->position;
    for (const circle& circle : snapshot.circles)
        view.circle |= std::ranges::find(circle, ours->ticket, &circle_step::ticket) != circle.end();
    const blocker* const chosen = choose(ours->blockers);
    if (chosen == nullptr) return view;
    view.resource = chosen->resource;
    view.holds = chosen->hard;
    const auto same = [&](const blocker& b) { return b.hard == chosen->hard && b.resource == chosen->resource; };
    view.others = static_cast<std::size_t>(std::ranges::count_if(ours->blockers, same)) - 1 + ours->blockers_left_out;
    if (const request_view* const other = find(snapshot, chosen->ticket)) {
        view.holder = other->label;
        view.since = other->age;
        view.silence = other->silence;
    }
    return view;
}

std::optional<other_limit> find_other_limit(const snapshot& snapshot, std::span<const claim> claims) {
    if (snapshot.foreign) return {};
    for (const claim& ours : claims) {
        if (ours.mode != claim_mode::permits) continue;
        const auto resource = std::ranges::find(snapshot.resources, ours.resource, &resource_view::name);
        if (resource == snapshot.resources.end() || resource->pinned) continue;
        for (const auto* list : {&resource->holders, &resource->queue})
            for (const claim_view& other : *list) {
                const request_view* const request = find(snapshot, other.ticket);
                if (request != nullptr && other.mode == claim_mode::permits && other.limit != ours.limit)
                    return other_limit{ours.resource, ours.limit, other.limit, request->label};
            }
    }
    return {};
}

std::string names_of(std::span<const claim> claims) {
    std::string names;
    for (std::size_t i = 0; i < claims.size(); ++i) {
        if (names.size() > 100) return names + " and " + std::to_string(claims.size() - i) + " more";
        names += (names.empty() ? "" : ", ") + printable(claims[i].resource);
    }
    return names;
}

std::string waiting_text(const waiting_view& view, std::span<const claim> claims, milliseconds waited,
                         std::size_t width) {
    std::string text;
    for (std::uint8_t left_out = 0; left_out <= most_left_out; ++left_out) {
        text = text_without(left_out, view, claims, waited, width / 3);
        if (characters_in(text) <= width) return text;
    }
    return cut(text, width);
}

std::string cut(const std::string& line, std::size_t width) {
    std::size_t shown = 0;
    std::size_t last = 0;  // the end of the last character that leaves room for the ellipsis
    for (std::size_t i = 0; i < line.size(); ++i) {
        if ((static_cast<unsigned char>(line[i]) & 0xc0U) == 0x80U) continue;  // inside a character
        if (shown + 1 == width) last = i;
        if (shown == width) return line.substr(0, last) + "…";
        ++shown;
    }
    return line;
}

milliseconds next_line(milliseconds waited) {
    for (const milliseconds at : {milliseconds{1'000}, milliseconds{10'000}, milliseconds{60'000}})
        if (waited < at) return at;
    const milliseconds every{300'000};
    return (waited / every + 1) * every;
}

}  // namespace baton::cli
