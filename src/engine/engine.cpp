// The step: what happens, in which order, when a command is applied.
#include "engine/engine.hpp"

#include <algorithm>
#include <cassert>

#include "engine/check.hpp"
#include "protocol/sender_of.hpp"

namespace baton::core {

engine::engine(engine_options options) : options_{options}, ended_{options.ended_ids} {
    assert(options_.max_ttl >= bounds::shortest_ttl);
    assert(!options_.budget || *options_.budget > 0);
}

// Rule 4: due requests end and owed claims are admitted before the command acts; grants are numbered last. So the step
// never grants a request that its command ends.
void engine::apply(const command& command, instant now, std::vector<event>& events) {
    events.clear();
    events_.swap(events);
    now_ = now;
    allowance_ = options_.budget ? std::int64_t{*options_.budget} : std::numeric_limits<std::int64_t>::max();
    sender_ = sender_of(command);
    const bool pausing = std::holds_alternative<pause>(command);
    const auto act = [this](const auto& each) { perform(each); };

    cut_deadlines();
    if (pausing) std::visit(act, command);  // rule 11: before anything that is due
    forget_ended();
    end_due();
    admit_owed();
    if (!pausing) std::visit(act, command);
    settle();
    ended_.make_room(now_);
    check_now_and_then();
    events_.swap(events);
}

std::vector<event> engine::apply(const command& command, instant now) {
    std::vector<event> events;
    apply(command, now, events);
    return events;
}

std::optional<instant> engine::next_due(instant now) const {
    if (!dying_.empty() || !narrowed_.empty()) return now;
    const due* next = next_ending();
    const std::optional<instant> forget = ended_.last();
    if (owed_.empty() && next == nullptr && !forget) return {};
    if (now < pause_end(now)) return pause_end(now);
    if (!owed_.empty()) return now;
    if (next == nullptr) return forget;
    return std::min(next->at, forget.value_or(next->at));
}

void engine::perform(const tick&) {}

// Rule 8: tickets and fences share one counter. It follows the clock, so that numbers exceed those of earlier epochs
// unless the clock went back.
serial engine::next_serial() {
    const auto clock = std::max<std::int64_t>(0, now_.time_since_epoch().count());
    last_serial_ = std::max(last_serial_ + 1, static_cast<serial>(clock));
    assert(last_serial_ < bounds::number);
    return last_serial_;
}

void engine::check_now_and_then() {
#ifndef NDEBUG
    if (steps_to_check_-- != 0) return;
    assert(!check(*this));
    steps_to_check_ = 0;
    for (const auto& entry : sessions_) steps_to_check_ += entry.second.requests.size();
#endif
}

}  // namespace baton::core
