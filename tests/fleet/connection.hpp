// One connection between a client and a server. Messages are late, and where the schedule has it lost, doubled or
// overtaken. A connection that is cut may still deliver what was under way.
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
    /// The server closes it.
    void refuse();

    /// Nothing new gets through; what is under way is dropped, or comes late.
    void cut() { cut_ = true; }
    /// For so long everything is swallowed, and nobody is told.
    void go_silent(true_time until) { silent_until_ = until; }

    [[nodiscard]] const std::shared_ptr<fleet::server>& other_end() const { return server_; }

private:
    void carry(true_time& last, std::function<void()> arrive);

    world& world_;
    std::shared_ptr<client> client_;
    std::shared_ptr<fleet::server> server_;
    baton::lineage lineage_;  // the newest that the client's end has heard of
    bool cut_ = false;
    true_time silent_until_{};
    true_time last_to_server_{};
    true_time last_to_client_{};
};

}  // namespace baton::fleet
