#include "engine/validate.hpp"

#include <algorithm>
#include <string_view>

#include "protocol/modes.hpp"

namespace baton::core {
namespace {

std::optional<refusal> refusal_of_claim(const claim& claim) {
    if (const auto reason = refusal_of_name(claim.resource)) return reason;
    const bool counts = rule_of(claim.mode).counted;
    const bool in_range = counts ? 1 <= claim.permits && claim.permits <= claim.limit && claim.limit <= bounds::limit
                                 : claim.permits == 0 && claim.limit == 0;
    if (!in_range) return refusal::permits_out_of_range;
    return {};
}

bool names_repeat(std::span<const claim> claims) {
    if (claims.size() == 1) return false;
    std::vector<std::string_view> names;
    names.reserve(claims.size());
    for (const claim& claim : claims) names.emplace_back(claim.resource);
    std::ranges::sort(names);
    return std::ranges::adjacent_find(names) != names.end();
}

std::optional<refusal> refusal_of_claims(std::span<const claim> claims) {
    if (claims.empty()) return refusal::no_claims;
    if (claims.size() > bounds::claims) return refusal::too_many_claims;
    for (const claim& claim : claims)
        if (const auto reason = refusal_of_claim(claim)) return reason;
    if (names_repeat(claims)) return refusal::duplicate_resource;
    return {};
}

std::optional<refusal> refusal_of_number(std::uint64_t number) {
    if (number == 0 || number >= bounds::number) return refusal::number_out_of_range;
    return {};
}

bool are_slots_of(const claim_slots& slots, const claim& claim) {
    return slots.resource == claim.resource && slots.slots.size() == claim.permits &&
           std::ranges::adjacent_find(slots.slots, std::greater_equal<>{}) == slots.slots.end() &&
           slots.slots.back() < bounds::limit;
}

/// A grant lists the slots of each permit claim, in the order of its claims; a waiting request has none.
bool slots_are_whole(const live_request& live) {
    auto next = live.slots.begin();
    if (live.fence != 0) {
        for (const claim& claim : live.claims) {
            if (!rule_of(claim.mode).counted) continue;
            if (next == live.slots.end() || !are_slots_of(*next, claim)) return false;
            ++next;
        }
    }
    return next == live.slots.end();
}

bool is_possible(const live_request& live) {
    if (live.ticket >= bounds::presented || live.fence >= bounds::presented) return false;
    if (live.fence != 0 && (live.ticket == 0 || live.ticket >= live.fence)) return false;
    const duration shortest = live.fence != 0 ? duration{0} : bounds::shortest_hold;
    if (live.hold && (*live.hold < shortest || *live.hold > bounds::longest_hold)) return false;
    return slots_are_whole(live);
}

std::optional<refusal> refusal_of_live(const std::vector<live_request>& live) {
    std::vector<std::uint64_t> numbers;
    for (const live_request& request : live) {
        if (const auto reason = refusal_of_number(request.number)) return reason;
        if (const auto reason = refusal_of_claims(request.claims)) return reason;
        if (!is_possible(request)) return refusal::bad_reclaim;
        numbers.push_back(request.number);
    }
    std::ranges::sort(numbers);
    if (std::ranges::adjacent_find(numbers) != numbers.end()) return refusal::bad_reclaim;
    return {};
}

}  // namespace

std::optional<refusal> refusal_of_name(std::string_view name) {
    if (name.empty()) return refusal::name_empty;
    if (name.size() > bounds::name) return refusal::name_too_long;
    return {};
}

std::optional<refusal> refusal_of(const enter& command) {
    if (const auto reason = refusal_of_number(command.request.number)) return reason;
    if (const auto reason = refusal_of_claims(command.claims)) return reason;
    const auto& hold = command.options.hold_limit;
    if (hold && (*hold < bounds::shortest_hold || *hold > bounds::longest_hold))
        return refusal::hold_limit_out_of_range;
    return {};
}

std::optional<refusal> refusal_of(const open& command, std::chrono::milliseconds max_ttl) {
    if (command.ttl < bounds::shortest_ttl || command.ttl > max_ttl) return refusal::ttl_out_of_range;
    if (command.label.size() > bounds::label) return refusal::label_too_long;
    if (command.highest >= bounds::number) return refusal::number_out_of_range;
    return refusal_of_live(command.live);
}

std::optional<refusal> refusal_of(const revoke& command) {
    if (command.note.size() > bounds::note) return refusal::note_too_long;
    return refusal_of_name(command.resource);
}

std::optional<refusal> refusal_of(const resize& command) {
    if (command.limit && (*command.limit == 0 || *command.limit > bounds::limit)) return refusal::permits_out_of_range;
    return refusal_of_name(command.resource);
}

}  // namespace baton::core
