// The implementation of `faulty_store`: one connection for the client, which lasts, and connections to the wrapped
// store, which break on command. No lock is held during calls to either side, because both may call back at once and on
// any thread.
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "baton/contract/faulty_store.hpp"

namespace baton::contract {

struct late_reply {
    command_tag tag;
    baton::epoch epoch;
    std::vector<protocol::event> events;
};

/// The first report of a connection to the store: up with an epoch, or unusable.
struct first_report {
    std::optional<baton::epoch> epoch;
    store_error unusable = {};
};

struct notice {
    baton::epoch epoch;
    protocol::event event;
};

struct faulty_store::state : std::enable_shared_from_this<faulty_store::state> {
    explicit state(std::shared_ptr<store> made) : inner{std::move(made)} {}

    const std::shared_ptr<store> inner;
    mutable std::mutex mutex;
    std::weak_ptr<store_listener> client;

    // The current connection to the store, if any. Calls with the number of another connection are late.
    std::shared_ptr<store_connection> connection;
    std::shared_ptr<store_listener> listener;
    std::uint64_t connection_number = 0;
    bool passing = false;               // false: everything is dropped
    bool reported_up = false;           // the client has received `up`
    std::optional<first_report> early;  // arrived during `connect`

    command_filter before_answer;
    command_filter before_sending;
    std::optional<command_tag> fatal_tag;  // the connection breaks before the reply to it
    bool cut_done = false;
    bool dropping = false;
    bool duplicating_notices = false;
    bool duplicating_replies = false;
    bool sending_twice = false;
    bool holding = false;
    std::size_t withheld = 0;
    std::vector<notice> held;
    std::vector<late_reply> late;

    void make_connection();
    void break_connection(bool report);
    void send(std::span<tagged_command> messages);
    void reset();
    void begin(std::uint64_t number, const first_report& report);
    void down(std::uint64_t number, const store_error& why);
    void replied(std::uint64_t number, command_tag tag, epoch epoch, std::span<const protocol::event> events);
    void failed(std::uint64_t number, command_tag tag, command_failure how, const store_error& why);
    void noticed(std::uint64_t number, epoch epoch, protocol::event event);
    [[nodiscard]] bool present(std::uint64_t number) const { return passing && number == connection_number; }
};

/// The connection that the client uses.
[[nodiscard]] std::unique_ptr<store_connection> make_outer_connection(std::shared_ptr<faulty_store::state> state);

}  // namespace baton::contract
