// A simulated process with the real session machine, driven as src/client/client_core.cpp drives it, a drifting clock,
// and a user who acquires, holds, releases and gives up at random. The process may be paused and killed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/session.hpp"
#include "drifting_clock.hpp"
#include "judge.hpp"

namespace baton::fleet {

class connection;
class server;
class world;

class client : public std::enable_shared_from_this<client> {
public:
    /// Queue bounds from this number on identify operations.
    static constexpr std::size_t first_bound = 1'000'000;

    client(world& world, std::size_t number);

    void start();
    void pause(micros length, bool whole_machine);
    void kill();
    void close();
    void receive(const answer& answer);
    void revoke(const std::string& resource, protocol::serial ticket);

    [[nodiscard]] bool valid(detail::handle handle) const { return session_.valid(handle, local_time()); }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const std::shared_ptr<fleet::connection>& connection() const { return connection_; }
    /// The connection is gone; the client notices it after this time.
    void notice_cut(micros after);
    /// The server has closed this connection.
    void lose(const std::shared_ptr<fleet::connection>& connection);
    /// How often the address had moved at the client's last handshake, plus 1; 0: there was no handshake.
    [[nodiscard]] std::size_t met() const { return met_; }

private:
    using client_time = detail::client_time;
    using input = std::function<void(client_time now)>;

    [[nodiscard]] client_time local_time() const;
    /// Handles an input; inputs of a paused process wait.
    void take(input input);
    void run(const input& input);
    void perform(const detail::action& action);
    void connect();
    void shake_hands(server& server);
    void learn(const answer& answer);
    void drop_connection();
    void arm();
    void think();
    void acquire(client_time now);
    void give_up_on(operation& operation);
    void hold(operation& operation);
    void release(operation& operation);

    world& world_;
    std::string name_;
    drifting_clock clock_;
    std::uint64_t drawn_ = 0;
    std::uint64_t used_ = 0;       // the highest number used
    protocol::request_id queued_;  // the request of the last reply received
    const bool in_parts_;          // sends one `open` for each request
    detail::session session_;
    std::shared_ptr<fleet::connection> connection_;
    knowledge knowledge_;
    std::size_t met_ = 0;
    bool connecting_ = false;
    bool dead_ = false;
    bool closing_ = false;
    true_time paused_until_{};
    micros slept_{0};  // the time for which the whole machine slept
    std::vector<input> backlog_;
    std::uint64_t timer_ = 0;
    std::map<detail::handle, operation*> operations_;
};

}  // namespace baton::fleet
