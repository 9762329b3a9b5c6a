/// How a client and a place that keeps requests talk: what a store of your own has to implement.
///
/// A store keeps the state of a space: sessions, requests, who holds what. A client opens one **line** to it and sends
/// commands (`baton/protocol.hpp`); the store answers each command once, in any order, and may send notices in between.
/// The client does the rest: waiting, renewing, asking again, giving late grants back, presenting what it holds.
///
/// What a store must keep to:
/// - commands of one line are performed in the order in which they were sent, each as a whole;
/// - each is answered once by `replied` or `failed`, unless the line goes down: then the client counts what is not
///   answered as unknown, and repeats it under the same id when the line is up again;
/// - the rules of docs/rules.md, for the kinds of claims that it supports; others are `failed` with `unsupported`;
/// - a grant is state, a notice is a hint: one that is lost delays the waiter until its next renewal, no longer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "baton/claim.hpp"
#include "baton/inspect.hpp"
#include "baton/protocol.hpp"

namespace baton {
inline namespace v1 {

/// Joins a command and its answer.
using command_tag = std::uint64_t;

/// The number of a store's present memory, 1 or more: it grows whenever the store may have lost some of it.
using lineage = std::uint64_t;

struct tagged_command {
    command_tag tag = 0;
    protocol::command command;
};

/// What went wrong, and what the server or the system said about it, for people to read; empty: nothing more than the
/// code says.
struct store_error {
    std::error_code code;
    std::string text = {};
    std::chrono::milliseconds retry_after{0};  ///< of errc::paused: how long the pause still lasts
};

enum class command_failure : std::uint8_t {
    not_executed,  ///< surely not: the client may send it again
    rejected,      ///< for good, for the reason given
};

/// Gets what came of `inspect`, once.
using inspect_answer = std::function<void(store_error, snapshot)>;

/// The client's end of a line. Its functions may be called on any thread, also from within `send`, one at a time or
/// several at once; they return soon, and never throw.
class store_listener {
public:
    /// The line can be used. A lineage is 1 or more.
    virtual void up(lineage lineage) noexcept = 0;
    virtual void down(const store_error& why) noexcept = 0;
    /// In place of the first `up`, perhaps after a `down`: the store refuses this client for good, and the line makes
    /// no other attempt to connect. The listener hears nothing else of this line, and calls neither `send` nor
    /// `inspect`.
    virtual void unusable(const store_error& why) noexcept = 0;
    virtual void replied(command_tag tag, lineage lineage, std::span<const protocol::event> events) noexcept = 0;
    virtual void failed(command_tag tag, command_failure how, const store_error& why) noexcept = 0;
    virtual void noticed(lineage lineage, protocol::event event) noexcept = 0;

protected:
    ~store_listener() = default;
};

/// The store's end of a line. Used by one thread at a time. Its destructor ends the line; the session behind it is the
/// store's to keep until its ttl is over.
class store_line {
public:
    virtual ~store_line() = default;

    /// Passes commands on, in order, in one go where that is possible. Does not wait for answers. Nothing is sent while
    /// the line is down. The commands are the store's to move from.
    virtual void send(std::span<tagged_command> commands) = 0;

    /// The line is silent: drop it and make another. The listener hears `down`, and `up` when there is one. If the line
    /// is down already and the store waits before it tries again, it tries now.
    virtual void reset() = 0;

    /// Answers on any thread, perhaps before it returns.
    virtual void inspect(const inspect_filter& filter, inspect_answer answer) = 0;
};

/// Which clock a client of the store measures its leases with.
enum class lease_clock : std::uint8_t {
    boottime,   ///< runs while the machine sleeps: for stores elsewhere
    monotonic,  ///< sleeps with the machine: for stores on the same one
};

/// How often a client of a store says that it lives, and how long that counts.
struct lease_pace {
    std::chrono::milliseconds ttl{0};
    std::chrono::milliseconds renew_every{0};
    /// How long an acquire without a `max_hold` of its own may hold. None: as long as it is renewed.
    std::optional<std::chrono::milliseconds> hold_limit = std::nullopt;
};

/// Thread-safe: clients on several threads share one.
class store {
public:
    virtual ~store() = default;

    /// Makes a line. The listener hears `up` once it can be used, perhaps before this returns, and nothing after it is
    /// gone. A store that cannot be reached is no exception: it tries until the line is gone, or is `unusable`.
    virtual std::unique_ptr<store_line> connect(std::weak_ptr<store_listener> listener) = 0;

    [[nodiscard]] virtual lease_clock clock() const { return lease_clock::boottime; }

    /// Where that is the store's to say and not the client's: a client that asks for another ttl is refused.
    [[nodiscard]] virtual std::optional<lease_pace> pace() const { return {}; }

    /// False where others cannot be shown the label of a client.
    [[nodiscard]] virtual bool shows_labels() const { return true; }

    /// Why this can never be had here, and what can, for people to read; empty: it can.
    [[nodiscard]] virtual std::string objection(std::span<const claim> claims,
                                                const protocol::enter_options& options) const {
        static_cast<void>(claims);
        static_cast<void>(options);
        return {};
    }
};

/// The store that an address names, for instance `memory:NAME`: to put something between it and a client. Throws
/// `error` with bad_url or unsupported.
[[nodiscard]] std::shared_ptr<store> make_store(std::string_view url);

}  // namespace v1
}  // namespace baton
