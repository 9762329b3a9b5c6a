// A server: the real engine on a drifting clock, with the epoch and the pause of a store. Its memory can be lost, in
// whole or back to an earlier moment, or be replaced by that of another server without notice.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "drifting_clock.hpp"
#include "engine/engine_host.hpp"
#include "packet.hpp"

namespace baton::fleet {

class connection;
class world;

class server : public std::enable_shared_from_this<server> {
public:
    explicit server(world& world);

    /// How many of the last commands a disaster removes from the memory; none: all of them.
    using forgotten = std::optional<std::size_t>;

    /// Another server takes over with the remaining memory.
    [[nodiscard]] std::shared_ptr<server> successor(forgotten forgotten) const;
    /// The same server goes on with the remaining memory; its connections stay open.
    void lose_memory(forgotten forgotten);
    void stop() { stopped_ = true; }
    /// Continues after `stop`, with its memory.
    void go_on();
    /// Until then the server is a replica of another server: it refuses commands and closes their connections. Then it
    /// is a primary again, with the other server's memory. Connections without a command stay open.
    void become_replica(true_time until, std::size_t forgotten);
    [[nodiscard]] bool is_replica() const;

    /// The handshake. Returns the epoch that the client must follow.
    [[nodiscard]] baton::epoch handshake(const knowledge& known);
    void receive(const std::shared_ptr<connection>& from, const packet& packet);

    [[nodiscard]] baton::epoch epoch() const { return epoch_; }
    [[nodiscard]] const core::engine& engine() const { return *engine_; }
    [[nodiscard]] core::instant clock() const;

private:
    struct entry {
        core::instant at;
        protocol::command command;
        baton::epoch epoch;
    };

    /// The new epoch is above the stored epoch and above this one.
    void begin_epoch(std::vector<entry> log, baton::epoch above = 0);
    /// The memory is not the one that this server wrote last: the witness differs.
    void notice_replacement();
    std::vector<core::event> apply(const protocol::command& command);
    void perform(const std::shared_ptr<connection>& from, const packet& packet);
    void deliver(std::vector<std::pair<core::session_id, core::event>> notices);
    void arm();

    world& world_;
    drifting_clock clock_;
    bool stopped_ = false;
    bool replaced_ = false;  // its memory was replaced, and it has not noticed
    true_time replica_until_{};
    baton::epoch epoch_ = 0;
    std::set<baton::epoch> succeeded_;  // epochs that are known to precede the present one
    std::unique_ptr<core::engine> engine_;
    std::vector<entry> log_;
    std::unordered_map<core::session_id, std::weak_ptr<connection>> listeners_;
    std::uint64_t timer_ = 0;
};

}  // namespace baton::fleet
