// What a faulty store does between a client and a store: a connection to the client that stays, and connections to the
// store that come and go. No lock is held while either side is called, because both call back at once and on any
// thread.
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "baton/contract/faulty_store.hpp"

namespace baton::contract {

struct late_answer {
    command_tag tag;
    baton::epoch epoch;
    std::vector<protocol::event> events;
};

/// What a connection says first: its epoch, or why it has none.
struct first_word {
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

    // The present connection to the store, if any. Each has a number: what others bring is late.
    std::shared_ptr<store_connection> connection;
    std::shared_ptr<store_listener> listener;
    std::uint64_t line_number = 0;
    bool passing = false;             // things get through
    bool reported_up = false;         // the client was told of a connection
    std::optional<first_word> early;  // heard while the connection was being made

    command_filter before_answer;
    command_filter before_sending;
    std::optional<command_tag> fatal_tag;  // its answer breaks the connection
    bool cut_done = false;
    bool dropping = false;
    bool duplicating_notices = false;
    bool duplicating_answers = false;
    bool sending_twice = false;
    bool holding = false;
    std::size_t withheld = 0;
    std::vector<notice> held;
    std::vector<late_answer> late;

    void make_line();
    void break_connection(bool tell);
    void send(std::span<tagged_command> messages);
    void reset();
    void begin(std::uint64_t number, const first_word& word);
    void down(std::uint64_t number, const store_error& why);
    void replied(std::uint64_t number, command_tag tag, epoch epoch, std::span<const protocol::event> events);
    void failed(std::uint64_t number, command_tag tag, command_failure how, const store_error& why);
    void noticed(std::uint64_t number, epoch epoch, protocol::event event);
    [[nodiscard]] bool present(std::uint64_t number) const { return passing && number == line_number; }
};

/// The store's end of a connection, as the client sees it.
[[nodiscard]] std::unique_ptr<store_connection> make_outer_connection(std::shared_ptr<faulty_store::state> state);

}  // namespace baton::contract
