#include "server.hpp"

#include <algorithm>

#include "connection.hpp"
#include "describe.hpp"
#include "world.hpp"

namespace baton::fleet {
namespace {

constexpr std::chrono::seconds wall_clock{1'800'000'000};  // what servers' clocks show at the beginning
constexpr std::size_t clock_step_ms = 20;                  // by so much a new server's clock may be behind or ahead

std::unique_ptr<core::engine> make_engine(const world& world) {
    core::engine_options options{world.options().max_ttl, world.options().budget};
    if (world.without().ended_ids) options.ended_ids = 0;
    return std::make_unique<core::engine>(options);
}

}  // namespace

server::server(world& world) : world_{world}, clock_{wall_clock, world.draw_drift()} {
    lineage_ = static_cast<baton::lineage>(clock().time_since_epoch().count());
    engine_ = make_engine(world_);
}

core::instant server::clock() const { return core::instant{clock_.reading(world_.time().now())}; }

std::shared_ptr<server> server::successor(forgotten forgotten) const {
    auto next = std::make_shared<server>(world_);
    const micros step = std::chrono::milliseconds{world_.dice().between(0, 2 * clock_step_ms)} -
                        std::chrono::milliseconds{clock_step_ms};
    next->clock_ =
        drifting_clock::showing(clock_.reading(world_.time().now()) + step, world_.time().now(), world_.draw_drift());
    next->log_ = log_;
    next->lose_memory(forgotten);
    return next;
}

void server::lose_memory(forgotten forgotten) {
    std::vector<entry> kept = std::move(log_);
    if (forgotten)
        kept.resize(kept.size() - std::min(*forgotten, kept.size()));
    else
        kept.clear();
    begin_history(std::move(kept));
}

/// A new lineage, which nobody has met, over what is left of the old one; and a pause in which every holder of the old
/// one comes to present its leases, or stops believing in them.
void server::begin_history(std::vector<entry> log) {
    engine_ = make_engine(world_);
    for (const entry& entry : log) (void)engine_->apply(entry.command, entry.at);
    const baton::lineage remembered = log.empty() ? 0 : log.back().lineage;
    lineage_ = std::max(remembered + 1, static_cast<baton::lineage>(clock().time_since_epoch().count()));
    log_ = std::move(log);
    listeners_.clear();
    world_.judge().history_began(lineage_);
    const removed& removed = world_.without();
    if (removed.pause) return;
    const micros length = removed.long_pause ? micros{world_.options().max_ttl} / 2
                                             : micros{world_.options().max_ttl + world_.options().lag};
    (void)apply(protocol::pause{clock() + length});
    arm();
}

std::vector<core::event> server::apply(const protocol::command& command) {
    log_.push_back({clock(), command, lineage_});
    return engine_->apply(command, clock());
}

void server::receive(const std::shared_ptr<connection>& from, const packet& packet) {
    if (stopped_) return;
    if (packet.lineage != lineage_) return from->answer({packet.tag, lineage_, {}});
    perform(from, packet);
}

void server::perform(const std::shared_ptr<connection>& from, const packet& packet) {
    const core::session_id sender = core::sender_of(packet.command);
    auto events = apply(packet.command);
    if (world_.traced()) {
        world_.log("  " + sim::describe(packet.command));
        for (const auto& event : events) world_.log("    " + sim::describe(event));
    }
    world_.judge().performed(*engine_, lineage_, packet, events, clock());
    const bool alive =
        std::ranges::any_of(events, [](const auto& event) { return std::holds_alternative<core::alive>(event.what); });
    if (std::holds_alternative<protocol::open>(packet.command) && alive) listeners_[sender] = from;
    auto outcome = core::engine_host::sort(std::move(events), &sender);
    from->answer({packet.tag, lineage_, std::move(outcome.reply)});
    tell(std::move(outcome.notices));
    arm();
}

void server::tell(std::vector<std::pair<core::session_id, core::event>> notices) {
    for (auto& [session, event] : notices) {
        const auto found = listeners_.find(session);
        if (found == listeners_.end()) continue;
        if (const auto to = found->second.lock()) to->answer({std::nullopt, lineage_, {std::move(event)}});
    }
}

void server::arm() {
    const auto due = engine_->next_due(clock());
    if (!due) return;
    const true_time when = clock_.when(std::max(*due, clock()).time_since_epoch());
    world_.time().at(when, [self = shared_from_this(), timer = ++timer_] {
        if (self->stopped_ || timer != self->timer_) return;
        auto events = self->apply(protocol::tick{});
        self->world_.judge().performed(*self->engine_, self->lineage_, {0, self->lineage_, protocol::tick{}, 0}, events,
                                       self->clock());
        self->tell(core::engine_host::sort(std::move(events), nullptr).notices);
        self->arm();
    });
}

}  // namespace baton::fleet
