// A client as the engine meets it: it knows what it was told, presents that when it connects again, and is wrong when
// a notice was lost. The schedule decides what it does; this remembers what it believes.
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

    void hear(const core::event& event);

    [[nodiscard]] const core::session_id& session() const { return session_; }
    [[nodiscard]] bool is_open() const { return open_; }
    [[nodiscard]] std::uint64_t highest() const { return highest_; }
    [[nodiscard]] const std::map<std::uint64_t, believed_request>& requests() const { return requests_; }

    /// Its connection broke: it has to open again before anything else makes sense.
    void disconnect() { open_ = false; }
    [[nodiscard]] core::open connect(dice& dice, core::instant now, std::chrono::milliseconds max_ttl);
    [[nodiscard]] core::request_id new_request(const claim_list& claims, std::optional<core::duration> hold);
    void forget(std::uint64_t number);
    /// A number that a list showed and that it does not know: it leaves such a request (rule 11).
    [[nodiscard]] std::optional<std::uint64_t> take_stranger();

private:
    [[nodiscard]] std::vector<core::live_request> live_list(dice& dice, core::instant now) const;

    core::session_id session_;
    bool open_ = false;
    bool lost_ = false;
    std::uint64_t link_ = 0;
    std::uint64_t highest_ = 0;
    std::map<std::uint64_t, believed_request> requests_;
    std::deque<std::pair<std::uint64_t, believed_request>> past_;  // what it left or was told to be over
    std::vector<std::uint64_t> strangers_;
};

/// Spoils a list in one way that a broken or hostile client might.
void forge(dice& dice, std::vector<core::live_request>& list, const std::vector<core::serial>& others);

}  // namespace baton::sim
