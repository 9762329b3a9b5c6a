#include "client/client_core.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "base/process_wide.hpp"
#include "baton/error.hpp"
#include "client/blocked_caller.hpp"

namespace baton::detail {
namespace {

protocol::session_id draw_id() {
    std::random_device random;  // the kernel's
    const auto word = [&random] { return (std::uint64_t{random()} << 32) | random(); };
    return {word(), word()};
}

session_options options_of(const store& store, const client_options& options,
                           std::shared_ptr<backup_renewer> backup_renewer) {
    const auto pace = store.pace();
    session_options made{options.ttl, options.label, std::move(backup_renewer)};
    if (pace) made.renew_every = pace->renew_every;
    made.names_own_blockers = options.observer != nullptr;
    made.fails_unavailable = options.if_unavailable.value_or(store.if_unavailable()) == if_unavailable::fail;
    return made;
}

operation_owner make_operation_owner(on_operated done) {
    return std::make_shared<pending_operation>(pending_operation{std::move(done), std::nullopt});
}

operated closed() { return {.operation = 0, .owner = nullptr, .error = {errc::closed}}; }

}  // namespace

client_core::client_core(std::shared_ptr<baton::store> store, client_options options,
                         std::shared_ptr<backup_renewer> backup_renewer)
    : options_{std::move(options)},
      backup_renewer_{backup_renewer},
      clock_{store->clock()},
      threads_{process_wide<callback_threads>()},
      loss_threads_{process_wide<loss_threads>()},
      callbacks_{std::make_shared<callback_queue>(threads_)},
      losses_{std::make_shared<callback_queue>(loss_threads_)},
      session_{options_of(*store, options_, std::move(backup_renewer)), draw_id},
      store_{std::move(store)},
      loop_{process_wide<event_loop>()} {
    believed_->set(client_time{});
}

client_core::~client_core() = default;

void client_core::start() {
    timer_.emplace(*loop_, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->time_passed();
    });
    {
        // Effects of calls that the store makes within `connect` wait until `connection_` is set.
        const std::lock_guard lock{mutex_};
        performing_ = true;
        performer_ = std::this_thread::get_id();
    }
    connection_ = store_->connect(weak_from_this());
    const input in{*this};
    performing_ = false;
}

void client_core::time_passed() {
    const input in{*this};
    if (!in) return;
    armed_ = never;
    in->wake(now());
}

client_core::input::input(client_core& core) : core_{core}, lock_{core.mutex_} {
    if (core_.shut_) lock_.unlock();
}

/// Performs the effects. The program ends here if memory or threads for an effect are missing: it could not recover.
client_core::input::~input() {
    if (!*this) return;
    core_.session_.take_actions(core_.effects_);
    if (core_.performing_) return;
    core_.performing_ = true;
    core_.performer_ = std::this_thread::get_id();
    while (!core_.effects_.empty()) {
        core_.performed_now_.swap(core_.effects_);
        lock_.unlock();
        for (action& effect : core_.performed_now_) std::visit([this](auto& what) { core_.perform(what); }, effect);
        core_.performed_now_.clear();
        core_.send_outgoing();
        lock_.lock();
    }
    core_.arm();
    core_.performing_ = false;
    core_.performer_ = {};
    if (core_.shut_) core_.performed_.notify_all();
    core_.notify_decided(lock_);
}

/// Usually there is one listener; then the vector keeps its memory.
void client_core::notify_decided(std::unique_lock<std::mutex>& lock) {
    if (decided_.empty()) return;
    const auto loop = loop_;  // a listener may destroy the client, which must not destroy the loop that runs us
    const decided last = std::move(decided_.back());
    decided_.pop_back();
    std::vector<decided> others;
    if (!decided_.empty()) others.swap(decided_);
    lock.unlock();
    for (const decided& each : others) each.listener->acquired(each.lease, each.error);
    last.listener->acquired(last.lease, last.error);
}

/// The timer only moves to earlier times; when it fires too early, it is set again.
void client_core::arm() {
    const auto next = session_.next_wake();
    if (!next || armed_ <= *next || shut_) return;
    armed_ = *next;
    timer_->set_after(armed_ - now());
}

void client_core::send_outgoing() {
    if (outgoing_.empty()) return;
    try {
        if (connection_) connection_->send(outgoing_);
    } catch (const std::exception& failure) {
        connection_threw(failure.what());
    } catch (...) {
        connection_threw("the store threw something");
    }
    outgoing_.clear();
}

/// The commands may or may not be sent, as after a broken connection.
void client_core::connection_threw(const char* what) {
    down({errc::store_unavailable, what});
    perform(reset_connection{});
}

void client_core::perform(const reset_connection&) {
    const auto failed = [this](const char* what) {
        if (const input in{*this}) in->reset_failed(now(), {errc::store_unavailable, what});
    };
    try {
        if (connection_) connection_->reset();
    } catch (const std::exception& failure) {
        failed(failure.what());
    } catch (...) {
        failed("the store threw something");
    }
}

void client_core::perform(const detail::inspect& effect) {
    send_outgoing();  // the snapshot shows the effect of earlier commands
    const auto done = [weak = weak_from_this(), effect](store_error error, snapshot seen) {
        if (const auto self = weak.lock())
            self->inspected(effect.operation, effect.owner, std::move(error), std::move(seen));
    };
    try {
        if (connection_) connection_->inspect(effect.owner->filter, done);
    } catch (const std::exception& failure) {
        done({errc::store_unavailable, failure.what()}, {});
    } catch (...) {
        done({errc::store_unavailable, "the store threw something"}, {});
    }
}

void client_core::inspected(operation which, const operation_owner& owner, store_error error, snapshot seen) {
    std::unique_lock lock{mutex_};
    const auto loop = loop_;  // the callback may destroy the client, which must not destroy the loop that runs us
    const bool open = session_.inspected(which);
    lock.unlock();
    if (open) (*owner->seen)(std::move(error), std::move(seen));
}

void client_core::perform(acquired& effect) {
    const std::shared_ptr<lease_state>& state = effect.owner;
    state->handle = effect.handle;
    state->cap.set(effect.cap);
    for (const auto& [resource, mark] : effect.grant.abandoned)
        state->abandoned.push_back({resource, mark.label, mark.fence, mark.count});
    state->grant = std::move(effect.grant);
    if (options_.observer)
        observe(
            [state](observer& observer) { observer.granted(state->claims, state->grant.fence, state->grant.waited); });
    decided_.push_back({std::exchange(state->listener, nullptr), state, {}});
}

void client_core::perform(not_acquired& effect) {
    if (options_.observer)
        observe([state = effect.owner, error = effect.error](observer& observer) {
            observer.not_granted(state->claims, error.code, error.text);
        });
    decided_.push_back({std::exchange(effect.owner->listener, nullptr), nullptr, std::move(effect.error)});
}

void client_core::perform(const capped& effect) { effect.owner->cap.set(effect.cap); }

void client_core::perform(const lost& effect) {
    const std::shared_ptr<lease_state>& state = effect.owner;
    state->note = effect.note;  // before the reason: see lease::lost_note
    state->reason = effect.reason;
    if (effect.over) state->over = true;
    losses_->push([state] { state->lost.give(); });
    if (options_.observer)
        observe([state, reason = effect.reason](observer& observer) {
            observer.lost(state->claims, state->grant.fence, reason);
        });
}

void client_core::perform(released& effect) {
    if (auto done = std::exchange(effect.owner->on_released, std::nullopt)) (*done)(effect.confirmed);
}

void client_core::perform(operated& effect) {
    const operation_owner operation = effect.owner;
    if (operation->seen)
        (*operation->seen)(std::move(effect.error), {});
    else
        (*operation->done)(std::move(effect));
}

void client_core::perform(const keep_elsewhere& effect) {
    call_back([backup_renewer = backup_renewer_, effect] { backup_renewer->keep(effect.session, effect.epoch); });
}

void client_core::perform(const observed& effect) {
    if (!options_.observer) return;
    observe([effect](observer& observer) {
        switch (effect.what) {
            case observed::what::queued: return observer.queued(effect.owner->claims);
            case observed::what::waits_for_own:
                return observer.waits_for_own(effect.owner->claims, effect.other->claims);
            case observed::what::unsure: return observer.unsure();
            case observed::what::connected: return observer.connected();
            case observed::what::reconnected: return observer.reconnected();
            case observed::what::session_replaced: return observer.session_replaced();
            case observed::what::reconnecting: return observer.reconnecting(effect.error.code, effect.error.text);
            case observed::what::store_error: return observer.store_error(effect.error.code, effect.error.text);
        }
    });
}

void client_core::observe(std::function<void(observer&)> what) {
    if (!options_.observer || !observed_) return;
    call_back([observer = options_.observer, what = std::move(what)] { what(*observer); });
}

handle client_core::acquire(acquire_order order, acquire_listener& listener) {
    auto state = std::make_shared<lease_state>();
    state->client = weak_from_this();
    state->believed = believed_;
    state->listener = &listener;
    state->claims = order.claims;
    state->clock = clock_;
    order.owner = state;
    if (const input in{*this}) return in->acquire(now(), std::move(order));
    listener.acquired(nullptr, {errc::closed});
    return 0;
}

void client_core::cancel(handle handle, std::error_code why) {
    if (const input in{*this}) in->cancel(now(), handle, why);
}

void client_core::release(lease_state& lease, protocol::release_kind release_kind) {
    {
        const input in{*this};
        if (in && in->release(now(), lease.handle, release_kind, lease.on_released.has_value())) return;
    }
    if (auto done = std::exchange(lease.on_released, std::nullopt)) (*done)(false);
}

void client_core::operate(protocol::command command, on_operated done) {
    if (const input in{*this})
        in->operate(now(), std::move(command), options_.timeout.microseconds(), make_operation_owner(std::move(done)));
    else
        done(closed());
}

void client_core::inspect(const inspect_filter& filter, on_inspected done) {
    if (const input in{*this})
        in->inspect(now(), options_.timeout.microseconds(),
                    std::make_shared<pending_operation>(pending_operation{std::nullopt, std::move(done), filter}));
    else
        done({errc::closed}, {});
}

void client_core::connect(client_duration wait, on_operated done) {
    if (const input in{*this})
        in->connect(now(), wait, make_operation_owner(std::move(done)));
    else
        done(closed());
}

void client_core::close(client_duration wait, on_operated done) {
    const input in{*this};
    if (!in) return done(closed());
    was_closed_ = true;
    in->close(now(), wait, make_operation_owner([this, done = std::move(done)](operated result) mutable {
                  observed_ = false;
                  done(std::move(result));
              }));
}

/// The callbacks of losses run before the store gets the `close`. The client does not wait for them longer than the
/// leases would have been valid, because the store passes the claims on by then anyway.
bool client_core::close_and_wait(client_duration wait) {
    if (const input in{*this}) in->end_requests(now());
    losses_->drain(std::max(client_duration{0}, believed_->get() - now()));
    blocked_caller<bool> caller;  // result: confirmed
    close(wait, [&caller](operated result) { caller.complete(std::move(result.error), result.confirmed); });
    this->wait(caller);
    drain_callbacks();
    return caller.result;
}

/// A callback does not drain: it would wait for itself, or for another callback that closes the client as well.
void client_core::drain_callbacks() {
    if (callbacks_->is_running_here() || losses_->is_running_here()) return;
    losses_->drain();
    callbacks_->drain();
}

void client_core::close_later(client_duration wait, completion_callback<bool> done) {
    if (const input in{*this}) in->end_requests(now());
    losses_->push([self = shared_from_this(), wait, done = std::move(done)]() mutable {
        self->close(wait, [done = std::move(done)](const operated& result) mutable { done(result.confirmed); });
    });
}

void client_core::wait(waiter& caller) {
    if (caller.done()) return;  // the store has replied within the call
    std::shared_ptr<event_loop> loop;
    {
        const std::lock_guard lock{mutex_};
        loop = loop_;
    }
    if (loop) loop->wait(caller);
    while (!caller.done()) caller.sleep();
}

std::error_code client_core::refuse_to_block() const {
    if (fork_.in_child()) return errc::forked;
    if (callbacks_->is_running_here() || losses_->is_running_here()) return errc::own_thread;
    return {};
}

std::string client_core::objection(const claim_list& claims, const protocol::enter_options& options) {
    std::shared_ptr<baton::store> store;
    {
        const std::lock_guard lock{mutex_};
        store = store_;
    }
    return store ? store->objection({claims.begin(), claims.end()}, options) : std::string{};
}

void client_core::shut() {
    bool was_closed = false;
    {
        const std::lock_guard lock{mutex_};
        was_closed = was_closed_;
    }
    const bool waits = !was_closed && !refuse_to_block();
    close_and_wait(waits ? options_.close_wait.microseconds() : client_duration{0});
    // These are destroyed here and not with the last reference to this client, which a callback thread may hold. So the
    // threads are joined, and none runs while the program exits.
    std::shared_ptr<callback_threads> threads;
    std::shared_ptr<loss_threads> loss_threads;
    std::shared_ptr<baton::store> store;
    std::shared_ptr<event_loop> loop;
    std::unique_ptr<store_connection> connection;
    std::vector<action> effects;
    {
        std::unique_lock lock{mutex_};
        shut_ = true;
        performed_.wait(lock, [this] { return !performing_ || performer_ == std::this_thread::get_id(); });
        timer_.reset();
        threads.swap(threads_);
        loss_threads.swap(loss_threads_);
        store.swap(store_);
        loop.swap(loop_);
        connection.swap(connection_);
        session_.finish_as_closed();
        effects = session_.take_actions();
    }
    connection.reset();
    for (action& effect : effects) std::visit([this](auto& what) { perform(what); }, effect);
    drain_callbacks();
}

void client_core::up(epoch epoch) noexcept {
    if (const input in{*this}) in->connection_up(now(), epoch);
}

void client_core::down(const store_error& why) noexcept {
    if (const input in{*this}) in->connection_down(now(), why);
}

void client_core::unusable(const store_error& why) noexcept {
    if (const input in{*this}) in->connection_unusable(now(), why);
}

void client_core::replied(command_tag tag, epoch epoch, std::span<const protocol::event> events) noexcept {
    if (const input in{*this}) in->reply(now(), tag, epoch, events);
}

void client_core::failed(command_tag tag, command_failure how, const store_error& why) noexcept {
    if (const input in{*this}) in->reply_failed(now(), tag, how, why);
}

void client_core::noticed(epoch epoch, protocol::event event) noexcept {
    if (const input in{*this}) in->notice(now(), epoch, event);
}

}  // namespace baton::detail
