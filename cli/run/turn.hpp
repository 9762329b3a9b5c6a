// Waiting for one's turn: the request, the line that says how it goes, and the signals that end it.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <system_error>

#include "baton/client.hpp"
#include "run/guardian.hpp"
#include "run/options.hpp"
#include "run/signals.hpp"
#include "run/voice.hpp"

namespace baton::cli {

struct turn {
    lease granted;
    std::error_code error;                     // with no lease: why
    bool busy = false;                         // with --nonblock
    std::optional<protocol::duration> paused;  // busy because the engine grants nothing for this long
    bool unreached = false;                    // the engine never answered
    int signal = 0;                            // that ended the wait
    bool guardian_lost = false;
};

/// Knows whether the engine has ever answered.
class reach_observer final : public observer {
public:
    std::atomic<bool> reached{false};
    void reconnected() override { reached = true; }
};

/// When it returns without a lease, the request has left the queue, or the client is closed.
[[nodiscard]] turn await_turn(client& client, const run_options& options, const std::string& label, signals& signals,
                              guardian& guardian, const reach_observer& reach, voice& voice);

}  // namespace baton::cli
