// Looks at the engine on a thread of its own: an engine that does not answer must not hold up the signals.
#pragma once

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "baton/client.hpp"
#include "baton/inspect.hpp"

namespace baton::cli {

class looker {
public:
    looker(const client& client, std::span<const claim> claims);
    looker(const looker&) = delete;
    looker& operator=(const looker&) = delete;
    /// Leaves a look that has no answer yet to itself: see `left_one`.
    ~looker();

    /// Asks for a look, unless one is under way.
    void look();
    /// Readable when a look is over, whether or not it saw anything.
    [[nodiscard]] int descriptor() const;
    [[nodiscard]] std::optional<snapshot> take();
    /// Whether a look was left to itself: then the process must end without tidying up around that thread.
    [[nodiscard]] static bool left_one();

    struct state;

private:
    std::shared_ptr<state> state_;
    std::thread thread_;
};

}  // namespace baton::cli
