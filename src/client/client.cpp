// The public functions of baton::client. They make orders for the driver from their arguments, block if they are
// blocking calls, and make leases and errors from the results.
#include "baton/client.hpp"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "baton/printable.hpp"
#include "baton/store.hpp"
#include "client/async_state.hpp"
#include "client/blocked_caller.hpp"
#include "client/client_core.hpp"
#include "client/fail.hpp"
#include "client/refusal_error.hpp"
#include "program/client.hpp"
#include "program/store_url.hpp"

namespace baton {
namespace {

using detail::acquire_order;
using detail::blocked_caller;
using detail::client_core;
using detail::lease_state;

/// Lives on the stack of a caller that blocks in an acquire.
class blocked_acquire final : public detail::acquire_listener, public detail::waiter {
public:
    void acquired(std::shared_ptr<lease_state> lease, store_error why) noexcept override {
        state = std::move(lease);
        error = std::move(why);
        finish();
    }

    std::shared_ptr<lease_state> state;
    store_error error;
};

/// No wait means no limit. A wait of zero is a try: it waits only for the store's reply.
acquire_order order_of(const client_core& core, const claims& claims, const acquire_options& options,
                       const std::optional<time_limit>& wait) {
    acquire_order order{claims.list(), false, {}, {}, options.queue_bound};
    if (options.max_hold) order.hold_limit = options.max_hold->microseconds();
    if (wait) order.wait = wait->left().microseconds();
    order.nowait = order.wait && order.wait->count() == 0;
    if (order.nowait) order.wait = core.options().timeout.microseconds();
    return order;
}
acquire_order acquire_order_of(const client_core& core, const claims& claims, const acquire_options& options) {
    return order_of(core, claims, options, options.wait);
}
acquire_order try_order_of(const client_core& core, const claims& claims, const acquire_options& options) {
    return order_of(core, claims, options, options.wait.value_or(std::chrono::seconds{0}));
}

/// Program, process id and host.
std::string default_label() {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    return std::string{program_invocation_short_name} + " " + std::to_string(getpid()) + " on " + host.data();
}

std::string names_of(const claims& claims) {
    std::string names;
    for (const claim& claim : claims.list()) {
        if (names.size() > 200) return names + ", …";
        names += (names.empty() ? "" : ", ") + printable(claim.resource);
    }
    return names;
}

/// The failed operation, for the error's message. Includes the reason if the store does not support the request.
std::string subject_of(client_core& core, const char* verb, const claims& claims, const acquire_options& options,
                       std::error_code error) {
    std::string subject = verb + (" " + names_of(claims));
    if (error != errc::unsupported) return subject;
    protocol::enter_options wanted{.nowait = false, .hold_limit = {}, .queue_bound = options.queue_bound};
    if (options.max_hold) wanted.hold_limit = options.max_hold->microseconds();
    const std::string why = core.objection(claims.list(), wanted);
    return why.empty() ? subject : subject + ": " + why;
}

/// Neither a lease nor an error: busy. The caller keeps `core` alive, because a static client may end meanwhile.
std::shared_ptr<lease_state> wait_for_lease(const std::shared_ptr<client_core>& core, acquire_order order,
                                            const std::stop_token& stop, store_error& error) {
    error = {core->refuse_to_block()};
    if (error.code) return nullptr;
    const bool is_try = order.nowait;
    blocked_acquire caller;
    const detail::handle handle = core->acquire(std::move(order), caller);
    {
        std::optional<std::stop_callback<std::function<void()>>> on_stop;
        if (stop.stop_possible() && !is_try)
            on_stop.emplace(
                stop, [&core, handle] { core->cancel(handle, std::make_error_code(std::errc::operation_canceled)); });
        core->wait(caller);
    }
    error = std::move(caller.error);
    return std::move(caller.state);
}

/// For an acquire, busy is the error timed_out.
store_error acquire_error(const std::shared_ptr<lease_state>& state, store_error error) {
    if (!state && !error.code) error.code = errc::timed_out;
    return error;
}
/// For a try, timed_out is no error but an empty result.
store_error try_error(store_error error) { return error.code == errc::timed_out ? store_error{} : std::move(error); }

std::optional<lease> try_result(std::shared_ptr<lease_state> state) {
    if (!state) return {};
    return lease_state::wrap(std::move(state));
}

/// An asynchronous acquire. It owns itself until it is complete.
class async_acquire_operation final : public detail::acquire_listener {
public:
    using completion = completion_callback<std::shared_ptr<lease_state>, store_error>;

    /// Returns the function that cancels it.
    static std::function<void()> begin(const std::shared_ptr<client_core>& core, acquire_order order,
                                       const std::stop_token& stop, completion done) {
        const auto operation = std::make_shared<async_acquire_operation>(std::move(done));
        operation->self_ = operation;
        const detail::handle handle = core->acquire(std::move(order), *operation);
        const std::weak_ptr<client_core> weak = core;
        const auto cancel = [weak, handle] {
            if (const auto alive = weak.lock())
                alive->cancel(handle, std::make_error_code(std::errc::operation_canceled));
        };
        if (stop.stop_possible()) operation->on_stop_.emplace(stop, cancel);
        return cancel;
    }

    explicit async_acquire_operation(completion done) : done_{std::move(done)} {}

    void acquired(std::shared_ptr<lease_state> lease, store_error error) noexcept override {
        const std::shared_ptr<async_acquire_operation> self = std::move(self_);
        done_(std::move(lease), std::move(error));
    }

private:
    completion done_;
    std::shared_ptr<async_acquire_operation> self_;
    std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

/// Shuts the client down when its last copy is destroyed.
struct owner {
    std::shared_ptr<client_core> core;

    explicit owner(std::shared_ptr<client_core> made) : core{std::move(made)} {}
    owner(const owner&) = delete;
    owner& operator=(const owner&) = delete;
    ~owner() {
        // A forked child has no threads to join, and the session is its parent's.
        if (core->fork().in_child())
            detail::keep_for_ever(core);
        else
            core->shut();
    }
};

constexpr std::chrono::hours longest_ttl{24 * 366};

std::shared_ptr<client_core> make_core(std::shared_ptr<store> store, client_options options,
                                       std::shared_ptr<detail::backup_renewer> backup_renewer) {
    if (options.label.empty()) options.label = default_label();
    // No overflow before the store refuses the ttl.
    options.ttl = std::clamp<std::chrono::milliseconds>(options.ttl, std::chrono::milliseconds{0}, longest_ttl);
    if (const auto pace = store->pace()) {
        if (options.ttl != client_options{}.ttl && options.ttl != pace->ttl)
            detail::fail({errc::unsupported},
                         "the ttl is an option of the address here, as it has to suit the other programs there");
        options.ttl = pace->ttl;
    }
    auto core = std::make_shared<client_core>(std::move(store), std::move(options), std::move(backup_renewer));
    core->start();
    const auto owned = std::make_shared<owner>(core);
    return {owned, core.get()};
}

void operate(const std::shared_ptr<client_core>& core, protocol::command command, const std::string& what) {
    if (const auto error = core->refuse_to_block()) detail::fail({error}, what);
    blocked_caller<std::vector<protocol::event>> caller;
    core->operate(std::move(command), [&caller](detail::operated result) {
        caller.complete(std::move(result.error), std::move(result.events));
    });
    core->wait(caller);
    if (caller.error.code) detail::fail(caller.error, what);
    for (const protocol::event& event : caller.result)
        if (const auto* refused = std::get_if<protocol::refused>(&event.what))
            detail::fail({detail::error_of(refused->reason)}, what);
}

}  // namespace

client detail::client_maker::make(std::shared_ptr<store> store, const client_options& options,
                                  std::shared_ptr<backup_renewer> backup_renewer) {
    return client{make_core(std::move(store), options, std::move(backup_renewer))};
}

detail::client_duration detail::believed_for(std::chrono::milliseconds ttl) { return ttl - keep_alive{ttl}.margin(); }

client::client() : client{detail::default_url()} {}

client::client(std::string_view url, const client_options& options)
    : core_{make_core(make_store(url), options, nullptr)} {}

client::client(std::shared_ptr<store> store, const client_options& options)
    : core_{make_core(std::move(store), options, nullptr)} {}

namespace {

store_error connect_within(const std::shared_ptr<client_core>& core, time_limit wait) {
    if (const auto error = core->refuse_to_block()) return {error};
    blocked_caller<bool> caller;
    core->connect(wait.left().microseconds(),
                  [&caller](detail::operated result) { caller.complete(std::move(result.error), true); });
    core->wait(caller);
    return std::move(caller.error);
}

}  // namespace

void client::connect(time_limit wait) {
    if (const store_error error = connect_within(core_->shared_from_this(), wait); error.code)
        detail::fail(error, "connect");
}

void client::connect(time_limit wait, std::error_code& error) {
    error = connect_within(core_->shared_from_this(), wait).code;
}

lease client::acquire(const claims& claims, const acquire_options& options, const std::stop_token& stop) {
    const auto core = core_->shared_from_this();
    store_error error;
    auto state = wait_for_lease(core, acquire_order_of(*core, claims, options), stop, error);
    error = acquire_error(state, std::move(error));
    if (error.code) detail::fail(error, subject_of(*core, "acquire", claims, options, error.code));
    return lease_state::wrap(std::move(state));
}

lease client::acquire(const claims& claims, const acquire_options& options, std::error_code& error) {
    return acquire(claims, options, {}, error);
}

lease client::acquire(const claims& claims, const acquire_options& options, const std::stop_token& stop,
                      std::error_code& error) {
    const auto core = core_->shared_from_this();
    store_error why;
    auto state = wait_for_lease(core, acquire_order_of(*core, claims, options), stop, why);
    error = acquire_error(state, std::move(why)).code;
    return lease_state::wrap(std::move(state));
}

std::optional<lease> client::try_acquire(const claims& claims, const acquire_options& options) {
    const auto core = core_->shared_from_this();
    store_error error;
    auto state = wait_for_lease(core, try_order_of(*core, claims, options), {}, error);
    error = try_error(std::move(error));
    if (error.code) detail::fail(error, subject_of(*core, "try_acquire", claims, options, error.code));
    return try_result(std::move(state));
}

std::optional<lease> client::try_acquire(const claims& claims, const acquire_options& options, std::error_code& error) {
    const auto core = core_->shared_from_this();
    store_error why;
    auto state = wait_for_lease(core, try_order_of(*core, claims, options), {}, why);
    error = try_error(std::move(why)).code;
    return try_result(std::move(state));
}

void client::async_acquire(const claims& claims, const acquire_options& options, acquire_callback done) {
    async_acquire(claims, options, std::stop_token{}, std::move(done));
}

void client::async_acquire(const claims& claims, const acquire_options& options, std::stop_token stop,
                           acquire_callback done) {
    const auto core = core_->shared_from_this();
    if (core->fork().in_child()) return done(errc::forked, lease{});
    async_acquire_operation::begin(
        core, acquire_order_of(*core, claims, options), stop,
        [core, done = std::move(done)](std::shared_ptr<lease_state> state, store_error error) mutable {
            const std::error_code code = acquire_error(state, std::move(error)).code;
            core->call_back([done = std::move(done), code, lease = lease_state::wrap(std::move(state))]() mutable {
                done(code, std::move(lease));
            });
        });
}

void client::async_try_acquire(const claims& claims, const acquire_options& options, try_acquire_callback done) {
    async_try_acquire(claims, options, std::stop_token{}, std::move(done));
}

void client::async_try_acquire(const claims& claims, const acquire_options& options, std::stop_token stop,
                               try_acquire_callback done) {
    const auto core = core_->shared_from_this();
    if (core->fork().in_child()) return done(errc::forked, std::nullopt);
    async_acquire_operation::begin(
        core, try_order_of(*core, claims, options), stop,
        [core, done = std::move(done)](std::shared_ptr<lease_state> state, store_error error) mutable {
            const std::error_code code = try_error(std::move(error)).code;
            core->call_back([done = std::move(done), code, lease = try_result(std::move(state))]() mutable {
                done(code, std::move(lease));
            });
        });
}

void client::async_inspect(const inspect_filter& filter, inspect_callback done) {
    const auto core = core_->shared_from_this();
    if (core->fork().in_child()) return done(errc::forked, snapshot{});
    core->inspect(filter, [core, done = std::move(done)](const store_error& error, snapshot seen) mutable {
        core->call_back([done = std::move(done), code = error.code, seen = std::move(seen)]() mutable {
            done(code, std::move(seen));
        });
    });
}

void client::async_close(time_limit wait, close_callback done) {
    const auto core = core_->shared_from_this();
    if (core->fork().in_child()) return done(true);
    core->close_later(wait.left().microseconds(), [core, done = std::move(done)](bool confirmed) mutable {
        core->call_back([done = std::move(done), confirmed]() mutable { done(confirmed); });
    });
}

async_result<lease> client::async_acquire(const claims& claims, const acquire_options& options, std::stop_token stop) {
    const auto core = core_->shared_from_this();
    return detail::await_result<lease>(core, "acquire " + names_of(claims), [=](const auto& state) {
        return async_acquire_operation::begin(core, acquire_order_of(*core, claims, options), stop,
                                              [state](std::shared_ptr<lease_state> lease, store_error error) {
                                                  error = acquire_error(lease, std::move(error));
                                                  state->complete(std::move(error),
                                                                  lease_state::wrap(std::move(lease)));
                                              });
    });
}

async_result<std::optional<lease>> client::async_try_acquire(const claims& claims, const acquire_options& options,
                                                             std::stop_token stop) {
    const auto core = core_->shared_from_this();
    return detail::await_result<std::optional<lease>>(core, "try_acquire " + names_of(claims), [=](const auto& state) {
        return async_acquire_operation::begin(core, try_order_of(*core, claims, options), stop,
                                              [state](std::shared_ptr<lease_state> granted, store_error error) {
                                                  state->complete(try_error(std::move(error)),
                                                                  try_result(std::move(granted)));
                                              });
    });
}

async_result<snapshot> client::async_inspect(const inspect_filter& filter) {
    const auto core = core_->shared_from_this();
    return detail::await_result<snapshot>(core, "inspect", [=](const auto& state) {
        core->inspect(
            filter, [state](store_error error, snapshot seen) { state->complete(std::move(error), std::move(seen)); });
        return nullptr;
    });
}

async_result<bool> client::async_close(time_limit wait) {
    const auto core = core_->shared_from_this();
    return detail::await_result<bool>(core, "close", [=](const auto& state) {
        core->close_later(wait.left().microseconds(), [state](bool confirmed) { state->complete({}, confirmed); });
        return nullptr;
    });
}

snapshot client::inspect(const inspect_filter& filter) {
    const auto core = core_->shared_from_this();
    if (const auto error = core->refuse_to_block()) detail::fail({error}, "inspect");
    blocked_caller<snapshot> caller;
    core->inspect(filter,
                  [&caller](store_error error, snapshot seen) { caller.complete(std::move(error), std::move(seen)); });
    core->wait(caller);
    if (caller.error.code) detail::fail(caller.error, "inspect");
    return std::move(caller.result);
}

void client::revoke(std::string_view resource, std::uint64_t ticket, std::string_view note, bool at_once) {
    const std::string what = "revoke " + printable(resource);
    const auto send = [&](bool now) {
        operate(core_->shared_from_this(), protocol::revoke{std::string{resource}, ticket, std::string{note}, now},
                what);
    };
    const bool notifies_first = at_once && !note.empty();  // the event `ended` carries no note
    if (notifies_first) send(false);
    try {
        send(at_once);
    } catch (const error& refused) {
        if (!notifies_first || refused.code() != errc::not_found) throw;  // the notified holder has released it
    }
}

void client::mend(std::string_view resource) {
    operate(core_->shared_from_this(), protocol::mend{std::string{resource}}, "mend " + printable(resource));
}

void client::resize(std::string_view resource, std::optional<std::uint32_t> limit) {
    operate(core_->shared_from_this(), protocol::resize{std::string{resource}, limit}, "resize " + printable(resource));
}

bool client::close(time_limit wait) {
    const auto core = core_->shared_from_this();
    return core->fork().in_child() || core->close_and_wait(wait.left().microseconds());
}

}  // namespace baton
