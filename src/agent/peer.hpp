// One connection to the agent: it decodes commands, passes them to the server, and sends replies and notifications. It
// bounds the memory and the time that one client can use.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agent/process_watch.hpp"
#include "agent/sweeper.hpp"
#include "base/event_loop.hpp"
#include "stores/resp/stream.hpp"

namespace baton::agent {

class peer;

/// Performs the commands of its peers.
class peer_host {
public:
    /// Performs a command and appends its reply, one value, to `out`.
    virtual void reply(const std::shared_ptr<peer>& from, const resp::value& request, std::string& out) = 0;
    /// Sends the notifications that commands have caused.
    virtual void flush_notices() = 0;
    virtual void ended(const std::shared_ptr<peer>& peer) = 0;
    /// Takes a descriptor that a client passed. Closes it and returns null if there are too many.
    [[nodiscard]] virtual std::shared_ptr<const descriptor> keep(descriptor passed) = 0;

protected:
    ~peer_host() = default;
};

class peer final : public detail::event_source, public std::enable_shared_from_this<peer> {
public:
    peer(detail::event_loop& loop, descriptor socket, peer_host& host);

    void start();
    /// Reads and performs the input that has arrived, for instance from a process that has ended.
    void drain();
    /// The output buffer, which `flush` sends.
    [[nodiscard]] std::string& out() { return stream_.out(); }
    void flush();
    /// Sends the output buffer and closes the connection.
    void finish();
    void drop();

    /// The descriptors received since the last call, in order. The kernel or the agent's limits may have dropped some.
    [[nodiscard]] resp::passed_descriptors take_passed() { return std::exchange(passed_, {}); }

    /// The processes that the sessions of this connection are bound to; set once. Null: none, only the ttl ends them.
    [[nodiscard]] bool is_bound() const { return bound_; }
    [[nodiscard]] const std::shared_ptr<process_watch>& processes() const { return processes_; }
    void bind(std::shared_ptr<process_watch> processes) {
        bound_ = true;
        processes_ = std::move(processes);
    }
    [[nodiscard]] int socket() const { return stream_.socket(); }

    std::string space = "default";
    std::optional<owned_tree> tree;  // of the sessions opened on this connection

private:
    void ready(std::uint32_t events) override;
    ssize_t receive();
    void serve_round();
    bool perform(std::size_t most, std::size_t unsent);
    void perform_all();
    void end_after_input();
    void await_events();

    detail::event_loop& loop_;
    peer_host& host_;
    resp::stream stream_;
    std::uint32_t awaited_ = 0;  // epoll events
    bool round_posted_ = false;
    bool paused_ = false;  // no reading and no commands until the client has read some replies
    bool mute_ = false;    // replies cannot be delivered: commands are still performed, replies discarded
    bool finishing_ = false;
    bool over_ = false;
    resp::passed_descriptors passed_;
    bool bound_ = false;
    std::shared_ptr<process_watch> processes_;
};

}  // namespace baton::agent
