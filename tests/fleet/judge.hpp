// The judge sees the beliefs of every client and the actions of every server, and throws at the first broken promise:
//
// - No two clients believe, by their own `valid()`, that they hold grants that exclude each other.
// - Grants of a resource reach clients in the order of their fences; fences only grow; none is given twice.
// - Every loss is reported once; a lost lease is never valid again; no lease is lost without a cause.
// - A lease survives a loss of the server's memory, unless its deadline passes before it can be presented.
// - A waiter keeps its ticket unless the server ends its request, even if its session is lost.
// - A request that its client has left is never entered again by late or repeated messages.
// - For the longest ttl after its end, a session is not opened again and gets no grant.
// - In the end every waiter was granted, and servers keep no request.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "client/session.hpp"
#include "engine/engine.hpp"
#include "packet.hpp"

namespace baton::fleet {

class client;
class server;
class world;

class broken_promise : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One acquire of a client, from the call to the end of its lease.
struct operation {
    enum class phase : std::uint8_t { waiting, held, over };

    std::uint64_t id = 0;
    std::shared_ptr<client> owner;
    detail::handle handle = 0;
    std::vector<claim> claims;
    operation::phase phase = phase::waiting;
    protocol::request_id request;  // of its last `enter` or `open`
    protocol::serial ticket = 0;   // the last that the server reported; 0: none, or its queue position is rightly gone
    bool knows_position = false;   // the client received its ticket and no end of its wait
    protocol::serial fence = 0;
    std::vector<protocol::claim_slots> slots;
    bool loss_reported = false;
    bool seen_invalid = false;
};

class judge {
public:
    explicit judge(world& world) : world_{world} {}

    // Calls of the clients.
    operation& started(std::shared_ptr<client> owner, std::vector<claim> claims);
    void entered(const protocol::enter& command);
    void presented(const protocol::open& command);
    void received_position(const protocol::request_id& request);
    void received_end(const protocol::request_id& request);
    void acquired(operation& operation, const detail::grant& grant);
    void failed(operation& operation) { operation.phase = operation::phase::over; }
    void released(operation& operation) { operation.phase = operation::phase::over; }
    void lost(operation& operation, loss reason, bool over);
    void died(const client& owner);
    /// Checks a client's beliefs; called after each of its actions.
    void check_beliefs(const client& owner);

    // Calls of the servers.
    void epoch_began(epoch epoch);
    void performed(const core::engine& engine, epoch epoch, const packet& packet,
                   const std::vector<protocol::event>& events, protocol::instant now);

    [[nodiscard]] bool everyone_served() const;
    void check_nothing_remains(const server& server) const;

    [[nodiscard]] std::uint64_t grants() const { return grants_; }
    [[nodiscard]] const std::map<std::string, std::uint64_t>& seen() const { return seen_; }

    [[noreturn]] static void fail(const std::string& what) { throw broken_promise{what}; }

private:
    struct session_end {
        protocol::instant at;  // by the server's clock
        std::string how;
    };

    void check_exclusion(const operation& mine) const;
    void check_order(const operation& operation);
    void note_unknown(const packet& packet, const std::vector<protocol::event>& events);
    void note_number(const protocol::request_id& request) {
        numbers_[request.session] = std::max(numbers_[request.session], request.number);
    }
    void note_back(const packet& packet, const std::vector<protocol::event>& events);
    void note_left(const core::engine& engine, const packet& packet, const std::vector<protocol::event>& events);
    void on(const protocol::queued& event, epoch epoch);
    void on(const protocol::granted& event, epoch epoch);
    void on(const protocol::ended& event);
    void note_ended(const protocol::session_id& session, const char* how, protocol::instant now);
    void check_not_ended(const packet& packet, const std::vector<protocol::event>& events, protocol::instant now);
    void check_not_left(const protocol::request_id& request) const;
    [[nodiscard]] operation* find(const protocol::request_id& request);

    world& world_;
    std::map<std::uint64_t, operation> operations_;
    std::map<protocol::request_id, std::uint64_t> requests_;  // to operations
    std::map<protocol::request_id, protocol::serial> granted_;
    std::set<protocol::request_id> left_;                        // in the present epoch
    std::set<protocol::request_id> met_;                         // live once, in the present epoch
    std::map<protocol::session_id, std::uint64_t> numbers_;      // the highest that was entered or left
    std::map<protocol::session_id, std::uint64_t> connections_;  // the newest `open` of each, in the present epoch
    std::set<protocol::session_id> unknown_;                     // reported as unknown by a server
    std::map<protocol::session_id, session_end> ended_;          // in the present epoch
    std::map<std::string, std::map<claim_mode, protocol::serial>> delivered_;  // the newest fence, by resource and mode
    protocol::serial last_fence_ = 0;
    epoch newest_ = 0;
    std::uint64_t epochs_ = 0;
    std::uint64_t grants_ = 0;
    std::map<std::string, std::uint64_t> seen_;  // how often each situation occurred
};

}  // namespace baton::fleet
