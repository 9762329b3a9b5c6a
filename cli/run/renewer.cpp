#include "run/renewer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "baton/error.hpp"
#include "program/backup_renewer.hpp"
#include "store_address.hpp"

namespace baton::cli {

class renewer::listener final : public store_listener {
public:
    listener(kept_session session, shared_page& page) : session_{std::move(session)}, page_{page} {}

    [[nodiscard]] const std::string& address() const { return session_.address; }
    void want() {
        const std::lock_guard lock{mutex_};
        wanted_ = true;
        changed_.notify_one();
    }
    /// Waits until commands are due and returns them.
    std::vector<tagged_command> next(const std::stop_token& stop, lease_clock clock) {
        std::unique_lock lock{mutex_};
        if (!changed_.wait(lock, stop, [this] { return wanted_ || list_after_; })) return {};
        if (const auto after = std::exchange(list_after_, std::nullopt)) {
            listing_->tag = ++tag_;
            return {{tag_, protocol::list{session_.session, *after}}};
        }
        wanted_ = false;
        sent_ = detail::read_clock(clock);
        sent_steady_ = std::chrono::steady_clock::now();
        renewal_ = ++tag_;
        std::vector<tagged_command> commands{{renewal_, protocol::renew{session_.session}}};
        // The first renewal needs the list, and there may be no time for another round trip.
        if (!unrevoked_) commands.push_back({++tag_, protocol::list{session_.session, 0}});
        return commands;
    }

    void up(epoch /*epoch*/) noexcept override { want(); }
    void down(const store_error& /*why*/) noexcept override {
        const std::lock_guard lock{mutex_};
        listing_.reset();
        list_after_.reset();
    }
    void unusable(const store_error& /*why*/) noexcept override {}
    /// Ignores replies to older commands.
    void replied(command_tag tag, epoch epoch, std::span<const protocol::event> events) noexcept override {
        const std::lock_guard lock{mutex_};
        if (epoch != session_.epoch) return;
        for (const protocol::event& event : events) {
            if (const auto* alive = std::get_if<protocol::alive>(&event.what); alive && tag == renewal_) on(*alive);
            if (const auto* page = std::get_if<protocol::listed>(&event.what); page && listing_ && tag == listing_->tag)
                on(*page);
        }
    }
    void failed(command_tag tag, command_failure /*how*/, const store_error& /*why*/) noexcept override {
        const std::lock_guard lock{mutex_};
        if (!listing_ || listing_->tag != tag) return;
        listing_.reset();
        list_after_.reset();
    }
    void noticed(epoch /*epoch*/, protocol::event /*event*/) noexcept override {}

private:
    /// The session's requests are being listed, for a renewal that was sent at `sent`.
    struct listing {
        command_tag tag = 0;
        std::uint64_t count = 0;
        std::uint64_t digest = 0;
        detail::client_time sent;
        steady_time sent_steady;
    };

    /// Prolongs the lease unless its request has ended, is revoked or is not settled on a new primary. Only a list
    /// shows revocations; if it shows none, there is none while the digest stays the same.
    void on(const protocol::alive& alive) {
        if (alive.session != session_.session || !alive.settled || alive.count == 0) return;
        const listing renewed{0, alive.count, alive.digest, sent_, sent_steady_};
        if (unrevoked_ == std::pair{alive.count, alive.digest}) return prolong(renewed);
        if (listing_) return;
        listing_ = renewed;
        if (unrevoked_) return list_after(0);
        listing_->tag = renewal_ + 1;  // the `list` that was sent with the renewal
    }
    void on(const protocol::listed& page) {
        const bool revoked = std::ranges::any_of(
            page.requests, [](const protocol::request_state& request) { return request.revoked.has_value(); });
        if (revoked || page.requests.empty()) return listing_.reset();
        if (page.more) return list_after(page.requests.back().number);
        const listing done = *std::exchange(listing_, std::nullopt);
        unrevoked_ = {done.count, done.digest};
        prolong(done);
    }
    void list_after(std::uint64_t after) {
        list_after_ = after;
        changed_.notify_one();
    }
    void prolong(const listing& by) {
        page_.renewed(session_.number, by.sent,
                      by.sent_steady + std::chrono::floor<milliseconds>(detail::believed_for(session_.ttl)));
    }

    const kept_session session_;
    shared_page& page_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool wanted_ = false;
    command_tag tag_ = 0;
    command_tag renewal_ = 0;  // of the last renewal
    std::optional<listing> listing_;
    std::optional<std::uint64_t> list_after_;                           // where the next page to be listed begins
    std::optional<std::pair<std::uint64_t, std::uint64_t>> unrevoked_;  // count and digest
    detail::client_time sent_;
    steady_time sent_steady_;
};

renewer::renewer(kept_session session, shared_page& page)
    : listener_{std::make_shared<listener>(std::move(session), page)},
      thread_{[this](const std::stop_token& stop) { serve(stop); }} {}

void renewer::renew() { listener_->want(); }

void renewer::serve(const std::stop_token& stop) {
    try {
        const auto store = store_maker_used()(listener_->address(), {});
        const auto connection = store->connect(listener_);
        while (!stop.stop_requested())
            if (auto commands = listener_->next(stop, store->clock()); !commands.empty()) connection->send(commands);
    } catch (const error&) {
        // Baton reached the store at the same address. If it cannot be reached from here, nothing is prolonged.
    }
}

}  // namespace baton::cli
