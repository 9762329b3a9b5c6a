/// A store that wraps another store and injects faults into the connection on command. The contract suite makes its
/// outages with it; a program can use it to test its own handling of outages.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "baton/store.hpp"

namespace baton::contract {

/// Selects the commands to which a fault applies.
using command_filter = std::function<bool(const protocol::command&)>;

/// The filter for one kind of command.
template <typename Command> [[nodiscard]] command_filter each() {
    return [](const protocol::command& command) { return std::holds_alternative<Command>(command); };
}

/// For one client at a time: faults apply to the newest connection. Thread-safe.
class faulty_store final : public store {
public:
    explicit faulty_store(std::shared_ptr<store> inner);
    ~faulty_store() override;
    faulty_store(const faulty_store&) = delete;
    faulty_store& operator=(const faulty_store&) = delete;

    std::unique_ptr<store_connection> connect(std::weak_ptr<store_listener> listener) override;
    [[nodiscard]] lease_clock clock() const override;
    [[nodiscard]] std::optional<lease_pace> pace() const override;
    [[nodiscard]] baton::if_unavailable if_unavailable() const override;
    [[nodiscard]] bool shows_labels() const override;
    [[nodiscard]] std::string objection(std::span<const claim> claims,
                                        const protocol::enter_options& options) const override;

    /// Breaks the connection; the client receives `down`. No new connection is made until `heal`.
    void cut();
    /// Drops everything in both directions without a `down`. If the client resets the silent connection, it receives
    /// `down`. No new connection is made until `heal`.
    void silence();
    /// Makes a new connection after `cut` or `silence`.
    void heal();

    /// The store performs the next matching command, but the connection breaks before the reply, as with `cut`.
    void cut_before_reply(command_filter which);
    /// The next matching command is lost and the connection breaks, as with `cut`.
    void cut_before_sending(command_filter which);
    /// Whether the last requested `cut_before_…` has happened.
    [[nodiscard]] bool was_cut() const;

    /// Delivers the replies that a fault held back, as an old connection may deliver them late.
    void deliver_late();

    void drop_notices(bool on);
    void duplicate_notices(bool on);
    /// Delivers each reply twice.
    void duplicate_replies(bool on);
    /// Sends each command twice; the second reply is dropped.
    void send_twice(bool on);
    /// `true` holds notifications back; `false` delivers them, newest first.
    void hold_notices(bool on);
    /// The number of notifications that were dropped or are held back; a test polls it to wait for one.
    [[nodiscard]] std::size_t notices_withheld() const;

    struct state;

private:
    std::shared_ptr<store> inner_;
    std::shared_ptr<state> state_;
};

}  // namespace baton::contract
