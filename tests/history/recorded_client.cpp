#include "recorded_client.hpp"

#include <utility>
#include <variant>

namespace baton::history {

recorded_lease::recorded_lease(recorder& recorder, std::uint64_t number, const claims& claims, lease lease,
                               std::uint64_t ticket)
    : recorder_{recorder}, number_{number}, lease_{std::move(lease)}, last_{now()} {
    until_ = last_ + lease_.valid_for();  // never too late, because the time is taken first
    event held{
        .at = last_, .verb = verb::held, .number = number, .ticket = ticket, .fence = lease_.fence(), .until = until_};
    for (const claim& claim : claims.list())
        if (claim.mode == claim_mode::permits) held.slots.push_back({claim.resource, lease_.slots(claim.resource)});
    recorder_.write(std::move(held));
}

recorded_lease::~recorded_lease() {
    const bool whole = believes();
    recorder_.write({.at = last_, .verb = whole ? verb::released : verb::lost, .number = number_});
    lease_.release();
}

bool recorded_lease::believes() {
    const moment at = now();
    const auto left = lease_.valid_for();
    if (left.count() <= 0) return false;
    last_ = at;
    // Only a renewal moves the end so far. The line is needed if this process is killed.
    if (at + left > until_ + std::chrono::milliseconds{5}) {
        until_ = at + left;
        recorder_.write({.at = at, .verb = verb::still, .number = number_, .until = until_});
    }
    return true;
}

broken::fault recorded_client::listening() {
    broken::fault none;
    none.event = [&recorder = recorder_, tickets = tickets_](const protocol::event& event) {
        if (const auto* queued = std::get_if<protocol::queued>(&event.what))
            recorder.write({.verb = verb::queued, .ticket = queued->ticket});
        if (const auto* granted = std::get_if<protocol::granted>(&event.what)) {
            const std::lock_guard guard{tickets->mutex};
            tickets->by_fence[granted->fence] = granted->ticket;
        }
    };
    return none;
}

recorded_client::recorded_client(recorder& recorder, std::string_view url, const client_options& options)
    : recorder_{recorder}, client_{broken::store_with(listening(), make_store(url)), observed(options)} {}

/// Records when the client has opened its session again. It uses the client's observer.
client_options recorded_client::observed(client_options options) {
    struct reopening final : observer {
        explicit reopening(recorder& recorder) : recorder_{recorder} {}
        void reconnected() override { recorder_.write({.verb = verb::reopened}); }
        recorder& recorder_;
    };
    options.observer = std::make_shared<reopening>(recorder_);
    return options;
}

std::unique_ptr<recorded_lease> recorded_client::acquire(const claims& claims, const acquire_options& options) {
    const std::uint64_t number = recorder_.asked(claims.list());
    std::error_code error;
    lease lease = client_.acquire(claims, options, error);
    if (error) {
        const bool gave_up = error == errc::timed_out;
        recorder_.write({.verb = gave_up ? verb::gave_up : verb::refused, .number = number, .why = error.message()});
        return nullptr;
    }
    const std::uint64_t ticket = ticket_of(lease.fence());
    return std::make_unique<recorded_lease>(recorder_, number, claims, std::move(lease), ticket);
}

std::uint64_t recorded_client::ticket_of(std::uint64_t fence) {
    const std::lock_guard guard{tickets_->mutex};
    const auto found = tickets_->by_fence.find(fence);
    return found == tickets_->by_fence.end() ? 0 : found->second;
}

}  // namespace baton::history
