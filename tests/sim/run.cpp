#include "run.hpp"

#include <algorithm>
#include <ostream>
#include <utility>
#include <variant>

#include "circles.hpp"
#include "compare.hpp"
#include "describe.hpp"
#include "engine/check.hpp"
#include "engine/inspect.hpp"
#include "schedule.hpp"

namespace baton::sim {

using namespace core;

world::world(const engine_options& options, duration model_early) : options_(options), model_early_(model_early) {
    start_over();
}

void world::start_over() {
    engine_ = std::make_unique<engine>(options_);
    model_ = std::make_unique<naive_model>(options_, model_early_);
    history_ = history{options_};
    highest_fence_ = 0;
}

std::optional<std::string> world::perform(const step& step, coverage* seen) {
    events_.clear();
    if (const auto* lost = std::get_if<restart>(&step.what)) {
        if (seen != nullptr)
            seen->count(lost->kept == 0 ? situation::restart_without_state : situation::restart_with_older_state);
        return restart_with(lost->kept);
    }
    return perform(std::get<command>(step.what), step.at, seen);
}

// The same commands must give the same events again: the engine has no other inputs.
std::optional<std::string> world::restart_with(std::size_t kept) {
    start_over();
    log_.resize(std::min(kept, log_.size()));
    for (const entry& written : log_) {
        if (const auto wrong = difference(engine_->apply(written.command, written.at), written.events))
            return "the same commands gave other events (\"model\": the first time): " + *wrong;
        (void)model_->apply(written.command, written.at);
        (void)history_.observe(written.command, written.at, written.paused, written.events);
    }
    return std::nullopt;
}

std::optional<std::string> world::perform(const command& command, instant at, coverage* seen) {
    const auto due = engine_->next_due(at);
    events_ = engine_->apply(command, at);
    if (auto wrong = difference(events_, model_->apply(command, at))) return wrong;
    const snapshot state = inspect(*engine_, {}, at);
    if (auto wrong = difference(state, model_->take_snapshot(at))) return wrong;
    if (auto wrong = wrong_circles(state)) return wrong;
    if (auto wrong = check(*engine_)) return "an invariant is violated: " + *wrong;
    if (auto wrong = history_.observe(command, at, state.paused_until.has_value(), events_)) return wrong;
    if (auto wrong = check_due(command, at, due)) return wrong;
    log_.push_back({command, at, state.paused_until.has_value(), events_});
    if (seen != nullptr) count(command, state, *seen);
    return std::nullopt;
}

// A host sleeps until `next_due`: an earlier tick must find nothing to do, and after a tick nothing may be due.
std::optional<std::string> world::check_due(const command& command, instant at, std::optional<instant> expected) const {
    if (!std::holds_alternative<tick>(command)) return std::nullopt;
    if ((!expected || *expected > at) && !events_.empty()) return "a tick found something to do before it was due";
    if (const auto next = engine_->next_due(at); next && *next <= at && !options_.budget)
        return "something is still due after a tick";
    return std::nullopt;
}

// Counts situations that are visible in commands, events and state together.
void world::count(const command& command, const snapshot& state, coverage& seen) {
    seen.count(command);
    const auto granted_in_state = [&](serial ticket) {
        return std::ranges::any_of(state.requests,
                                   [&](const request_view& view) { return view.ticket == ticket && view.fence != 0; });
    };
    const auto ended_in_step = [&](const request_id& id) {
        return std::ranges::any_of(events_, [&](const event& each) {
            const auto* end = std::get_if<ended>(&each.what);
            return end != nullptr && end->request == id;
        });
    };
    if (const auto* lists = std::get_if<list>(&command); lists != nullptr && lists->after > 0)
        seen.count(situation::list_after_a_number);
    for (const event& event : events_) {
        seen.count(event);
        if (const auto* grant = std::get_if<granted>(&event.what)) {
            const auto* asked = std::get_if<enter>(&command);
            if (grant->fence <= highest_fence_)
                seen.count(situation::grant_reported_again);
            else if (asked == nullptr || asked->request != grant->request)
                seen.count(situation::granted_from_queue);
            highest_fence_ = std::max(highest_fence_, grant->fence);
        } else if (const auto* no = std::get_if<refused>(&event.what)) {
            const auto* opened = std::get_if<open>(&command);
            if (opened != nullptr && opened->live.empty() && no->reason == refusal::unknown_session)
                seen.count(situation::ended_id_refused);
        } else if (const auto* waits = std::get_if<queued>(&event.what)) {
            if (granted_in_state(waits->ticket)) seen.count(situation::grant_hidden);
        } else if (const auto* wish = std::get_if<revoking>(&event.what)) {
            const auto* renewed = std::get_if<renew>(&command);
            if (renewed != nullptr && renewed->session == wish->request.session) seen.count(situation::event_repeated);
        } else if (std::holds_alternative<alive>(event.what)) {
            const auto* opened = std::get_if<open>(&command);
            if (opened == nullptr) continue;
            for (const live_request& live : opened->live) {
                if (!state.paused_until)
                    seen.count(situation::listed_outside_pause);
                else if (!ended_in_step({opened->session, live.number}))
                    seen.count(live.fence != 0 ? situation::granted_reclaimed : situation::waiting_reclaimed);
            }
        }
    }
    if (state.paused_until)
        seen.count(situation::step_in_pause);
    else if (const auto next = engine_->next_due(state.at); next && *next <= state.at)
        seen.count(situation::step_that_owes);
    if (!state.circles.empty()) seen.count(situation::circle);
}

// ---- running ----

std::optional<failure> run_seed(std::uint64_t seed, const run_options& options, coverage& seen, plan& ran) {
    schedule schedule(seed);
    ran = {schedule.options(), {}};
    world world(schedule.options(), options.model_early);
    instant now{};
    for (std::size_t index = 0; index < options.steps; ++index) {
        if (options.progress != nullptr) *options.progress = index;
        const step& step = ran.steps.emplace_back(schedule.next(world.next_due(now)));
        if (options.stop_before == index) return std::nullopt;
        if (step.at < now) seen.count(situation::clock_went_back);
        now = step.at;
        if (options.trace != nullptr) *options.trace << index << "  " << describe(step) << std::endl;
        const auto wrong = world.perform(step, &seen);
        if (options.trace != nullptr)
            for (const event& event : world.events()) *options.trace << "       " << describe(event) << std::endl;
        if (wrong) return failure{index, *wrong};
        schedule.observe(step, world.events(), world.log_size());
    }
    return std::nullopt;
}

std::optional<failure> replay(const plan& plan, const run_options& options) {
    world world(plan.options, options.model_early);
    for (std::size_t index = 0; index < plan.steps.size(); ++index) {
        if (options.progress != nullptr) *options.progress = index;
        if (const auto wrong = world.perform(plan.steps[index], nullptr)) return failure{index, *wrong};
    }
    return std::nullopt;
}

}  // namespace baton::sim
