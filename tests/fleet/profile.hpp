// What a schedule is like: how many clients, how bad the network, how many disasters. Drawn from its seed.
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

/// Protections of the world around the client that can be taken away, to see that they are needed.
struct removed {
    bool pause = false;          // a server that lost its memory serves at once
    bool long_pause = false;     // it waits for less than the longest ttl
    bool suspend_clock = false;  // clients measure with a clock that stops while their machine sleeps
    bool ended_ids = false;      // servers forget a session when it ends
    bool witness = false;        // a server does not see that its memory was replaced
    bool knowledge = false;      // a client does not tell in its handshake what it knows
};

inline constexpr std::chrono::milliseconds usual_delay{20};

struct profile {
    explicit profile(dice& dice);

    std::size_t clients = 0;
    std::vector<std::string> names;
    std::chrono::milliseconds max_ttl{3'000};
    std::optional<std::uint32_t> budget;  // of the engine, for one step
    std::chrono::milliseconds lag{200};   // how long an old server may go on beside its successor
    micros chaos{0};                      // how long faults are made
    micros think{0};                      // mean time between two acquires of a client
    micros delay{0};                      // longest usual delay of a message

    // In percent of all messages; a line keeps the order of its messages unless `reorder` strikes.
    std::size_t drop = 0;
    std::size_t duplicate = 0;
    std::size_t reorder = 0;
    std::size_t late_copy = 0;  // of a command: a second copy arrives up to 4 s later, as from an old connection
    std::size_t drop_notice = 0;
    std::size_t cut_off_at_news = 0;  // in percent of the times that a client hears of another lineage

    // How often, in the whole of the chaos.
    std::size_t cuts = 0;
    std::size_t outages = 0;
    std::size_t pauses = 0;
    std::size_t kills = 0;
    std::size_t restarts = 0;
    std::size_t revocations = 0;
    std::size_t role_changes = 0;  // of a server whose connections stay open
    std::size_t moves = 0;         // of the address, to a server that does not know what the last one did

    /// Nothing at all goes wrong: then nothing may be lost either.
    [[nodiscard]] bool calm() const {
        if (delay > usual_delay) return false;
        return drop + duplicate + reorder + late_copy + drop_notice + cuts + outages + pauses + kills + restarts +
                   role_changes + moves ==
               0;
    }
};

}  // namespace baton::fleet
