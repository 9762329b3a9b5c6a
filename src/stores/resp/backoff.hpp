// Computes the delay before the next attempt to connect, from how the last connection ended and a random number. A
// completed handshake does not reset the delay, because a server may close every connection right after it, or after a
// few replies.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace baton::resp {

class backoff {
public:
    using duration = std::chrono::microseconds;

    static constexpr duration first{1'000};  // after the first failure; each further failure doubles it
    static constexpr duration longest{1'000'000};
    static constexpr duration lasting{1'000'000};  // the least time up after which there is no delay
    // After a connection that answered a request but did not last. Each further one doubles the delay, up to a limit
    // that lets leases with a ttl of 1 s survive a network that cuts every connection early.
    static constexpr duration after_brief_use{5'000};
    static constexpr duration longest_after_brief_use{50'000};

    /// The last attempt.
    struct ended {
        std::optional<duration> up;  // how long the connection was up; none: the handshake was not completed
        bool answered = false;       // the server replied to a request without an error
    };

    /// `random` changes the delay by up to half of it, so that clients that were cut off together do not reconnect at
    /// the same time.
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

    unsigned failures_ = 0;    // since the last connection that answered a request
    unsigned brief_uses_ = 0;  // since the last connection that lasted
};

}  // namespace baton::resp
