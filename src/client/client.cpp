#include "baton/client.hpp"

#include <atomic>
#include <mutex>

#include "client/client_core.hpp"
#include "client/printable.hpp"
#include "client/refusal_error.hpp"
#include "client/sleeping_thread.hpp"
#include "client/url.hpp"

namespace baton {
namespace {

using detail::acquire_order;
using detail::client_core;
using detail::lease_state;

/// Where a blocking caller waits. Shared, because it is woken after it was completed, when it may be gone.
template <typename Result>
class waiter final : public detail::sleeping_thread,
                     public detail::wakeable,
                     public std::enable_shared_from_this<waiter<Result>> {
public:
    /// The calling thread's own: it waits for one thing at a time.
    static std::shared_ptr<waiter> of_this_thread() {
        static thread_local std::shared_ptr<waiter> mine = std::make_shared<waiter>();
        mine->forget();
        return mine;
    }

    void complete(std::error_code error, Result result) {
        {
            const std::lock_guard lock{mutex_};
            error_ = error;
            result_ = std::move(result);
            this->tell();
            const bool awake = !store_ || thread_ == std::this_thread::get_id();
            if (awake) return;
        }
        detail::strand::wake_later(this->shared_from_this());
    }

    Result wait(const std::shared_ptr<store>& store, std::error_code& error) {
        {
            const std::lock_guard lock{mutex_};
            store_ = store;
        }
        store->wait(*this);
        const std::lock_guard lock{mutex_};
        store_.reset();
        error = error_;
        return std::exchange(result_, {});
    }

    void wake() noexcept override {
        std::shared_ptr<store> store;
        {
            const std::lock_guard lock{mutex_};
            store = store_;
        }
        if (store) store->wake(*this);
    }

private:
    const std::thread::id thread_ = std::this_thread::get_id();
    std::mutex mutex_;
    std::shared_ptr<store> store_;  // that it waits for
    std::error_code error_;
    Result result_{};
};

using lease_waiter = waiter<std::shared_ptr<lease_state>>;

acquire_order order_of(const claims& claims, const acquire_options& options, bool nowait) {
    return {claims.list(), nowait, options.wait, options.max_hold, options.queue_bound};
}

std::string names_of(const claims& claims) {
    std::string names;
    for (const claim& claim : claims.list()) {
        if (names.size() > 200) return names + ", …";
        names += (names.empty() ? "" : ", ") + detail::printable(claim.resource);
    }
    return names;
}

/// What the store has to say about it, where it cannot have such a thing.
std::string objection_to(const client_core& core, const claims& claims, const acquire_options& options,
                         std::error_code error) {
    if (error != errc::unsupported) return {};
    const std::string why = core.store()->objection(claims.list(), {false, options.max_hold, options.queue_bound});
    return why.empty() ? "" : ": " + why;
}

[[noreturn]] void fail(std::error_code code, const std::string& what) { throw error{code, what}; }

/// With what the store has heard about it.
[[noreturn]] void fail(const client_core& core, std::error_code code, const std::string& what) {
    const std::string why = core.store()->explanation(code);
    fail(code, why.empty() ? what : what + ": " + detail::printable(why));
}

/// Joins a stop token and a request whose handle is not known yet when the token may fire.
struct stop_link {
    std::mutex mutex;
    std::optional<detail::handle> handle;
    bool stopped = false;
};

void cancel_through(const std::shared_ptr<client_core>& core, const std::shared_ptr<stop_link>& link) {
    std::optional<detail::handle> handle;
    {
        const std::lock_guard lock{link->mutex};
        link->stopped = true;
        handle = link->handle;
    }
    if (handle) core->cancel(*handle, std::make_error_code(std::errc::operation_canceled));
}

std::function<void(detail::handle)> link_to(const std::shared_ptr<client_core>& core,
                                            const std::shared_ptr<stop_link>& link) {
    return [core, link](detail::handle handle) {
        bool stopped = false;
        {
            const std::lock_guard lock{link->mutex};
            link->handle = handle;
            stopped = link->stopped;
        }
        if (stopped) core->cancel(handle, std::make_error_code(std::errc::operation_canceled));
    };
}

std::shared_ptr<lease_state> wait_for_lease(const std::shared_ptr<client_core>& core, acquire_order order,
                                            const std::stop_token& stop, std::error_code& error) {
    error = core->refuse_to_block();
    if (error) return nullptr;
    const auto waiter = lease_waiter::of_this_thread();
    const auto done = [&waiter](std::error_code why, std::shared_ptr<lease_state> state) {
        waiter->complete(why, std::move(state));
    };
    if (!stop.stop_possible()) {
        core->acquire(std::move(order), nullptr, done);
        return waiter->wait(core->store(), error);
    }
    const auto link = std::make_shared<stop_link>();
    const std::stop_callback on_stop{stop, [&core, &link] { cancel_through(core, link); }};
    core->acquire(std::move(order), link_to(core, link), done);
    return waiter->wait(core->store(), error);
}

lease lease_of(std::shared_ptr<lease_state> state) { return state ? lease_state::wrap(std::move(state)) : lease{}; }

/// Ends the client when its last copy goes.
struct owner {
    std::shared_ptr<client_core> core;

    explicit owner(std::shared_ptr<client_core> made) : core{std::move(made)} {}
    owner(const owner&) = delete;
    owner& operator=(const owner&) = delete;
    ~owner() {
        // In a child after fork there is no thread to join and nothing of ours to end: let it be.
        if (core->fork().in_child())
            new std::shared_ptr<client_core>{core};
        else
            core->shut();
    }
};

std::shared_ptr<client_core> make_core(std::shared_ptr<store> store, client_options options) {
    if (options.label.empty()) options.label = detail::default_label();
    if (const auto pace = store->pace()) {
        if (options.ttl != client_options{}.ttl && options.ttl != pace->ttl)
            fail(errc::unsupported,
                 "the ttl is an option of the address here, as it has to suit the other programs there");
        options.ttl = pace->ttl;
    }
    auto core = std::make_shared<client_core>(std::move(store), std::move(options));
    core->start();
    const auto owned = std::make_shared<owner>(core);
    return {owned, core.get()};
}

std::vector<protocol::event> operate(const std::shared_ptr<client_core>& core, protocol::command command,
                                     const std::string& what) {
    const auto waiter = baton::waiter<std::vector<protocol::event>>::of_this_thread();
    std::error_code error = core->refuse_to_block();
    if (error) fail(error, what);
    core->operate(std::move(command), [&waiter](std::error_code why, std::vector<protocol::event> events) {
        waiter->complete(why, std::move(events));
    });
    std::vector<protocol::event> events = waiter->wait(core->store(), error);
    if (error) fail(*core, error, what);
    for (const protocol::event& event : events)
        if (const auto* refused = std::get_if<protocol::refused>(&event.what))
            fail(detail::error_of(refused->reason), what);
    return events;
}

}  // namespace

client::client() : client{detail::default_url()} {}

client::client(std::string_view url, const client_options& options)
    : core_{make_core(detail::make_store(url), options)} {}

client::client(std::shared_ptr<store> store, const client_options& options)
    : core_{make_core(std::move(store), options)} {}

lease client::acquire(const claims& claims, const acquire_options& options) {
    std::error_code error;
    lease lease = acquire(claims, options, error);
    if (error) fail(*core_, error, "acquire " + names_of(claims) + objection_to(*core_, claims, options, error));
    return lease;
}

lease client::acquire(const claims& claims, const acquire_options& options, std::error_code& error) {
    return acquire(claims, options, {}, error);
}

lease client::acquire(const claims& claims, const acquire_options& options, const std::stop_token& stop,
                      std::error_code& error) {
    return lease_of(wait_for_lease(core_, order_of(claims, options, false), stop, error));
}

std::optional<lease> client::try_acquire(const claims& claims, const acquire_options& options) {
    std::error_code error;
    std::optional<lease> lease = try_acquire(claims, options, error);
    if (error) fail(*core_, error, "try_acquire " + names_of(claims) + objection_to(*core_, claims, options, error));
    return lease;
}

std::optional<lease> client::try_acquire(const claims& claims, const acquire_options& options, std::error_code& error) {
    auto state = wait_for_lease(core_, order_of(claims, options, true), {}, error);
    if (!state) return {};
    return lease_of(std::move(state));
}

void client::async_acquire(const claims& claims, const acquire_options& options, std::stop_token stop,
                           acquire_callback done) {
    struct operation {
        std::shared_ptr<stop_link> link = std::make_shared<stop_link>();
        std::optional<std::stop_callback<std::function<void()>>> on_stop;
        acquire_callback done;
    };
    const auto operation = std::make_shared<struct operation>();
    operation->done = std::move(done);
    std::shared_ptr<client_core> core = core_->shared_from_this();
    if (core->fork().in_child()) return operation->done(errc::forked, lease{});
    if (stop.stop_possible())
        operation->on_stop.emplace(stop, [core, link = operation->link] { cancel_through(core, link); });
    core->acquire(order_of(claims, options, false), link_to(core, operation->link),
                  [core, operation](std::error_code error, std::shared_ptr<lease_state> state) {
                      core->call_back([operation, error, state = std::move(state)] {
                          operation->on_stop.reset();
                          operation->done(error, lease_of(state));
                      });
                  });
}

struct acquire_awaiter::state {
    std::shared_ptr<client_core> core;
    acquire_order order;
    std::string names;
    std::stop_token stop;
    std::shared_ptr<stop_link> link = std::make_shared<stop_link>();
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
    std::coroutine_handle<> caller;
    std::atomic<bool> one_side_done{false};  // the answer is there, or the caller is suspended: the second one resumes
    std::error_code error;
    std::shared_ptr<lease_state> lease;
};

acquire_awaiter client::async_acquire(const claims& claims, const acquire_options& options, std::stop_token stop) {
    auto state = std::make_shared<acquire_awaiter::state>();
    state->core = core_->shared_from_this();
    state->order = order_of(claims, options, false);
    state->names = names_of(claims);
    state->stop = std::move(stop);
    return acquire_awaiter{std::move(state)};
}

bool acquire_awaiter::await_suspend(std::coroutine_handle<> caller) {
    const auto state = state_;  // the coroutine, and this with it, may be gone before the end of this function
    state->caller = caller;
    if (state->core->fork().in_child()) {
        state->error = errc::forked;
        return false;
    }
    if (state->stop.stop_possible())
        state->on_stop.emplace(state->stop, [core = state->core, link = state->link] { cancel_through(core, link); });
    state->core->acquire(std::move(state->order), link_to(state->core, state->link),
                         [state](std::error_code error, std::shared_ptr<lease_state> lease) {
                             state->error = error;
                             state->lease = std::move(lease);
                             if (state->one_side_done.exchange(true))
                                 state->core->call_back([state] { state->caller.resume(); });
                         });
    return !state->one_side_done.exchange(true);
}

lease acquire_awaiter::await_resume() {
    state_->on_stop.reset();
    if (state_->error) fail(*state_->core, state_->error, "acquire " + state_->names);
    return lease_of(std::move(state_->lease));
}

snapshot client::inspect(const inspect_filter& filter) {
    const auto waiter = baton::waiter<snapshot>::of_this_thread();
    std::error_code error = core_->refuse_to_block();
    if (error) fail(error, "inspect");
    core_->inspect(filter, [&waiter](std::error_code why, snapshot found) { waiter->complete(why, std::move(found)); });
    snapshot found = waiter->wait(core_->store(), error);
    if (error) fail(*core_, error, "inspect");
    return found;
}

void client::revoke(std::string_view resource, std::uint64_t ticket, std::string_view note, bool at_once) {
    const std::string what = "revoke " + detail::printable(resource);
    const auto send = [&](bool now) {
        operate(core_, protocol::revoke{std::string{resource}, ticket, std::string{note}, now}, what);
    };
    const bool tells_first = at_once && !note.empty();  // the event of an end carries no note
    if (tells_first) send(false);
    try {
        send(at_once);
    } catch (const error& refused) {
        if (!tells_first || refused.code() != errc::not_found) throw;  // it has left since it was told
    }
}

void client::mend(std::string_view resource) {
    operate(core_, protocol::mend{std::string{resource}}, "mend " + detail::printable(resource));
}

void client::resize(std::string_view resource, std::optional<std::uint32_t> limit) {
    operate(core_, protocol::resize{std::string{resource}, limit}, "resize " + detail::printable(resource));
}

bool client::close(std::chrono::milliseconds wait) { return core_->fork().in_child() || core_->close(wait); }

}  // namespace baton
