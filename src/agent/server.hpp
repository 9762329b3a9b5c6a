// The server of the agent: its connections, spaces and timers. One thread.
//   agent.cpp    accepts connections, handles timers and ended processes, stops
//   replies.cpp  performs the clients' messages and replies
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/peer.hpp"
#include "agent/process_limits.hpp"
#include "agent/space.hpp"
#include "agent/state_file.hpp"
#include "agent/sweeper.hpp"
#include "base/event_loop.hpp"
#include "program/agent.hpp"
#include "stores/resp/wire.hpp"

namespace baton::agent {

class server final : public peer_host {
public:
    server(const options& options, client_room room, state_file& state, descriptor listening);

    void run();

    void reply(const std::shared_ptr<peer>& from, const resp::value& request, std::string& out) override;
    void flush_notices() override;
    void ended(const std::shared_ptr<peer>& peer) override;
    [[nodiscard]] std::shared_ptr<const descriptor> keep(descriptor passed) override;

private:
    using clock = std::chrono::steady_clock;

    // agent.cpp
    void await_clients();
    void accept();
    void add_peer(descriptor socket);
    [[nodiscard]] bool is_permitted(int socket) const;
    void watch(const std::shared_ptr<peer>& from, const resp::passed_descriptors& pidfds);
    void end_processes(const std::shared_ptr<process_watch>& processes);
    void end_some_processes(const std::shared_ptr<process_watch>& processes);
    void recheck_stopped_processes();
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
    void end_if_idle();
    [[nodiscard]] bool has_no_state() const;
    void stop();
    [[nodiscard]] protocol::instant now() const;

    // replies.cpp
    void reply(const std::shared_ptr<peer>& from, const protocol::command& command, std::string& out);
    void reply(const std::shared_ptr<peer>& from, const resp::hello& hello, std::string& out);
    void reply(const std::shared_ptr<peer>& from, const resp::sweep& sweep, std::string& out);
    void reply(const std::shared_ptr<peer>& from, const resp::inspect_request& inspect, std::string& out);
    void reply(const std::shared_ptr<peer>& from, const resp::ping& ping, std::string& out);
    void reply(const std::shared_ptr<peer>& from, const resp::redis_hello& hello, std::string& out);
    [[nodiscard]] std::string bind_processes(const std::shared_ptr<peer>& from, std::uint64_t count);
    [[nodiscard]] std::string over_limit(const space& space, const protocol::command& command) const;
    [[nodiscard]] std::error_code record(const protocol::command& command);

    const options& options_;
    state_file& state_;
    limits limits_;
    client_room room_;
    clock::time_point started_ = clock::now();
    epoch epoch_;
    std::optional<clock::time_point> paused_until_;

    std::size_t kept_ = 0;  // descriptors that clients passed; declared before the members that hold them
    detail::event_loop loop_{detail::event_loop::without_thread{}};
    descriptor listening_;
    const descriptor signals_;
    detail::event_loop::timer due_timer_;
    detail::event_loop::timer idle_timer_;
    detail::event_loop::timer accept_timer_;
    detail::event_loop::timer stopped_timer_;
    std::vector<std::weak_ptr<process_watch>>
        to_recheck_;  // at `stopped_timer_`: some processes have ended, others run
    sweeper sweeper_;
    std::optional<clock::time_point> armed_;

    std::set<std::shared_ptr<peer>> peers_;
    std::map<std::string, space> spaces_;
    std::size_t sessions_ = 0;
    std::set<std::shared_ptr<peer>> unflushed_;
    bool stopping_ = false;
};

}  // namespace baton::agent
