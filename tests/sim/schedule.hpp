// Random schedules from one integer. Few clients and few names, so that they collide; each schedule draws its own
// weights of actions, so that rare actions meet (swarm testing). A client's next action depends on the events that it
// received, so a schedule is drawn step by step while it runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "dice.hpp"
#include "engine/types.hpp"
#include "plan.hpp"
#include "sim_client.hpp"

namespace baton::sim {

class schedule {
public:
    explicit schedule(std::uint64_t seed);

    [[nodiscard]] const core::engine_options& options() const { return options_; }

    /// `due` is the engine's next due time: steps near it are drawn more often.
    [[nodiscard]] step next(std::optional<core::instant> due);
    /// Delivers the events of the last step to the clients; some notices are lost.
    void observe(const step& step, const std::vector<core::event>& events, std::size_t log_size);

private:
    // In the order of `ordinary_weights` in schedule.cpp.
    enum action : std::size_t {
        enter_new,
        leave_one,
        leave_early,
        ask_again,
        renew_session,
        list_requests,
        reconnect,
        close_session,
        tick_only,
        revoke_one,
        mend_one,
        resize_one,
        pause_all,
        resend,
        malform,
        lose_state,
        action_count
    };

    void make_plain();
    void move_time(std::optional<core::instant> due);
    [[nodiscard]] action draw_action();
    [[nodiscard]] sim_client& any_client() { return clients_[dice_.below(clients_.size())]; }
    [[nodiscard]] std::vector<core::claim> draw_claims();
    [[nodiscard]] core::claim draw_claim(const std::string& name);
    [[nodiscard]] std::vector<core::serial> known_serials() const;

    [[nodiscard]] core::command command_for(action chosen);
    [[nodiscard]] core::command draw_enter(sim_client& client);
    [[nodiscard]] core::command draw_leave(sim_client& client);
    [[nodiscard]] core::command draw_again(sim_client& client);
    [[nodiscard]] core::command draw_open(sim_client& client);
    [[nodiscard]] core::command draw_revoke();
    [[nodiscard]] core::command draw_pause();
    [[nodiscard]] core::command malformed();

    dice dice_;
    core::engine_options options_;
    std::vector<std::string> names_;
    std::vector<std::uint32_t> usual_limits_;  // of the names
    std::vector<sim_client> clients_;
    std::array<std::size_t, action_count> weights_{};
    std::array<std::size_t, 3> mode_weights_{};
    std::size_t most_live_ = 0;  // requests of one client
    std::size_t deafness_ = 0;   // per cent of the notices that are lost
    bool clock_goes_back_ = false;
    bool paces_slowly_ = false;
    bool plain_ = false;  // quiet, and without most options

    core::instant now_;
    core::instant paused_until_;
    std::size_t log_size_ = 0;
    bool pause_next_ = false;  // a restart is followed by a pause
    std::deque<core::command> sent_;
};

}  // namespace baton::sim
