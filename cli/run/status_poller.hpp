// Inspects the store on a thread of its own, because a store that does not reply must not delay the handling of
// signals.
#pragma once

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "baton/client.hpp"
#include "baton/inspect.hpp"

namespace baton::cli {

class status_poller {
public:
    status_poller(const client& client, std::span<const claim> claims);
    status_poller(const status_poller&) = delete;
    status_poller& operator=(const status_poller&) = delete;
    /// Detaches the thread if an inspection is under way: see `left_thread`.
    ~status_poller();

    /// Starts an inspection unless one is under way.
    void inspect();
    /// Readable when an inspection has ended, whether or not it succeeded.
    [[nodiscard]] int descriptor() const;
    [[nodiscard]] std::optional<snapshot> take();
    /// Whether a thread was detached: then the process must exit without destructors, because that thread may run.
    [[nodiscard]] static bool left_thread();

    struct state;

private:
    std::shared_ptr<state> state_;
    std::thread thread_;
};

}  // namespace baton::cli
