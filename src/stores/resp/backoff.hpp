// How long to wait before the next attempt to connect. Pure: how the last connection ended and a random number come in,
// a delay comes out. A completed handshake proves nothing: a server may greet and hang up for ever, also after it has
// answered some requests.
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
    static constexpr duration lasting{1'000'000};  // a connection that was up for this long did not break at once
    // After a connection that answered and did not last. Each further one doubles it too, but less far: leases with a
    // ttl of 1 s survive a network that cuts every connection soon.
    static constexpr duration after_brief_use{5'000};
    static constexpr duration longest_after_brief_use{50'000};

    /// One attempt, and what came of it.
    struct ended {
        std::optional<duration> up;  // how long it was up; none: the handshake was not completed
        bool answered = false;       // a request, and not with an error
    };

    /// The delay before the next attempt. `random` is any number: it shortens or lengthens a delay by up to a half, so
    /// that clients that were cut off together do not come back together.
    [[nodiscard]] duration delay_after(const ended& last, std::uint32_t random) {
        if (last.up && last.answered && *last.up >= lasting) {
            failures_ = brief_uses_ = 0;
            return duration{0};
        }
        if (last.up && last.answered) {
            failures_ = 0;
            ++brief_uses_;
        } else {
            ++failures_;
        }
        return spread(
            std::max(after(failures_, first, longest), after(brief_uses_, after_brief_use, longest_after_brief_use)),
            random);
    }

private:
    static duration after(unsigned times, duration shortest, duration longest) {
        return times == 0 ? duration{0} : std::min(longest, shortest * (1U << std::min(times - 1, 10U)));
    }
    static duration spread(duration delay, std::uint32_t random) {
        return delay / 2 + delay * static_cast<int>(random % 1024U) / 1024;
    }

    unsigned failures_ = 0;    // in a row, since a connection answered
    unsigned brief_uses_ = 0;  // since one lasted
};

}  // namespace baton::resp
