/// A store that behaves as another one does, over a line that fails when it is told to. The suite makes every outage
/// with it; a program may test its own manners with it as well.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "baton/store.hpp"

namespace baton::contract {

/// Which commands a fault is meant for.
using command_filter = std::function<bool(const protocol::command&)>;

/// The filter for one kind of command.
template <typename Command> [[nodiscard]] command_filter each() {
    return [](const protocol::command& command) { return std::holds_alternative<Command>(command); };
}

/// For one client at a time: its faults are those of the line that was made last. Thread-safe.
class faulty_store final : public store {
public:
    explicit faulty_store(std::shared_ptr<store> inner);
    ~faulty_store() override;
    faulty_store(const faulty_store&) = delete;
    faulty_store& operator=(const faulty_store&) = delete;

    std::unique_ptr<store_line> connect(std::weak_ptr<store_listener> listener) override;
    [[nodiscard]] lease_clock clock() const override;
    [[nodiscard]] std::optional<lease_pace> pace() const override;
    [[nodiscard]] bool shows_labels() const override;
    [[nodiscard]] std::string objection(std::span<const claim> claims,
                                        const protocol::enter_options& options) const override;

    /// The line breaks, and the client hears of it. There is no other until `heal`.
    void cut();
    /// Nothing gets through any more, in either direction, and nobody is told. A client that finds the line silent and
    /// resets it hears that it is down. There is no other until `heal`: without it the client is as good as dead.
    void silence();
    /// A new line, after `cut` or `silence`.
    void heal();

    /// The next command of this kind is performed, but the line breaks before its answer: `cut`.
    void cut_before_answer(command_filter which);
    /// The next command of this kind is lost, and the line breaks: `cut`.
    void cut_before_sending(command_filter which);
    /// Whether one of the two has happened since it was asked for.
    [[nodiscard]] bool was_cut() const;

    /// Answers that were not delivered because of a fault, delivered now: what an old line brings late.
    void deliver_late();

    void drop_notices(bool on);
    void duplicate_notices(bool on);
    /// Answers come twice.
    void duplicate_answers(bool on);
    /// Each command is sent twice; the second answer goes nowhere.
    void send_twice(bool on);
    /// Notices are kept back; `false` delivers them, last one first.
    void hold_notices(bool on);
    /// How many notices have been dropped or are kept back: so that a test knows when there is one.
    [[nodiscard]] std::size_t notices_withheld() const;

    struct state;

private:
    std::shared_ptr<store> inner_;
    std::shared_ptr<state> state_;
};

}  // namespace baton::contract
