#include "difference.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "compare.hpp"
#include "describe.hpp"
#include "engine/engine_host.hpp"
#include "engine/inspect.hpp"
#include "schedule.hpp"
#include "shrink_plan.hpp"

namespace baton::redis {
namespace {

using namespace core;

/// The schedules' names are single letters; these names are hard for a parser.
void make_awkward(std::string& name) {
    using namespace std::string_literals;
    static const std::array awkward{"a"s, "b\0:\r\n"s, std::string(300, 'c'), "\xff\xfe"s, "5:e"s};
    if (name.size() == 1 && name[0] >= 'a' && name[0] <= 'e')
        name = awkward.at(static_cast<std::size_t>(name[0] - 'a'));
}
void make_awkward(claim_list& claims) {
    std::vector<claim> list{claims.begin(), claims.end()};
    for (claim& claim : list) make_awkward(claim.resource);
    claims = std::move(list);
}

/// The command with the hard names; a pause without end gets the largest time that a call can contain.
command as_played(command command) {
    if (auto* asked = std::get_if<pause>(&command))
        asked->until = std::min(asked->until, instant{duration{static_cast<std::int64_t>(bounds::number - 1)}});
    if (auto* asked = std::get_if<enter>(&command)) make_awkward(asked->claims);
    if (auto* asked = std::get_if<revoke>(&command)) make_awkward(asked->resource);
    if (auto* asked = std::get_if<mend>(&command)) make_awkward(asked->resource);
    if (auto* asked = std::get_if<resize>(&command)) make_awkward(asked->resource);
    if (auto* asked = std::get_if<core::open>(&command))
        for (live_request& live : asked->live) {
            make_awkward(live.claims);
            for (claim_slots& slots : live.slots) make_awkward(slots.resource);
        }
    return command;
}

/// The event as viewers receive it, without session ids.
event without_session(event event) {
    std::visit(
        [](auto& what) {
            if constexpr (requires { what.session; })
                what.session = {};
            else if constexpr (requires { what.request->session; }) {
                if (what.request) what.request->session = {};
            } else if constexpr (requires { what.request.session; })
                what.request.session = {};
        },
        event.what);
    return event;
}

/// Requests with the same ticket, which only reclaims can create, have no order in the library.
void put_in_order(snapshot& state) {
    std::ranges::sort(state.requests, {}, [](const request_view& view) {
        return std::tuple(view.ticket, view.label, view.claims.empty() ? "" : view.claims[0].resource);
    });
}

/// The short path of a hand-off admits one claim and sees that the next does not fit: with a budget of 1 that would be
/// owed.
engine_options at_least_two(engine_options options) {
    if (options.budget) options.budget = std::max(2U, *options.budget);
    return options;
}

class pair_of_engines {
public:
    pair_of_engines(library_side& scripts, const engine_options& options)
        : scripts_{scripts}, options_{at_least_two(options)} {
        start();
    }

    std::optional<std::string> perform(const sim::step& step) {
        events_.clear();
        if (const auto* lost = std::get_if<sim::restart>(&step.what)) return restart_with(lost->kept);
        return perform(as_played(std::get<command>(step.what)), step.at);
    }

    /// All sessions close: then no state may remain.
    std::optional<std::string> clean_up(instant at) {
        for (const session_id& session : senders_)
            if (auto wrong = perform(close{session, closing::left}, at)) return wrong;
        for (const std::string& name : names_) {
            if (auto wrong = perform(resize{name, {}}, at)) return wrong;
            if (auto wrong = perform(mend{name}, at)) return wrong;
        }
        // The remaining work waits for the end of a pause, or for a budget.
        for (int i = 0; i < 1'000 && engine_->next_due(at); ++i) {
            at = std::max(at, *engine_->next_due(at));
            if (auto wrong = perform(tick{}, at)) return wrong;
        }
        for (const std::string& name : names_)
            if (auto wrong = perform(mend{name}, at)) return wrong;
        if (!engine_->idle()) return "the engine is not idle when all have left";
        if (const auto left = scripts_.remains(); !left.empty()) return "this remains in the server: " + left.front();
        return {};
    }

    [[nodiscard]] const std::vector<event>& events() const { return events_; }
    [[nodiscard]] std::size_t log_size() const { return log_.size(); }
    [[nodiscard]] std::optional<instant> next_due(instant now) const { return engine_->next_due(now); }

private:
    struct entry {
        core::command command;
        instant at;
    };

    void start() {
        engine_ = std::make_unique<engine>(options_);
        scripts_.start(options_);
    }

    std::optional<std::string> restart_with(std::size_t kept) {
        start();
        auto log = std::exchange(log_, {});
        log.resize(std::min(kept, log.size()));
        for (const entry& written : log)
            if (auto wrong = perform(written.command, written.at)) return "when played again: " + *wrong;
        events_.clear();
        return {};
    }

    std::optional<std::string> perform(const command& command, instant at) {
        log_.push_back({command, at});
        note(command);
        events_ = engine_->apply(command, at);
        note_label(command);
        const session_id sender = sender_of(command);
        const auto expected = engine_host::sort(events_, std::holds_alternative<tick>(command) ? nullptr : &sender);
        auto found = scripts_.apply(command, at);
        if (!found.error.empty()) return found.error;
        if (auto wrong = sim::difference(expected.reply, found.reply.events)) return "in the reply " + *wrong;
        std::map<session_id, std::vector<event>> notices;
        for (const auto& [session, event] : expected.notices) notices[session].push_back(event);
        for (const auto& [session, heard] : found.notices) notices.try_emplace(session);
        for (const auto& [session, told] : notices)
            if (auto wrong = sim::difference(told, found.notices[session])) return "in the notices " + *wrong;
        if (found.watched) {
            std::vector<event> seen;
            for (const event& event : events_) seen.push_back(without_session(event));
            if (auto wrong = sim::difference(seen, *found.watched)) return "on the viewers' channel " + *wrong;
        }
        if (auto wrong = wrong_head(found.reply.head, at)) return wrong;
        if (!found.state) return {};
        snapshot state = inspect(*engine_, {}, at);
        put_in_order(state);
        put_in_order(*found.state);
        if (auto wrong = sim::difference(state, *found.state)) return wrong;
        return wrong_place(found.reply, state, sender);
    }

    /// `due` is never too late, and is in the past only if the engine has overdue work as well.
    [[nodiscard]] std::optional<std::string> wrong_head(const reply_head& head, instant at) const {
        if (head.at != at) return "the time in the reply is another";
        const auto due = engine_->next_due(at);
        if (due && (!head.due || *head.due > *due))
            return "`due` in the reply is too late: " + (head.due ? sim::describe(*head.due) : std::string{"no time"}) +
                   " and not " + sim::describe(*due);
        if (head.due && *head.due <= at && (!due || *due > at))
            return "the reply says that something is due, and is not";
        return {};
    }

    /// The number of claims ahead in the reply to `enter`, on the resource with the fewest. For a request that waits on
    /// many resources it may be 0. A ticket alone does not identify a request, since a reclaim may bring it in twice on
    /// different resources; in these schedules the label of the session does, unless one session has both.
    [[nodiscard]] std::optional<std::string> wrong_place(const function_reply& reply, const snapshot& state,
                                                         const session_id& sender) const {
        const auto label = labels_.find(sender);
        if (label == labels_.end()) return {};  // it never opened, so it has no waiting request
        std::set<serial> tickets;
        for (const event& event : reply.events) {
            if (const auto* told = std::get_if<queued>(&event.what)) tickets.insert(told->ticket);
        }
        constexpr std::size_t looked_up = 8;
        std::optional<std::uint64_t> fewest;
        std::multiset<std::uint64_t> positions;
        bool many = tickets.size() > looked_up;
        for (const request_view& request : state.requests) {
            if (request.label != label->second || !tickets.contains(request.ticket)) continue;
            const auto ahead = fewest_ahead(request, state);
            if (ahead) fewest = std::min(fewest.value_or(*ahead), *ahead);
            if (ahead) positions.insert(*ahead);
            many = many || request.claims.size() > looked_up || !ahead;
        }
        if (!fewest || reply.ahead == fewest || (many && reply.ahead == 0U)) return {};
        if (positions.size() > tickets.size() && reply.ahead && positions.contains(*reply.ahead)) return {};
        return "the reply has another queue position: " + (reply.ahead ? std::to_string(*reply.ahead) : "none") +
               " and not " + std::to_string(*fewest);
    }

    /// The number of claims ahead of a request, on the resource with the fewest; none if no claim of it waits.
    [[nodiscard]] static std::optional<std::uint64_t> fewest_ahead(const request_view& request, const snapshot& state) {
        std::optional<std::uint64_t> fewest;
        for (const claim& wanted : request.claims) {
            const auto resource = std::ranges::find(state.resources, wanted.resource, &resource_view::name);
            if (resource == state.resources.end()) continue;
            std::uint64_t ahead = 0;
            for (const claim_view& claim : resource->queue) {
                if (claim.admitted) continue;
                if (claim.ticket == request.ticket) fewest = std::min(fewest.value_or(ahead), ahead);
                ++ahead;
            }
        }
        return fewest;
    }

    void note(const command& command) {
        if (const session_id sender = sender_of(command); sender != session_id{}) senders_.insert(sender);
        if (const auto* asked = std::get_if<resize>(&command)) add_name(asked->resource);
        if (const auto* asked = std::get_if<enter>(&command))
            for (const claim& claim : asked->claims) add_name(claim.resource);
        if (const auto* asked = std::get_if<core::open>(&command))
            for (const live_request& live : asked->live)
                for (const claim& claim : live.claims) add_name(claim.resource);
    }
    /// Malformed commands have other labels, and are refused.
    void note_label(const command& command) {
        const auto is_alive = [](const event& event) { return std::holds_alternative<alive>(event.what); };
        if (const auto* asked = std::get_if<core::open>(&command); asked && std::ranges::any_of(events_, is_alive))
            labels_[asked->session] = asked->label;
    }
    void add_name(const std::string& name) {
        if (!name.empty() && name.size() <= bounds::name) names_.insert(name);
    }

    library_side& scripts_;
    engine_options options_;
    std::unique_ptr<engine> engine_;
    std::vector<entry> log_;
    std::vector<event> events_;
    std::set<session_id> senders_;
    std::set<std::string> names_;
    std::map<session_id, std::string> labels_;
};

}  // namespace

std::optional<difference_found> play(library_side& scripts, const sim::plan& plan) {
    pair_of_engines both{scripts, plan.options};
    for (std::size_t index = 0; index < plan.steps.size(); ++index)
        if (auto wrong = both.perform(plan.steps[index])) return difference_found{index, *wrong};
    if (plan.steps.empty()) return {};
    if (auto wrong = both.clean_up(plan.steps.back().at)) return difference_found{plan.steps.size() - 1, *wrong};
    return {};
}

std::optional<difference_found> play_seed(library_side& scripts, std::uint64_t seed, std::size_t steps,
                                          sim::plan& ran) {
    sim::schedule schedule(seed);
    ran = {schedule.options(), {}};
    pair_of_engines both{scripts, schedule.options()};
    instant now{};
    for (std::size_t index = 0; index < steps; ++index) {
        const sim::step& step = ran.steps.emplace_back(schedule.next(both.next_due(now)));
        now = step.at;
        if (auto wrong = both.perform(step)) return difference_found{index, *wrong};
        schedule.observe(step, both.events(), both.log_size());
    }
    if (auto wrong = both.clean_up(now)) return difference_found{steps - 1, "at the end: " + *wrong};
    return {};
}

difference_found shrink(library_side& scripts, sim::plan& failing, difference_found found) {
    return sim::shrink_plan(failing, std::move(found), std::chrono::seconds{30},
                            [&scripts](const sim::plan& tried) { return play(scripts, tried); });
}

}  // namespace baton::redis
