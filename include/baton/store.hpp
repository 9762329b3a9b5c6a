/// The interface between a client and a store: implement it to write a store of your own.
///
/// A store keeps the state of a space: sessions, requests and holders. A client makes one **connection** to it and
/// sends commands (`baton/protocol.hpp`); the store replies to each command once, in any order, and may send
/// notifications in between. The client does the rest: it waits, renews, retries, releases late grants and reclaims
/// what it holds.
///
/// A store must keep these rules:
/// - It performs the commands of one connection in the order in which they were sent, each as a whole.
/// - It completes each command once, by `replied` or `failed`, unless the connection breaks. Then the client does not
///   know whether its pending commands were performed, and repeats them with the same ids on the next connection.
/// - It follows docs/rules.md for the kinds of claims that it supports; others are `failed` with `unsupported`.
/// - A grant is state, a notification is a hint: a lost notification delays a waiter at most until its next renewal.
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
#include "baton/if_unavailable.hpp"
#include "baton/inspect.hpp"
#include "baton/protocol.hpp"

namespace baton {
inline namespace v1 {

/// Matches a reply to its command.
using command_tag = std::uint64_t;

/// The number of a store's memory, 1 or more: it grows whenever the store may have lost state.
using epoch = std::uint64_t;

struct tagged_command {
    command_tag tag = 0;
    protocol::command command;
};

/// An error, with the message of the server or the system; `text` is empty if there is none.
struct store_error {
    std::error_code code;
    std::string text = {};
    std::chrono::milliseconds retry_after{0};  ///< for errc::paused: the rest of the pause
    /// In `down`: the next attempts to connect will most likely fail, too. If the client was never connected, calls
    /// that do not queue fail at once.
    bool lasting = false;
};

enum class command_failure : std::uint8_t {
    not_executed,  ///< the store certainly did not execute it: the client may send it again
    rejected,      ///< permanently, for the given reason
};

/// Called once, with the result of `inspect`.
using snapshot_callback = std::function<void(store_error, snapshot)>;

/// The client's end of a connection. The store may call its functions on any thread, concurrently, and also from within
/// `send`. They do not block and do not throw.
class store_listener {
public:
    /// The connection can be used. An epoch is 1 or more.
    virtual void up(epoch epoch) noexcept = 0;
    /// The connection is lost, or an attempt to connect has failed. Called at least for the loss, for the first attempt
    /// that fails after it, and for each new reason.
    virtual void down(const store_error& why) noexcept = 0;
    /// A permanent error, instead of the first `up` and perhaps after a `down`: the connection can never be used and
    /// makes no further attempt to connect. It is the last call for this connection. The client then calls neither
    /// `send` nor `inspect`.
    virtual void unusable(const store_error& why) noexcept = 0;
    virtual void replied(command_tag tag, epoch epoch, std::span<const protocol::event> events) noexcept = 0;
    virtual void failed(command_tag tag, command_failure how, const store_error& why) noexcept = 0;
    virtual void noticed(epoch epoch, protocol::event event) noexcept = 0;

protected:
    ~store_listener() = default;
};

/// The store's end of a connection. Used by one thread at a time. The destructor ends the connection; the store keeps
/// the session until its ttl has passed.
class store_connection {
public:
    virtual ~store_connection() = default;

    /// Sends the commands in order, together if possible. Does not wait for replies. While the connection is down, the
    /// client sends nothing. The store may move from the commands.
    virtual void send(std::span<tagged_command> commands) = 0;

    /// Drops a silent connection and makes a new one: the listener receives `down`, and `up` when the new connection is
    /// ready. If the connection is already down and the store is backing off, the store retries now.
    virtual void reset() = 0;

    /// Calls `done` on any thread, perhaps before it returns.
    virtual void inspect(const inspect_filter& filter, snapshot_callback done) = 0;
};

/// The clock with which a client measures its leases.
enum class lease_clock : std::uint8_t {
    boottime,   ///< runs while the machine sleeps: for remote stores
    monotonic,  ///< stops while the machine sleeps: for stores on the same machine
};

/// How often a client of a store renews its leases, and how long a renewal lasts.
struct lease_pace {
    std::chrono::milliseconds ttl{0};
    std::chrono::milliseconds renew_every{0};
    /// The hold limit of an acquire without `max_hold`. None: the lease lasts as long as it is renewed.
    std::optional<std::chrono::milliseconds> hold_limit = std::nullopt;
};

/// Thread-safe: clients on several threads may share one store.
class store {
public:
    virtual ~store() = default;

    /// Makes a connection. The listener receives `up` when the connection is ready, perhaps before this returns, and
    /// nothing after the connection is destroyed. If the store cannot be reached, this does not throw: the store
    /// retries until the connection is destroyed, or is `unusable`.
    virtual std::unique_ptr<store_connection> connect(std::weak_ptr<store_listener> listener) = 0;

    [[nodiscard]] virtual lease_clock clock() const { return lease_clock::boottime; }

    /// The pace that the store prescribes; a client with another ttl is refused. None: the client decides.
    [[nodiscard]] virtual std::optional<lease_pace> pace() const { return {}; }

    /// The option of the address, for clients whose own options do not set it.
    [[nodiscard]] virtual baton::if_unavailable if_unavailable() const { return baton::if_unavailable::wait; }

    /// False if other clients cannot see the label of a client.
    [[nodiscard]] virtual bool shows_labels() const { return true; }

    /// Why this store can never grant such a request, and what it supports instead, as a text for people. Empty: it
    /// can.
    [[nodiscard]] virtual std::string objection(std::span<const claim> claims,
                                                const protocol::enter_options& options) const {
        static_cast<void>(claims);
        static_cast<void>(options);
        return {};
    }
};

/// Makes the store of an address, for instance `memory:NAME`, so that a program can wrap it. Throws `error` with
/// bad_url or unsupported.
[[nodiscard]] std::shared_ptr<store> make_store(std::string_view url);

}  // namespace v1
}  // namespace baton
