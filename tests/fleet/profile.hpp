// The parameters of a schedule, drawn from its seed: the number of clients, the faults of the network, the disasters.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dice.hpp"
#include "timeline.hpp"

namespace baton::fleet {

using sim::dice;

/// Protections outside of the client that can be removed, to show that they are needed.
struct removed {
    bool pause = false;          // a server that lost its memory serves at once
    bool long_pause = false;     // the pause is shorter than the longest ttl
    bool suspend_clock = false;  // clients measure with a clock that stops while their machine sleeps
    bool ended_ids = false;      // servers forget a session when it ends
    bool witness = false;        // a server does not notice that its memory was replaced
    bool knowledge = false;      // a client does not send its epoch and numbers in the handshake
};

inline constexpr std::chrono::milliseconds usual_delay{20};

struct profile {
    explicit profile(dice& dice);

    std::size_t clients = 0;
    std::vector<std::string> names;
    std::chrono::milliseconds max_ttl{3'000};
    std::optional<std::uint32_t> budget;  // of the engine, for one step
    std::chrono::milliseconds lag{200};   // how long an old server may go on beside its successor
    micros chaos{0};                      // how long faults happen
    micros think{0};                      // mean time between two acquires of a client
    micros delay{0};                      // longest usual delay of a message

    // In percent of all messages; a connection keeps the order of its messages unless `reorder` strikes.
    std::size_t drop = 0;
    std::size_t duplicate = 0;
    std::size_t reorder = 0;
    std::size_t late_copy = 0;  // of a command: a second copy arrives up to 4 s later, as from an old connection
    std::size_t drop_notice = 0;
    std::size_t cut_off_at_news = 0;  // in percent of the times that a client receives another epoch

    // The number of events in the time of faults.
    std::size_t cuts = 0;
    std::size_t outages = 0;
    std::size_t pauses = 0;
    std::size_t kills = 0;
    std::size_t restarts = 0;
    std::size_t revocations = 0;
    std::size_t role_changes = 0;  // of a server whose connections stay open
    std::size_t moves = 0;         // of the address, to a server without the state of the last one

    /// True without any fault: then no lease may be lost.
    [[nodiscard]] bool calm() const {
        if (delay > usual_delay) return false;
        return drop + duplicate + reorder + late_copy + drop_notice + cuts + outages + pauses + kills + restarts +
                   role_changes + moves ==
               0;
    }
};

}  // namespace baton::fleet
