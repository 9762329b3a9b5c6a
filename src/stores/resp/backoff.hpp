// How long to wait before the next attempt to connect. Pure: how the last connection ended and a random number come in,
// a delay comes out. A completed handshake proves nothing: a server may greet and hang up for ever.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace baton::resp {

class backoff {
public:
    using duration = std::chrono::microseconds;

    static constexpr duration first{1'000};  // after the first failure; each further one doubles it
    static constexpr duration longest{1'000'000};
    static constexpr duration after_brief_use{5'000};
    static constexpr duration lasting{1'000'000};  // a connection that was up for this long did not break at once

    /// One attempt, and what came of it.
    struct ended {
        std::optional<duration> up;  // how long it was up; none: the handshake was not completed
        bool answered = false;       // a request, and not with an error
    };

    /// The delay before the next attempt. `random` is any number: it shortens or lengthens a delay by up to a half, so
    /// that clients that were cut off together do not come back together.
    [[nodiscard]] duration delay_after(const ended& last, std::uint32_t random) {
        if (!last.up || !last.answered) {
            const duration delay = std::min(longest, first * (1U << std::min(failures_, 10U)));
            ++failures_;
            return spread(delay, random);
        }
        failures_ = 0;
        return *last.up >= lasting ? duration{0} : spread(after_brief_use, random);
    }

private:
    static duration spread(duration delay, std::uint32_t random) {
        return delay / 2 + delay * static_cast<int>(random % 1024U) / 1024;
    }

    unsigned failures_ = 0;  // in a row
};

}  // namespace baton::resp
