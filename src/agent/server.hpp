// The agent at work: who is connected, the spaces, what is due, and when to end. One thread.
//   agent.cpp    accepting, time, deaths of processes, the end
//   answers.cpp  what each request is answered
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include "agent/peer.hpp"
#include "agent/process_limits.hpp"
#include "agent/space.hpp"
#include "agent/state_file.hpp"
#include "agent/sweeper.hpp"
#include "program/agent.hpp"
#include "stores/resp/wire.hpp"

namespace baton::agent {

class server final : public peer_host {
public:
    server(const options& options, client_room room, state_file& state, int listening);

    void run();

    void answer(const std::shared_ptr<peer>& from, const resp::value& request, std::string& out) override;
    void flush_notices() override;
    void ended(const std::shared_ptr<peer>& peer) override;
    [[nodiscard]] std::shared_ptr<const descriptor> keep(descriptor passed) override;

private:
    using clock = std::chrono::steady_clock;

    // agent.cpp
    void accept();
    void welcome(peer::socket socket);
    [[nodiscard]] bool may_come_in(int socket) const;
    void watch(const std::shared_ptr<peer>& from, const resp::passed_descriptors& pidfds);
    void end_processes(const std::shared_ptr<process_watch>& processes);
    void end_some_processes(const std::shared_ptr<process_watch>& processes);
    void sweep(const std::string& space, const std::vector<space::swept_session>& sessions);
    void change(const std::string& space, const std::function<space::notices(agent::space&)>& how);
    space* find_space(const std::string& name);
    void drop_spaces(bool (*unused)(const core::engine&));
    void deliver(const space& space, space::notices& notices);
    void count_sessions(std::size_t before, std::size_t after);
    [[nodiscard]] bool may_have_clients() const;
    void arm(std::optional<clock::time_point> due);
    void tick();
    void await_idleness();
    [[nodiscard]] bool nothing_to_remember() const;
    void stop();
    [[nodiscard]] protocol::instant now() const;

    // answers.cpp
    void answer(const std::shared_ptr<peer>& from, const protocol::command& command, std::string& out);
    void answer(const std::shared_ptr<peer>& from, const resp::hello& hello, std::string& out);
    void answer(const std::shared_ptr<peer>& from, const resp::sweep& sweep, std::string& out);
    void answer(const std::shared_ptr<peer>& from, const resp::look& look, std::string& out);
    void answer(const std::shared_ptr<peer>& from, const resp::ping& ping, std::string& out);
    void answer(const std::shared_ptr<peer>& from, const resp::redis_hello& hello, std::string& out);
    [[nodiscard]] std::string bind_processes(const std::shared_ptr<peer>& from, std::uint64_t count);
    [[nodiscard]] std::string over_limit(const space& space, const protocol::command& command) const;
    [[nodiscard]] std::error_code record(const protocol::command& command);

    const options& options_;
    state_file& state_;
    limits limits_;
    client_room room_;
    clock::time_point started_ = clock::now();
    lineage lineage_;
    std::optional<clock::time_point> paused_until_;

    std::size_t kept_ = 0;  // descriptors that clients passed; outlives what holds them
    asio::io_context context_{1};
    asio::local::stream_protocol::acceptor acceptor_;
    asio::signal_set signals_;
    asio::steady_timer due_timer_;
    asio::steady_timer idle_timer_;
    asio::steady_timer accept_timer_;
    sweeper sweeper_;
    std::optional<clock::time_point> armed_;

    std::set<std::shared_ptr<peer>> peers_;
    std::map<std::string, space> spaces_;
    std::size_t sessions_ = 0;
    std::set<std::shared_ptr<peer>> unflushed_;
    bool stopping_ = false;
};

}  // namespace baton::agent
