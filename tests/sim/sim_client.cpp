#include "sim_client.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

namespace baton::sim {

using namespace core;

namespace {

constexpr std::size_t past_kept = 4;

live_request presented(std::uint64_t number, const believed_request& request, instant now) {
    live_request live;
    live.number = number;
    live.claims = request.claims;
    live.ticket = request.ticket;
    live.fence = request.fence;
    live.slots = request.slots;
    live.hold = request.hold;
    if (live.fence != 0 && live.hold) {
        const duration held = std::max(duration{0}, now - request.granted_at);
        live.hold = std::max(bounds::shortest_hold, *live.hold - held);
    }
    return live;
}

}  // namespace

void sim_client::receive(const event& event) {
    if (const auto* grant = std::get_if<granted>(&event.what)) {
        const auto found = requests_.find(grant->request.number);
        if (found == requests_.end()) return;
        found->second.ticket = grant->ticket;
        found->second.fence = grant->fence;
        found->second.slots = grant->slots;
        found->second.granted_at = event.at;
    } else if (const auto* waits = std::get_if<queued>(&event.what)) {
        if (const auto found = requests_.find(waits->request.number); found != requests_.end())
            found->second.ticket = waits->ticket;
    } else if (const auto* end = std::get_if<ended>(&event.what)) {
        forget(end->request.number);
    } else if (const auto* no = std::get_if<refused>(&event.what)) {
        if (no->reason == refusal::unknown_session)
            lost_ = true, open_ = false;
        else if (no->request && no->reason != refusal::claims_differ)
            requests_.erase(no->request->number);
    } else if (std::holds_alternative<session_lost>(event.what) || std::holds_alternative<closed>(event.what)) {
        lost_ = true;
        open_ = false;
    } else if (std::holds_alternative<alive>(event.what)) {
        open_ = true;
    } else if (const auto* page = std::get_if<listed>(&event.what)) {
        for (const request_state& state : page->requests)
            if (!requests_.contains(state.number)) strangers_.push_back(state.number);
    }
}

void sim_client::forget(std::uint64_t number) {
    const auto found = requests_.find(number);
    if (found == requests_.end()) return;
    past_.emplace_back(number, std::move(found->second));
    if (past_.size() > past_kept) past_.pop_front();
    requests_.erase(found);
}

std::optional<std::uint64_t> sim_client::take_stranger() {
    if (strangers_.empty()) return {};
    const std::uint64_t number = strangers_.back();
    strangers_.pop_back();
    return number;
}

request_id sim_client::new_request(const claim_list& claims, std::optional<duration> hold) {
    believed_request request;
    request.claims = claims;
    request.hold = hold;
    requests_[++highest_] = std::move(request);
    return {session_, highest_};
}

open sim_client::connect(dice& dice, instant now, std::chrono::milliseconds max_ttl) {
    // A lost session is replaced; sometimes the client continues to use the lost one for a while.
    if (lost_ && dice.percent(80)) {
        session_.low += 1;
        connection_number_ = highest_ = 0;
        // Waiters keep their queue positions if the client presents them (rule 11).
        const bool keeps_places = dice.percent(75);
        std::erase_if(requests_, [&](const auto& entry) {
            return !keeps_places || entry.second.fence != 0 || entry.second.ticket == 0;
        });
        if (!requests_.empty()) highest_ = requests_.rbegin()->first;
        past_.clear();
        strangers_.clear();
    }
    lost_ = false;
    open_ = true;
    static const std::vector<int> ttls{100, 1'000, 1'000, 5'000, 5'000, 15'000};
    open command;
    command.session = session_;
    command.ttl = std::min(max_ttl, std::chrono::milliseconds{dice.pick(ttls)});
    command.label = std::string(1, static_cast<char>('A' + session_.high - 1)) + "-" + std::to_string(session_.low);
    command.connection_number = ++connection_number_;
    command.highest = highest_;
    command.live = live_list(dice, now);
    return command;
}

std::vector<live_request> sim_client::live_list(dice& dice, instant now) const {
    std::vector<live_request> list;
    for (const auto& [number, request] : requests_)
        if (!dice.percent(3)) list.push_back(presented(number, request, now));
    if (!past_.empty() && dice.percent(15)) {
        const auto& [number, request] = past_[dice.below(past_.size())];
        list.push_back(presented(number, request, now));
    }
    if (list.size() > 1 && dice.percent(20)) std::swap(list.front(), list.back());
    return list;
}

namespace {

// The slots of a grant on free names.
std::vector<claim_slots> lowest_slots(std::span<const claim> claims) {
    std::vector<claim_slots> all;
    for (const claim& claim : claims) {
        if (claim.mode != claim_mode::permits) continue;
        all.push_back({claim.resource, std::vector<slot>(claim.permits)});
        std::iota(all.back().slots.begin(), all.back().slots.end(), slot{0});
    }
    return all;
}

}  // namespace

void forge(dice& dice, std::vector<live_request>& list, const std::vector<serial>& others) {
    if (list.empty()) return;
    live_request& victim = list[dice.below(list.size())];
    switch (dice.below(9)) {
        case 0:
            victim.fence = victim.fence != 0 ? 0 : victim.ticket + 1 + dice.below(100'000);
            victim.slots = lowest_slots(victim.claims);
            break;
        case 1: victim.fence += dice.below(3'000'000); break;
        case 2: victim.ticket = 0; break;
        case 3:
            if (!others.empty()) victim.ticket = dice.pick(others);
            break;
        case 4:
            if (!others.empty()) victim.fence = dice.pick(others);
            break;
        case 5: victim.number += dice.below(3); break;
        case 6: victim.slots.clear(); break;
        case 7:
            if (!victim.claims.empty())
                victim.claims = std::vector<claim>{victim.claims.begin(), victim.claims.end() - 1};
            break;
        default:
            for (claim_slots& of : victim.slots)
                for (slot& number : of.slots) number += 1;
    }
    if (victim.fence == 0) victim.slots.clear();
}

}  // namespace baton::sim
