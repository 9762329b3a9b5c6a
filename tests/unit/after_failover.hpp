// A fixture whose engine can fail over (rule 11): an empty engine takes over and waits for reclaims.
#pragma once

#include <utility>

#include "world.hpp"

namespace baton::core::test {

class after_failover : public world {
protected:
    // An empty engine takes over, with a pause of 15 s.
    void fail_over() {
        lose_memory();
        now += 1s;
        pause(15s);
    }

    // Requests that a client of an earlier epoch may present, with numbers that the test chooses.
    static live_request grant(std::vector<claim> claims, serial ticket, serial fence,
                              std::vector<claim_slots> slots = {}) {
        return {1, std::move(claims), ticket, fence, std::move(slots), {}};
    }
    static live_request waiter(std::vector<claim> claims, serial ticket) {
        return {1, std::move(claims), ticket, 0, {}, {}};
    }
    static live_request numbered(std::uint64_t number, live_request live) {
        live.number = number;
        return live;
    }
    // Ends the pause; these sessions renew shortly before.
    std::string end_pause(const std::vector<std::string>& sessions) {
        now += 15s - 1us;
        for (const std::string& each : sessions) renew(each);
        return advance(1us);
    }
};

}  // namespace baton::core::test
