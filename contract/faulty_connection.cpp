#include "faulty_connection.hpp"

#include "baton/error.hpp"

namespace baton::contract {
namespace {

constexpr command_tag second_copy = command_tag{1} << 63;

/// The listener of one connection to the wrapped store.
class inner_listener final : public store_listener {
public:
    inner_listener(std::weak_ptr<faulty_store::state> state, std::uint64_t number)
        : state_{std::move(state)}, number_{number} {}

    void up(epoch epoch) noexcept override {
        if (const auto state = state_.lock()) state->begin(number_, {epoch});
    }
    void unusable(const store_error& why) noexcept override {
        if (const auto state = state_.lock()) state->begin(number_, {{}, why});
    }
    void down(const store_error& why) noexcept override {
        if (const auto state = state_.lock()) state->down(number_, why);
    }
    void replied(command_tag tag, epoch epoch, std::span<const protocol::event> events) noexcept override {
        if (const auto state = state_.lock()) state->replied(number_, tag, epoch, events);
    }
    void failed(command_tag tag, command_failure how, const store_error& why) noexcept override {
        if (const auto state = state_.lock()) state->failed(number_, tag, how, why);
    }
    void noticed(epoch epoch, protocol::event event) noexcept override {
        if (const auto state = state_.lock()) state->noticed(number_, epoch, std::move(event));
    }

private:
    std::weak_ptr<faulty_store::state> state_;
    std::uint64_t number_;
};

/// The connection that the client uses.
class outer_connection final : public store_connection {
public:
    explicit outer_connection(std::shared_ptr<faulty_store::state> state) : state_{std::move(state)} {}
    outer_connection(const outer_connection&) = delete;
    outer_connection& operator=(const outer_connection&) = delete;
    ~outer_connection() override { state_->break_connection(false); }

    void send(std::span<tagged_command> messages) override { state_->send(messages); }
    void reset() override { state_->reset(); }
    void inspect(const inspect_filter& filter, snapshot_callback done) override {
        std::shared_ptr<store_connection> connection;
        {
            const std::lock_guard lock{state_->mutex};
            if (state_->passing) connection = state_->connection;
        }
        if (connection)
            connection->inspect(filter, std::move(done));
        else
            done({errc::store_unavailable}, {});
    }

private:
    std::shared_ptr<faulty_store::state> state_;
};

}  // namespace

std::unique_ptr<store_connection> make_outer_connection(std::shared_ptr<faulty_store::state> state) {
    return std::make_unique<outer_connection>(std::move(state));
}

void faulty_store::state::make_connection() {
    std::uint64_t number = 0;
    std::shared_ptr<store_listener> made_listener;
    {
        const std::lock_guard lock{mutex};
        if (passing) return;
        number = ++connection_number;
        passing = true;
        early.reset();
        made_listener = listener = std::make_shared<inner_listener>(weak_from_this(), number);
    }
    std::shared_ptr<store_connection> made = inner->connect(made_listener);
    std::optional<first_report> report;
    {
        const std::lock_guard lock{mutex};
        if (!present(number)) return;  // broken since
        connection = std::move(made);
        report = std::exchange(early, std::nullopt);
    }
    if (report) begin(number, *report);
}

void faulty_store::state::break_connection(bool report) {
    std::shared_ptr<store_connection> old;  // destroyed without the lock
    std::shared_ptr<store_listener> old_listener;
    std::shared_ptr<store_listener> to;
    {
        const std::lock_guard lock{mutex};
        passing = false;
        old = std::move(connection);
        old_listener = std::move(listener);
        fatal_tag.reset();
        if (report && std::exchange(reported_up, false)) to = client.lock();
    }
    if (to) to->down({std::make_error_code(std::errc::connection_reset)});
}

void faulty_store::state::send(std::span<tagged_command> messages) {
    std::vector<tagged_command> passed;
    std::shared_ptr<store_connection> target;
    bool cut = false;
    {
        const std::lock_guard lock{mutex};
        if (!passing || !connection) return;
        target = connection;
        for (tagged_command& each : messages) {
            if (before_sending && before_sending(each.command)) {
                before_sending = nullptr;
                cut = cut_done = true;
                break;  // the following commands are lost too
            }
            if (before_answer && before_answer(each.command)) {
                before_answer = nullptr;
                fatal_tag = each.tag;
            }
            passed.push_back(each);
            if (sending_twice) passed.push_back({each.tag | second_copy, std::move(each.command)});
        }
    }
    if (!passed.empty()) target->send(passed);
    if (cut) break_connection(true);
}

/// The client resets a silent connection. If no fault silences it, a new connection is made at once.
void faulty_store::state::reset() {
    bool was_passing = false;
    {
        const std::lock_guard lock{mutex};
        was_passing = passing;
    }
    break_connection(true);
    if (was_passing) make_connection();
}

void faulty_store::state::begin(std::uint64_t number, const first_report& report) {
    std::shared_ptr<store_listener> to;
    {
        const std::lock_guard lock{mutex};
        if (!present(number)) return;
        if (!connection) {
            early = report;
            return;
        }
        reported_up = report.epoch.has_value();
        to = client.lock();
    }
    if (to) report.epoch ? to->up(*report.epoch) : to->unusable(report.unusable);
}

void faulty_store::state::down(std::uint64_t number, const store_error& why) {
    std::shared_ptr<store_listener> to;
    {
        const std::lock_guard lock{mutex};
        if (!present(number)) return;
        reported_up = false;
        early.reset();
        to = client.lock();
    }
    if (to) to->down(why);
}

void faulty_store::state::replied(std::uint64_t number, command_tag tag, epoch epoch,
                                  std::span<const protocol::event> events) {
    if ((tag & second_copy) != 0) return;
    std::shared_ptr<store_listener> to;
    bool fatal = false;
    bool twice = false;
    {
        const std::lock_guard lock{mutex};
        fatal = fatal_tag == tag && number == connection_number;
        twice = duplicating_replies;
        if (fatal) cut_done = true;
        if (fatal || !present(number))
            late.push_back({tag, epoch, {events.begin(), events.end()}});
        else
            to = client.lock();
    }
    if (fatal) break_connection(true);
    if (!to) return;
    if (twice) to->replied(tag, epoch, events);
    to->replied(tag, epoch, events);
}

void faulty_store::state::failed(std::uint64_t number, command_tag tag, command_failure how, const store_error& why) {
    if ((tag & second_copy) != 0) return;
    std::shared_ptr<store_listener> to;
    {
        const std::lock_guard lock{mutex};
        if (!present(number)) return;
        to = client.lock();
    }
    if (to) to->failed(tag, how, why);
}

void faulty_store::state::noticed(std::uint64_t number, epoch epoch, protocol::event event) {
    std::shared_ptr<store_listener> to;
    bool twice = false;
    {
        const std::lock_guard lock{mutex};
        if (!present(number)) return;
        if (dropping || holding) ++withheld;
        if (dropping) return;
        if (holding) {
            held.push_back({epoch, std::move(event)});
            return;
        }
        twice = duplicating_notices;
        to = client.lock();
    }
    if (!to) return;
    if (twice) to->noticed(epoch, event);
    to->noticed(epoch, std::move(event));
}

}  // namespace baton::contract
