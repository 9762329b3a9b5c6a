// One connection between a client and a server. Messages are delayed and, as drawn by the schedule, lost, duplicated or
// reordered. A connection that was cut may still deliver messages that were already sent.
#pragma once

#include <functional>
#include <memory>

#include "packet.hpp"
#include "timeline.hpp"

namespace baton::fleet {

class client;
class server;
class world;

class connection : public std::enable_shared_from_this<connection> {
public:
    connection(world& world, std::shared_ptr<client> client, std::shared_ptr<server> server);

    void send(packet packet);
    void answer(answer answer);
    /// The server closes the connection.
    void refuse();

    /// Stops new messages; those already sent are dropped or arrive late.
    void cut() { cut_ = true; }
    /// Until then all messages are dropped without an error.
    void go_silent(true_time until) { silent_until_ = until; }

    [[nodiscard]] const std::shared_ptr<fleet::server>& other_end() const { return server_; }

private:
    void carry(true_time& last, std::function<void()> arrive);

    world& world_;
    std::shared_ptr<client> client_;
    std::shared_ptr<fleet::server> server_;
    baton::epoch epoch_;  // the newest epoch that the client's end has received
    bool cut_ = false;
    true_time silent_until_{};
    true_time last_to_server_{};
    true_time last_to_client_{};
};

}  // namespace baton::fleet
