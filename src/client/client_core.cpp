#include "client/client_core.hpp"

#include <random>

namespace baton::detail {
namespace {

protocol::session_id draw_id() {
    std::random_device random;  // the kernel's
    const auto word = [&random] { return (std::uint64_t{random()} << 32) | random(); };
    return {word(), word()};
}

std::optional<std::chrono::milliseconds> renew_every(const store& store) {
    const auto pace = store.pace();
    return pace ? std::optional{pace->renew_every} : std::nullopt;
}

}  // namespace

client_core::client_core(std::shared_ptr<baton::store> store, client_options options)
    : store_{std::move(store)},
      options_{std::move(options)},
      clock_{store_->clock()},
      session_{{options_.ttl, options_.label, options_.stand_in, renew_every(*store_)}, draw_id} {
    believed_->set(client_time{});
}

client_core::~client_core() = default;

void client_core::start() {
    thread_ = std::thread{[self = shared_from_this()] { self->serve(); }};
    strand_->post([self = shared_from_this()] { self->line_ = self->store_->connect(self); });
}

void client_core::pump() {
    std::vector<tagged_command> batch;
    session_.take_actions(actions_);
    batch.reserve(actions_.size());
    for (action& action : actions_) {
        std::visit(
            [&](auto& what) {
                using What = std::decay_t<decltype(what)>;
                if constexpr (std::is_same_v<What, send>)
                    batch.push_back({what.tag, std::move(what.command)});
                else if constexpr (std::is_same_v<What, reset_line>) {
                    if (line_) line_->reset();
                } else if constexpr (std::is_same_v<What, believe>)
                    believed_->set(what.until);
                else if constexpr (std::is_same_v<What, gone>) {
                    if (auto told = std::exchange(on_gone_, nullptr)) told(what.confirmed);
                } else
                    perform(what);
            },
            action);
    }
    arm(session_.next_wake());
    if (!batch.empty() && line_) line_->send(std::move(batch));
}

void client_core::acquire(acquire_order order, std::function<void(handle)> started, on_acquired done) {
    run([this, order = std::move(order), started = std::move(started), done = std::move(done)](
            session& session, client_time now) mutable {
        std::vector<claim> claims;
        if (options_.observer) claims = order.claims;
        const handle handle = session.acquire(now, std::move(order));
        pending_.emplace(handle, pending{std::move(claims), std::move(done)});
        if (started) started(handle);
    });
}

void client_core::cancel(handle handle, std::error_code why) {
    run([handle, why](session& session, client_time now) { session.cancel(now, handle, why); });
}

void client_core::release(handle handle, protocol::manner manner) {
    run([this, handle, manner](session& session, client_time now) {
        held_.erase(handle);
        session.release(now, handle, manner);
    });
}

void client_core::operate(protocol::command command, on_answer done) {
    run([this, command = std::move(command), done = std::move(done)](session& session, client_time now) mutable {
        answers_.emplace(session.operate(now, std::move(command)), std::move(done));
    });
}

void client_core::inspect(const inspect_filter& filter, std::function<void(std::error_code, snapshot)> done) {
    strand_->post([self = shared_from_this(), filter, done = std::move(done)]() mutable {
        self->line_->inspect(filter, std::move(done));
    });
}

void client_core::perform(acquired& action) {
    auto node = pending_.extract(action.handle);
    auto state = std::make_shared<lease_state>();
    state->client = weak_from_this();
    state->believed = believed_;
    state->handle = action.handle;
    state->clock = clock_;
    state->cap.set(action.cap);
    for (const auto& [resource, mark] : action.grant.abandoned)
        state->abandoned.push_back({resource, mark.label, mark.fence, mark.count});
    state->grant = std::move(action.grant);
    observe([claims = node.mapped().claims, fence = state->grant.fence,
             waited = state->grant.waited](observer& observer) { observer.granted(claims, fence, waited); });
    held_.emplace(action.handle, held{std::move(node.mapped().claims), state, state->grant.fence});
    node.mapped().done({}, std::move(state));
}

void client_core::perform(not_acquired& action) {
    auto node = pending_.extract(action.handle);
    observe([claims = node.mapped().claims, error = action.error](observer& observer) {
        observer.not_granted(claims, error);
    });
    node.mapped().done(action.error, nullptr);
}

void client_core::perform(const capped& action) {
    const auto found = held_.find(action.handle);
    if (found == held_.end()) return;
    if (const auto state = found->second.state.lock()) state->cap.set(action.cap);
}

void client_core::perform(const lost& action) {
    const auto found = held_.find(action.handle);
    if (found == held_.end()) return;
    observe([claims = found->second.claims, fence = found->second.fence, reason = action.reason](observer& observer) {
        observer.lost(claims, fence, reason);
    });
    if (const auto state = found->second.state.lock()) {
        state->note = action.note;  // before the reason: see lease::lost_note
        state->reason = action.reason;
        if (action.over) state->over = true;
        call_back([state] { state->lost.give(); });
    }
    if (action.over) held_.erase(found);
}

void client_core::perform(operated& action) {
    auto node = answers_.extract(action.tag);
    if (!node) return;
    node.mapped()(action.error, std::move(action.events));
}

void client_core::perform(const observed& action) {
    const auto found = pending_.find(action.handle);
    std::vector<claim> claims = found == pending_.end() ? std::vector<claim>{} : found->second.claims;
    observe([what = action.what, claims = std::move(claims)](observer& observer) {
        switch (what) {
            case observed::what::queued: return observer.queued(claims);
            case observed::what::unsure: return observer.unsure();
            case observed::what::reconnected: return observer.reconnected();
            case observed::what::session_replaced: return observer.session_replaced();
            case observed::what::reconnecting: return;
        }
    });
}

void client_core::observe(std::function<void(observer&)> what) {
    if (!options_.observer) return;
    call_back([observer = options_.observer, what = std::move(what)] { what(*observer); });
}

void client_core::up(lineage lineage) noexcept {
    run([lineage](session& session, client_time now) { session.line_up(now, lineage); });
}

void client_core::down(std::error_code why) noexcept {
    observe([why](observer& observer) { observer.reconnecting(why); });
    run([why](session& session, client_time now) { session.line_down(now, why); });
}

void client_core::replied(command_tag tag, lineage lineage, std::vector<protocol::event> events) noexcept {
    run([tag, lineage, events = std::move(events)](session& session, client_time now) {
        session.reply(now, tag, lineage, events);
    });
}

void client_core::failed(command_tag tag, command_failure how, std::error_code why) noexcept {
    observe([why](observer& observer) { observer.store_error(why, {}); });
    run([tag, how, why](session& session, client_time now) { session.reply_failed(now, tag, how, why); });
}

void client_core::noticed(lineage lineage, protocol::event event) noexcept {
    run([lineage, event = std::move(event)](session& session, client_time now) {
        session.notice(now, lineage, event);
    });
}

}  // namespace baton::detail
