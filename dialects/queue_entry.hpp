// One request in the protocol of another program: the commands for it, and the meaning of their replies. Each dialect
// has its own kind of entry. dialect_session.hpp decides for all dialects when to poll, renew and leave. No I/O, no
// clock and no threads here: commands and replies go through `context`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "baton/protocol.hpp"
#include "stores/redis/script_text.hpp"
#include "stores/resp/codec.hpp"

namespace baton::dialects {

using redis_command = std::vector<std::string>;
using replies = std::vector<resp::value>;

[[nodiscard]] redis_command call(const redis::script_text& script, std::initializer_list<std::string> keys,
                                 std::initializer_list<std::string> arguments);

/// Microseconds of the server's wall clock.
using server_time = std::chrono::sys_time<std::chrono::microseconds>;

class queue_entry;

/// The server and the clocks, for queue entries.
class context {
public:
    virtual ~context() = default;

    /// Sends the commands in one write, after all earlier commands. `done` is called once, with a reply, perhaps an
    /// error, for each command. If there is no connection, or it breaks, `done` is destroyed without a call.
    virtual void execute(std::vector<redis_command> commands, std::function<void(const replies&)> done) = 0;
    /// Polls `entry` at the next change of the key by any client. Changes before this call may be missed. The watch
    /// ends with that change.
    virtual void watch(const std::string& key, const queue_entry& entry) = 0;
    /// Polls `entry` when a message of that name arrives. The subscription ends with that message.
    virtual void subscribe(const std::string& name, const queue_entry& entry) = 0;
    /// False if the server does not permit watching: waiters then poll more often.
    [[nodiscard]] virtual bool can_watch() const = 0;
    /// The client's clock.
    [[nodiscard]] virtual protocol::instant now() const = 0;
    /// Estimated server time: the last reading plus the elapsed time.
    [[nodiscard]] virtual server_time server_now() const = 0;
    /// 16 bytes that are hard to guess.
    [[nodiscard]] virtual std::string random_bytes() = 0;
};

enum class claim_status : std::uint8_t {
    waiting,
    held,
    gone,    // it was held, and is not any more
    failed,  // the server replied with an error
};

struct claim_result {
    claim_status status = claim_status::waiting;
    server_time at = {};                         // the server's time while it was held: grows from holder to holder
    std::vector<protocol::mark> abandoned = {};  // earlier holders that died, if the protocol shows them
    std::error_code error = {};
};

class queue_entry {
public:
    using callback = std::function<void(const claim_result&)>;

    queue_entry() = default;
    queue_entry(const queue_entry&) = delete;
    queue_entry& operator=(const queue_entry&) = delete;
    virtual ~queue_entry() = default;

    /// Joins the queue if the server does not know the entry, and reads its state. The status is waiting, held or
    /// failed.
    virtual void poll(callback done) = 0;
    /// Renews an entry that is held. The status is held, gone or failed.
    virtual void renew(callback done) = 0;
    /// Removes the entry from the server, in any state.
    virtual void leave(std::function<void()> done) = 0;
    /// The longest delay from a poll to the next one, if no notification arrives.
    [[nodiscard]] virtual protocol::duration poll_delay() const = 0;

    /// The labels under which a listing may show the entry.
    [[nodiscard]] virtual std::vector<std::string> names() const = 0;

    /// The number of the request.
    std::uint64_t number = 0;
};

/// The first error; null if there is none.
[[nodiscard]] const resp::value* error_in(const replies& replies);
[[nodiscard]] claim_result failure_of(const resp::value& error);

/// Decodes the reply to TIME.
[[nodiscard]] server_time time_in(const resp::value& reply);

}  // namespace baton::dialects
