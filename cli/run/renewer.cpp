#include "run/renewer.hpp"

#include "baton/error.hpp"
#include "client/own_clock.hpp"
#include "place.hpp"

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
    /// The next question, once there is one to ask.
    std::vector<tagged_command> next(const std::stop_token& stop, lease_clock clock) {
        std::unique_lock lock{mutex_};
        if (!changed_.wait(lock, stop, [this] { return wanted_; })) return {};
        wanted_ = false;
        sent_ = detail::read_clock(clock);
        sent_steady_ = std::chrono::steady_clock::now();
        return {{++asked_, protocol::renew{session_.session}}};
    }

    void up(lineage /*lineage*/) noexcept override { want(); }
    void down(const store_error& /*why*/) noexcept override {}
    /// The answer to an older question counts for nothing.
    void replied(command_tag tag, lineage lineage, std::span<const protocol::event> events) noexcept override {
        const std::lock_guard lock{mutex_};
        if (tag != asked_ || lineage != session_.lineage) return;
        for (const protocol::event& event : events)
            if (const auto* alive = std::get_if<protocol::alive>(&event.what); alive && prolongs(*alive))
                page_.renewed(session_.number, sent_,
                              sent_steady_ + session_.ttl -
                                  std::chrono::ceil<milliseconds>(detail::keep_alive{session_.ttl}.margin()));
    }
    void failed(command_tag /*tag*/, command_failure /*how*/, const store_error& /*why*/) noexcept override {}
    void noticed(lineage /*lineage*/, protocol::event /*event*/) noexcept override {}

private:
    /// What has ended, what an operator wants back, and what a new primary has not settled is not prolonged.
    [[nodiscard]] bool prolongs(const protocol::alive& alive) const {
        if (alive.session != session_.session || !alive.settled || alive.requests.empty()) return false;
        for (const protocol::request_state& request : alive.requests)
            if (request.revoked) return false;
        return true;
    }

    const kept_session session_;
    shared_page& page_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool wanted_ = false;
    command_tag asked_ = 0;
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
        const auto line = store->connect(listener_);
        while (!stop.stop_requested())
            if (auto question = listener_->next(stop, store->clock()); !question.empty()) line->send(question);
    } catch (const error&) {
        // Baton reached the store by the same address. If it cannot be reached from here, nothing is prolonged.
    }
}

}  // namespace baton::cli
