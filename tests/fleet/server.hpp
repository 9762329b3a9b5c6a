// A server: the real engine on a drifting clock, with the lineage and the pause that a store puts around it. Its memory
// can be lost, in whole or down to some earlier moment; or be replaced by that of another server, behind its back.
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

    /// What a disaster leaves of the memory: all commands but the last so many; none: nothing at all.
    using forgotten = std::optional<std::size_t>;

    /// Another server takes over with what is left.
    [[nodiscard]] std::shared_ptr<server> successor(forgotten forgotten) const;
    /// The same server goes on with what is left; its connections do not notice.
    void lose_memory(forgotten forgotten);
    void stop() { stopped_ = true; }
    /// After `stop`, with the memory that it had.
    void go_on();
    /// Until then it is the replica of another server, which refuses commands and closes the connection. Then it is a
    /// primary again, with the other one's memory in place of its own. Connections on which nobody asked stay open.
    void become_replica(true_time until, std::size_t forgotten);
    [[nodiscard]] bool is_replica() const;

    /// The handshake. Returns the lineage that the client has to follow.
    [[nodiscard]] baton::lineage greet(const knowledge& known);
    void receive(const std::shared_ptr<connection>& from, const packet& packet);

    [[nodiscard]] baton::lineage lineage() const { return lineage_; }
    [[nodiscard]] const core::engine& engine() const { return *engine_; }
    [[nodiscard]] core::instant clock() const;

private:
    struct entry {
        core::instant at;
        protocol::command command;
        baton::lineage lineage;
    };

    /// Above the lineage that is remembered, and above this one.
    void begin_history(std::vector<entry> log, baton::lineage above = 0);
    /// The memory is not the one that this server has written last: the store's witness differs.
    void notice_replacement();
    std::vector<core::event> apply(const protocol::command& command);
    void perform(const std::shared_ptr<connection>& from, const packet& packet);
    void deliver(std::vector<std::pair<core::session_id, core::event>> notices);
    void arm();

    world& world_;
    drifting_clock clock_;
    bool stopped_ = false;
    bool replaced_ = false;  // its memory was, and it has not noticed
    true_time replica_until_{};
    baton::lineage lineage_ = 0;
    std::set<baton::lineage> succeeded_;  // lineages that are known to have come before the present one
    std::unique_ptr<core::engine> engine_;
    std::vector<entry> log_;
    std::unordered_map<core::session_id, std::weak_ptr<connection>> listeners_;
    std::uint64_t timer_ = 0;
};

}  // namespace baton::fleet
