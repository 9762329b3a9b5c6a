#include "server.hpp"

#include <algorithm>

#include "connection.hpp"
#include "describe.hpp"
#include "world.hpp"

namespace baton::fleet {
namespace {

constexpr std::chrono::seconds wall_clock{1'800'000'000};  // the initial time of the servers' clocks
constexpr std::size_t clock_step_ms = 20;                  // how far a new server's clock may be behind or ahead

std::unique_ptr<core::engine> make_engine(const world& world) {
    core::engine_options options{world.options().max_ttl, world.options().budget};
    if (world.without().ended_ids) options.ended_ids = 0;
    return std::make_unique<core::engine>(options);
}

}  // namespace

server::server(world& world) : world_{world}, clock_{wall_clock, world.draw_drift()} {
    epoch_ = static_cast<baton::epoch>(clock().time_since_epoch().count());
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
    begin_epoch(std::move(kept));
}

void server::go_on() {
    stopped_ = false;
    arm();
}

void server::become_replica(true_time until, std::size_t forgotten) {
    replica_until_ = until;
    log_.resize(log_.size() - std::min(forgotten, log_.size()));
    engine_ = make_engine(world_);
    for (const entry& entry : log_) (void)engine_->apply(entry.command, entry.at);
    if (!log_.empty()) epoch_ = log_.back().epoch;
    replaced_ = true;
    world_.time().at(until, [self = shared_from_this()] { self->arm(); });
}

bool server::is_replica() const { return world_.time().now() < replica_until_; }

void server::notice_replacement() {
    if (!std::exchange(replaced_, false) || world_.without().witness) return;
    world_.log("the server sees that its memory was replaced");
    world_.saw("a server noticed that its memory was replaced");
    begin_epoch(std::move(log_));
}

/// Epochs are not compared by size, because an unrelated server may have a larger one. Within one epoch the counter
/// does not fall behind the numbers that a client has received.
baton::epoch server::handshake(const knowledge& known) {
    notice_replacement();
    if (world_.without().knowledge || known.epoch == 0) return epoch_;
    const bool is_strange = known.epoch != epoch_ && !succeeded_.contains(known.epoch);
    const bool is_behind = known.epoch == epoch_ && known.serial > engine_->last_serial();
    if (is_strange || is_behind) {
        world_.log("a client knows more than the server");
        world_.saw("a client knew more than the server");
        begin_epoch(std::move(log_), known.epoch);
    }
    return epoch_;
}

/// Begins a new, unused epoch with what remains of the old state, and a pause in which every holder of the old epoch
/// presents its leases or stops believing in them.
void server::begin_epoch(std::vector<entry> log, baton::epoch above) {
    engine_ = make_engine(world_);
    for (const entry& entry : log) (void)engine_->apply(entry.command, entry.at);
    // A server that lost everything has also lost the list of earlier epochs.
    if (log.empty()) succeeded_.clear();
    for (const entry& entry : log) succeeded_.insert(entry.epoch);
    if (above != 0) succeeded_.insert({above, epoch_});
    const baton::epoch remembered = std::max({log.empty() ? 0 : log.back().epoch, above, above == 0 ? 0 : epoch_});
    epoch_ = std::max(remembered + 1, static_cast<baton::epoch>(clock().time_since_epoch().count()));
    log_ = std::move(log);
    listeners_.clear();
    world_.judge().epoch_began(epoch_);
    const removed& removed = world_.without();
    if (removed.pause) return;
    const micros length = removed.long_pause ? micros{world_.options().max_ttl} / 2
                                             : micros{world_.options().max_ttl + world_.options().lag};
    (void)apply(protocol::pause{clock() + length});
    arm();
}

std::vector<core::event> server::apply(const protocol::command& command) {
    log_.push_back({clock(), command, epoch_});
    return engine_->apply(command, clock());
}

void server::receive(const std::shared_ptr<connection>& from, const packet& packet) {
    if (stopped_) return;
    if (is_replica()) return from->refuse();
    notice_replacement();
    if (packet.epoch != epoch_) return from->answer({packet.tag, epoch_, {}});
    perform(from, packet);
}

void server::perform(const std::shared_ptr<connection>& from, const packet& packet) {
    const core::session_id sender = core::sender_of(packet.command);
    auto events = apply(packet.command);
    if (world_.traced()) {
        world_.log("  " + sim::describe(packet.command));
        for (const auto& event : events) world_.log("    " + sim::describe(event));
    }
    world_.judge().performed(*engine_, epoch_, packet, events, clock());
    const bool alive =
        std::ranges::any_of(events, [](const auto& event) { return std::holds_alternative<core::alive>(event.what); });
    if (std::holds_alternative<protocol::open>(packet.command) && alive) listeners_[sender] = from;
    auto result = core::engine_host::sort(std::move(events), &sender);
    from->answer({packet.tag, epoch_, std::move(result.reply)});
    deliver(std::move(result.notices));
    arm();
}

void server::deliver(std::vector<std::pair<core::session_id, core::event>> notices) {
    for (auto& [session, event] : notices) {
        const auto found = listeners_.find(session);
        if (found == listeners_.end()) continue;
        if (const auto to = found->second.lock()) to->answer({std::nullopt, epoch_, {std::move(event)}});
    }
}

void server::arm() {
    const auto due = engine_->next_due(clock());
    if (!due) return;
    const true_time when = clock_.when(std::max(*due, clock()).time_since_epoch());
    world_.time().at(when, [self = shared_from_this(), timer = ++timer_] {
        if (self->stopped_ || self->is_replica() || timer != self->timer_) return;
        self->notice_replacement();
        auto events = self->apply(protocol::tick{});
        self->world_.judge().performed(*self->engine_, self->epoch_, {0, self->epoch_, protocol::tick{}, 0}, events,
                                       self->clock());
        self->deliver(core::engine_host::sort(std::move(events), nullptr).notices);
        self->arm();
    });
}

}  // namespace baton::fleet
