// One request in the words of another protocol: what is said to the server, and what the answers mean. Each dialect has
// its own kind of entry; when to look, to renew and to leave is decided once for all of them, in dialect_session.hpp.
// No I/O, no clock, no threads here: what is said goes through `talk`, and the answer comes back as a call.
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

/// A command as the server reads it.
using words = std::vector<std::string>;
using answers = std::vector<resp::value>;

[[nodiscard]] words call(const redis::script_text& script, std::initializer_list<std::string> keys,
                         std::initializer_list<std::string> arguments);

/// Microseconds of the server's wall clock.
using server_time = std::chrono::sys_time<std::chrono::microseconds>;

class queue_entry;

/// What queue entries need of the outside.
class talk {
public:
    virtual ~talk() = default;

    /// Sent in one go, in order after all that was sent before. `done` is called once, with one answer to each command,
    /// errors among them. Without a connection, or when it breaks, `done` is destroyed and never called.
    virtual void ask(std::vector<words> commands, std::function<void(const answers&)> done) = 0;
    /// `who` is looked at when the key changes, by whomever, from what is asked after this on. Once: then it has to
    /// watch again.
    virtual void watch(const std::string& key, const queue_entry& who) = 0;
    /// `who` is looked at when a message of that name comes.
    virtual void listen(const std::string& name, const queue_entry& who) = 0;
    /// Where the server does not let us watch, whoever waits has to look often.
    [[nodiscard]] virtual bool can_watch() const = 0;
    /// The client's own clock.
    [[nodiscard]] virtual protocol::instant now() const = 0;
    /// The server's, as it was told last and as much later as it is now.
    [[nodiscard]] virtual server_time server_now() const = 0;
    /// 16 bytes that nobody can guess.
    [[nodiscard]] virtual std::string random_bytes() = 0;
};

enum class claim_status : std::uint8_t {
    waiting,
    held,
    gone,    // it held, and does not any more
    failed,  // the server said no, and why
};

struct claim_result {
    claim_status status = claim_status::waiting;
    server_time at = {};                         // when it was held, by the server's clock: grows from holder to holder
    std::vector<protocol::mark> abandoned = {};  // by those who held before, if it is known
    std::error_code error = {};
};

class queue_entry {
public:
    using heard = std::function<void(const claim_result&)>;

    queue_entry() = default;
    queue_entry(const queue_entry&) = delete;
    queue_entry& operator=(const queue_entry&) = delete;
    virtual ~queue_entry() = default;

    /// Asks for it the first time, and asks again whatever became of it. Ends as waiting, held or failed.
    virtual void poll(heard done) = 0;
    /// Of one that is held. Ends as held, gone or failed.
    virtual void renew(heard done) = 0;
    /// Nothing of it remains, whatever became of it.
    virtual void leave(std::function<void()> done) = 0;
    /// How long it may wait after a look for the next, if nothing is heard.
    [[nodiscard]] virtual protocol::duration poll_delay() const = 0;

    /// What the protocol may call it, in what is listed.
    [[nodiscard]] virtual std::vector<std::string> names() const = 0;

    /// The request's, by which the session knows it.
    std::uint64_t number = 0;
};

/// Where an answer is an error: what the entry ended as.
[[nodiscard]] const resp::value* error_in(const answers& answers);
[[nodiscard]] claim_result failure_of(const resp::value& error);

/// The answer to TIME.
[[nodiscard]] server_time time_in(const resp::value& answer);

}  // namespace baton::dialects
