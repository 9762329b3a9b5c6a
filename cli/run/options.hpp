// The parsed options of `baton run`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/claim.hpp"
#include "baton/if_unavailable.hpp"
#include "run/stop_sequence.hpp"
#include "store_address.hpp"

namespace baton::cli {

enum class on_lost : std::uint8_t { stop, ignore };
enum class if_abandoned : std::uint8_t { run, fail };
enum class tone : std::uint8_t { quiet, normal, verbose };

struct run_options {
    std::vector<claim> claims;
    bool nonblock = false;
    std::optional<std::chrono::milliseconds> wait;
    int conflict_exit_code = 75;
    std::chrono::milliseconds ttl{10'000};
    std::optional<std::chrono::milliseconds> max_hold;
    std::optional<std::chrono::milliseconds> kill_after;
    // Prescribed by the store, if set.
    std::optional<std::chrono::milliseconds> renew_every;
    std::optional<std::chrono::milliseconds> hold_limit;  // set only without max_hold
    cli::on_lost on_lost = on_lost::stop;
    cli::if_abandoned if_abandoned = if_abandoned::run;
    std::optional<baton::if_unavailable> if_unavailable;  // none: the address decides
    std::string note;
    cli::tone tone = tone::normal;
    bool json = false;
    cli::store_address address;
    std::vector<std::string> command;
};

[[nodiscard]] inline stop_times stop_times_for(const run_options& options) {
    return stop_times_for({options.ttl, options.renew_every, options.hold_limit}, options.kill_after);
}

/// Throws `failure` (usage) if --kill-after leaves too little time to stop the command before the lock is lost.
void check_kill_after(const run_options& options);

}  // namespace baton::cli
