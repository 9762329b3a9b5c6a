// A simulated client: it records the events that it received, presents them when it reconnects, and is wrong after a
// lost notice. The schedule decides its actions.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dice.hpp"
#include "engine/types.hpp"

namespace baton::sim {

struct believed_request {
    claim_list claims;
    core::serial ticket = 0;
    core::serial fence = 0;
    std::vector<core::claim_slots> slots;
    std::optional<core::duration> hold;
    core::instant granted_at;
};

class sim_client {
public:
    explicit sim_client(std::uint64_t index) : session_{index + 1, 1} {}

    void receive(const core::event& event);

    [[nodiscard]] const core::session_id& session() const { return session_; }
    [[nodiscard]] bool is_open() const { return open_; }
    [[nodiscard]] std::uint64_t highest() const { return highest_; }
    [[nodiscard]] const std::map<std::uint64_t, believed_request>& requests() const { return requests_; }

    /// The connection broke: the client must send `open` before anything else.
    void disconnect() { open_ = false; }
    [[nodiscard]] core::open connect(dice& dice, core::instant now, std::chrono::milliseconds max_ttl);
    [[nodiscard]] core::request_id new_request(const claim_list& claims, std::optional<core::duration> hold);
    void forget(std::uint64_t number);
    /// A listed number that the client does not know; the client leaves such a request (rule 11).
    [[nodiscard]] std::optional<std::uint64_t> take_stranger();

private:
    [[nodiscard]] std::vector<core::live_request> live_list(dice& dice, core::instant now) const;

    core::session_id session_;
    bool open_ = false;
    bool lost_ = false;
    std::uint64_t connection_number_ = 0;
    std::uint64_t highest_ = 0;
    std::map<std::uint64_t, believed_request> requests_;
    std::deque<std::pair<std::uint64_t, believed_request>> past_;  // requests that it left or that ended
    std::vector<std::uint64_t> strangers_;
};

/// Changes a list in one way, as a broken or hostile client might.
void forge(dice& dice, std::vector<core::live_request>& list, const std::vector<core::serial>& others);

}  // namespace baton::sim
