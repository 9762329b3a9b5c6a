#include "baton/contract/faulty_store.hpp"

#include "faulty_connection.hpp"

namespace baton::contract {

faulty_store::faulty_store(std::shared_ptr<store> inner)
    : inner_{std::move(inner)}, state_{std::make_shared<state>(inner_)} {}

faulty_store::~faulty_store() { state_->break_connection(false); }

std::unique_ptr<store_connection> faulty_store::connect(std::weak_ptr<store_listener> listener) {
    state_->break_connection(false);
    {
        const std::lock_guard lock{state_->mutex};
        state_->client = std::move(listener);
    }
    auto connection = make_outer_connection(state_);
    state_->make_connection();
    return connection;
}

lease_clock faulty_store::clock() const { return inner_->clock(); }

std::optional<lease_pace> faulty_store::pace() const { return inner_->pace(); }

if_unavailable faulty_store::if_unavailable() const { return inner_->if_unavailable(); }

bool faulty_store::shows_labels() const { return inner_->shows_labels(); }

std::string faulty_store::objection(std::span<const claim> claims, const protocol::enter_options& options) const {
    return inner_->objection(claims, options);
}

void faulty_store::cut() { state_->break_connection(true); }

void faulty_store::silence() {
    const std::lock_guard lock{state_->mutex};
    state_->passing = false;
}

void faulty_store::heal() {
    state_->break_connection(true);
    state_->make_connection();
}

void faulty_store::cut_before_reply(command_filter which) {
    const std::lock_guard lock{state_->mutex};
    state_->before_answer = std::move(which);
    state_->cut_done = false;
}

void faulty_store::cut_before_sending(command_filter which) {
    const std::lock_guard lock{state_->mutex};
    state_->before_sending = std::move(which);
    state_->cut_done = false;
}

bool faulty_store::was_cut() const {
    const std::lock_guard lock{state_->mutex};
    return state_->cut_done;
}

void faulty_store::deliver_late() {
    std::vector<late_reply> late;
    std::shared_ptr<store_listener> to;
    {
        const std::lock_guard lock{state_->mutex};
        late.swap(state_->late);
        to = state_->client.lock();
    }
    if (!to) return;
    for (late_reply& reply : late) to->replied(reply.tag, reply.epoch, std::move(reply.events));
}

void faulty_store::drop_notices(bool on) {
    const std::lock_guard lock{state_->mutex};
    state_->dropping = on;
}

void faulty_store::duplicate_notices(bool on) {
    const std::lock_guard lock{state_->mutex};
    state_->duplicating_notices = on;
}

void faulty_store::duplicate_replies(bool on) {
    const std::lock_guard lock{state_->mutex};
    state_->duplicating_replies = on;
}

void faulty_store::send_twice(bool on) {
    const std::lock_guard lock{state_->mutex};
    state_->sending_twice = on;
}

void faulty_store::hold_notices(bool on) {
    std::vector<notice> held;
    std::shared_ptr<store_listener> to;
    {
        const std::lock_guard lock{state_->mutex};
        state_->holding = on;
        if (on) return;
        held.swap(state_->held);
        to = state_->client.lock();
    }
    if (!to) return;
    for (auto next = held.rbegin(); next != held.rend(); ++next) to->noticed(next->epoch, std::move(next->event));
}

std::size_t faulty_store::notices_withheld() const {
    const std::lock_guard lock{state_->mutex};
    return state_->withheld;
}

}  // namespace baton::contract
