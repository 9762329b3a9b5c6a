#include "describe.hpp"

#include <cstdio>
#include <sstream>
#include <variant>

#include "protocol/modes.hpp"

namespace baton::sim {

using namespace core;

namespace {

// Long names and labels are malformed on purpose; only their length matters.
std::string shortened(const std::string& text) {
    if (text.size() <= 16) return text.empty() ? "''" : text;
    return "<" + std::to_string(text.size()) + " bytes>";
}

template <typename Items, typename Words> std::string joined(const Items& items, Words words) {
    std::string text;
    for (const auto& item : items) {
        if (text.size() > 400) return text + " …";
        text += (text.empty() ? "" : " ") + words(item);
    }
    return text;
}

std::string claims_of(std::span<const claim> claims) {
    return "[" + joined(claims, [](const claim& claim) { return describe(claim); }) + "]";
}

std::string slots_of(const std::vector<claim_slots>& given) {
    return joined(given, [](const claim_slots& of) {
        std::string text;
        for (const slot slot_number : of.slots) text += (text.empty() ? "" : ",") + std::to_string(slot_number);
        return shortened(of.resource) + "{" + text + "}";
    });
}

std::string live_text(const live_request& live) {
    std::string text = "(" + std::to_string(live.number) + " " + claims_of(live.claims);
    if (live.ticket != 0) text += " ticket " + std::to_string(live.ticket);
    if (live.fence != 0) text += " fence " + std::to_string(live.fence);
    if (!live.slots.empty()) text += " slots " + slots_of(live.slots);
    if (live.hold) text += " hold " + describe(*live.hold);
    return text + ")";
}

struct command_words {
    std::string operator()(const open& command) const {
        return "open " + describe(command.session) + " ttl " + std::to_string(command.ttl.count()) + "ms label " +
               shortened(command.label) + " connection_number " + std::to_string(command.connection_number) +
               " highest " + std::to_string(command.highest) + " live [" + joined(command.live, live_text) + "]";
    }
    std::string operator()(const enter& command) const {
        const enter_options& options = command.options;
        std::string text = "enter " + describe(command.request) + " " + claims_of(command.claims);
        if (options.nowait) text += " nowait";
        if (options.hold_limit) text += " hold " + describe(*options.hold_limit);
        if (options.queue_bound) text += " bound " + std::to_string(*options.queue_bound);
        return text;
    }
    std::string operator()(const leave& command) const {
        constexpr const char* release_kinds[] = {"clean", "keep", "unclean"};
        return "leave " + describe(command.request) + " " +
               release_kinds[static_cast<std::size_t>(command.release_kind)];
    }
    std::string operator()(const renew& command) const { return "renew " + describe(command.session); }
    std::string operator()(const list& command) const {
        return "list " + describe(command.session) + " after " + std::to_string(command.after);
    }
    std::string operator()(const close& command) const {
        return "close " + describe(command.session) + (command.how == closing::left ? " left" : " gone");
    }
    std::string operator()(const tick&) const { return "tick"; }
    std::string operator()(const revoke& command) const {
        return "revoke " + shortened(command.resource) + " ticket " + std::to_string(command.ticket) + " note " +
               shortened(command.note) + (command.at_once ? " at once" : "");
    }
    std::string operator()(const mend& command) const { return "mend " + shortened(command.resource); }
    std::string operator()(const resize& command) const {
        return "resize " + shortened(command.resource) + " " +
               (command.limit ? std::to_string(*command.limit) : "auto");
    }
    std::string operator()(const pause& command) const { return "pause until " + describe(command.until); }
};

struct event_words {
    std::string operator()(const granted& event) const {
        std::string text = "granted " + describe(event.request) + " ticket " + std::to_string(event.ticket) +
                           " fence " + std::to_string(event.fence);
        if (!event.slots.empty()) text += " slots " + slots_of(event.slots);
        for (const abandoned_resource& of : event.abandoned)
            text += " abandoned " + of.resource + " by " + describe(of.mark);
        return text;
    }
    std::string operator()(const queued& event) const {
        return "queued " + describe(event.request) + " ticket " + std::to_string(event.ticket);
    }
    std::string operator()(const refused& event) const {
        return "refused " + (event.request ? describe(*event.request) + " " : "") +
               std::string(to_string(event.reason)) + (event.until ? " until " + describe(*event.until) : "");
    }
    std::string operator()(const ended& event) const {
        return "ended " + describe(event.request) + " " + std::string(to_string(event.reason)) + " fence " +
               std::to_string(event.fence);
    }
    std::string operator()(const session_lost& event) const { return "session_lost " + describe(event.session); }
    std::string operator()(const alive& event) const {
        return "alive " + describe(event.session) + " until " + describe(event.deadline) + " count " +
               std::to_string(event.count) + " digest " + std::to_string(event.digest) +
               (event.settled ? "" : " unsettled");
    }
    std::string operator()(const listed& event) const {
        return "listed " + describe(event.session) + " after " + std::to_string(event.after) + " [" +
               joined(event.requests,
                      [](const request_state& state) {
                          return "(" + std::to_string(state.number) + " ticket " + std::to_string(state.ticket) +
                                 " fence " + std::to_string(state.fence) +
                                 (state.revoked ? " revoked at " + describe(*state.revoked) : "") + ")";
                      }) +
               "]" + (event.more ? " and more" : "");
    }
    std::string operator()(const closed& event) const { return "closed " + describe(event.session); }
    std::string operator()(const revoking& event) const {
        return "revoking " + describe(event.request) + " note " + shortened(event.note) + " until " +
               describe(event.deadline);
    }
    std::string operator()(const mended& event) const {
        return "mended " + event.resource + " of " + describe(event.mark);
    }
    std::string operator()(const resized& event) const {
        return "resized " + event.resource + " " + (event.limit ? std::to_string(*event.limit) : "auto");
    }
    std::string operator()(const paused& event) const { return "paused until " + describe(event.until); }
};

}  // namespace

std::string describe(const session_id& session) {
    if (session.high < 1 || session.high > 26)
        return "?" + std::to_string(session.high) + ":" + std::to_string(session.low);
    return std::string(1, static_cast<char>('A' + session.high - 1)) + std::to_string(session.low);
}

std::string describe(const request_id& request) {
    return describe(request.session) + "." + std::to_string(request.number);
}

std::string describe(const claim& claim) {
    const auto known = index_of(claim.mode) < mode_count;
    std::string text = (known ? std::string(rule_of(claim.mode).name) : "?") + " " + shortened(claim.resource);
    if (claim.permits != 0 || claim.limit != 0)
        text += " " + std::to_string(claim.permits) + "/" + std::to_string(claim.limit);
    return text;
}

std::string describe(const mark& mark) {
    return shortened(mark.label) + " fence " + std::to_string(mark.fence) + " at " + describe(mark.at) + " count " +
           std::to_string(mark.count);
}

std::string describe(instant at) { return std::to_string(at.time_since_epoch().count()); }

std::string describe(duration length) { return std::to_string(length.count()) + "us"; }

std::string describe(const command& command) { return std::visit(command_words{}, command); }

std::string describe(const event& event) { return std::visit(event_words{}, event.what); }

std::string describe(const step& step) {
    const std::string at = "at " + describe(step.at) + "  ";
    if (const auto* lost = std::get_if<restart>(&step.what))
        return at + "RESTART with the first " + std::to_string(lost->kept) + " commands";
    return at + describe(std::get<command>(step.what));
}

std::string describe(const engine_options& options) {
    return "max_ttl " + std::to_string(options.max_ttl.count()) + "ms, budget " +
           (options.budget ? std::to_string(*options.budget) : "none") + ", ended ids " +
           std::to_string(options.ended_ids);
}

}  // namespace baton::sim
