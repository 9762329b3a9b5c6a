#include "baton/lease.hpp"

#include <algorithm>

#include "client/async_state.hpp"
#include "client/client_core.hpp"
#include "client/lease_state.hpp"
#include "program/client.hpp"

namespace baton {

namespace detail {

void lease_state::end(protocol::release_kind release_kind) noexcept {
    if (fork.in_child() || released.exchange(true)) return;
    if (const auto owner = client.lock()) owner->release(*this, release_kind);
}

void lease_state::end_confirmed(release_callback done) {
    if (fork.in_child() || released.exchange(true)) return done(false);
    const auto owner = client.lock();
    if (!owner) return done(false);
    on_released.emplace(std::move(done));
    owner->release(*this, protocol::release_kind::clean);
}

std::optional<client_duration> capped_for(const lease& lease) { return lease_state::capped_for(lease); }

}  // namespace detail

lease& lease::operator=(lease&& other) noexcept {
    if (this != &other) {
        release();
        state_ = std::move(other.state_);
    }
    return *this;
}

lease::~lease() {
    if (state_) state_->end(protocol::release_kind::clean);
}

std::uint64_t lease::fence() const noexcept { return state_ ? state_->grant.fence : 0; }

// The empty vectors are never destroyed, because a lease may be a static object of the program.
const std::vector<std::uint32_t>& lease::slots(std::string_view resource) const noexcept {
    static const auto& none = *new std::vector<std::uint32_t>;
    if (!state_) return none;
    const auto& slots = state_->grant.slots;
    const auto found = std::ranges::find(slots, resource, [](const auto& of) { return std::string_view{of.resource}; });
    return found == slots.end() ? none : found->slots;
}

const std::vector<abandoned>& lease::abandoned() const noexcept {
    static const auto& none = *new std::vector<baton::abandoned>;
    return state_ ? state_->abandoned : none;
}

std::chrono::microseconds lease::waited() const noexcept {
    return state_ ? state_->grant.waited : std::chrono::microseconds{0};
}

bool lease::valid() const noexcept { return valid_for() > std::chrono::microseconds{0}; }

std::chrono::microseconds lease::valid_for() const noexcept {
    return state_ ? state_->left() : std::chrono::microseconds{0};
}

std::chrono::steady_clock::time_point lease::valid_until() const noexcept {
    return std::chrono::steady_clock::now() + valid_for();
}

std::stop_token lease::lost() const noexcept { return state_ ? state_->lost.token() : std::stop_token{}; }

loss lease::lost_reason() const noexcept { return state_ ? state_->reason.load() : loss::none; }

std::string lease::lost_note() const { return lost_reason() == loss::none ? std::string{} : state_->note; }

void lease::release() noexcept {
    if (state_) state_->end(protocol::release_kind::clean);
}

void lease::async_release(release_callback done) { async_release(state_, std::move(done)); }

void lease::async_release(const std::shared_ptr<detail::lease_state>& state, release_callback done) {
    const auto core = state ? state->client.lock() : nullptr;
    if (!core || core->fork().in_child()) return done(false);
    state->end_confirmed([core, done = std::move(done)](bool confirmed) mutable {
        core->call_back([done = std::move(done), confirmed]() mutable { done(confirmed); });
    });
}

async_result<bool> lease::async_release() {
    const auto core = state_ ? state_->client.lock() : nullptr;
    return detail::await_result<bool>(core, "release", [state = state_](const auto& caller) {
        const auto done = [caller](bool confirmed) { caller->complete({}, confirmed); };
        state ? state->end_confirmed(done) : done(false);
        return nullptr;
    });
}

void lease::release_unfinished() noexcept {
    if (state_) state_->end(protocol::release_kind::keep);
}

void lease::abandon() noexcept {
    if (state_) state_->end(protocol::release_kind::unclean);
}

}  // namespace baton
