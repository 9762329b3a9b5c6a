// One connection to the agent: requests come in, answers and notices go out. It decides nothing about locks; it keeps
// what one client can cost within bounds.
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

/// Performs the requests of its peers.
class peer_host {
public:
    /// Appends the answer, one value, to `out`.
    virtual void answer(const std::shared_ptr<peer>& from, const resp::value& request, std::string& out) = 0;
    /// Writes the notices that answers have caused.
    virtual void flush_notices() = 0;
    virtual void ended(const std::shared_ptr<peer>& peer) = 0;
    /// Takes a descriptor that a client passed into the bounds of the agent. Null, and closed, if there are too many.
    [[nodiscard]] virtual std::shared_ptr<const descriptor> keep(descriptor passed) = 0;

protected:
    ~peer_host() = default;
};

class peer final : public detail::event_source, public std::enable_shared_from_this<peer> {
public:
    peer(detail::event_loop& loop, descriptor socket, peer_host& host);

    void start();
    /// Performs what has arrived and not been read: the last words of a process that has ended.
    void drain();
    /// Nothing is written before `flush`.
    [[nodiscard]] std::string& out() { return stream_.out(); }
    void flush();
    /// Writes what there is, and ends the connection.
    void finish();
    void drop();

    /// Descriptors that came and were not taken yet, in order. The kernel or the agent's bounds may have kept some
    /// away.
    [[nodiscard]] resp::passed_descriptors take_passed() { return std::exchange(passed_, {}); }

    /// Which processes the sessions opened here are bound to: decided once. Null: none, the ttl alone counts.
    [[nodiscard]] bool is_bound() const { return bound_; }
    [[nodiscard]] const std::shared_ptr<process_watch>& processes() const { return processes_; }
    void bind(std::shared_ptr<process_watch> processes) {
        bound_ = true;
        processes_ = std::move(processes);
    }
    [[nodiscard]] int socket() const { return stream_.socket(); }

    std::string space = "default";
    std::optional<owned_tree> tree;  // of the sessions that are opened here

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
    std::uint32_t awaited_ = 0;  // events, as epoll has them
    bool round_posted_ = false;
    bool paused_ = false;  // nothing is read, nor performed, until the client has read some of its answers
    bool mute_ = false;    // the other end takes no more answers: they are discarded, and its requests still performed
    bool finishing_ = false;
    bool over_ = false;
    resp::passed_descriptors passed_;
    bool bound_ = false;
    std::shared_ptr<process_watch> processes_;
};

}  // namespace baton::agent
