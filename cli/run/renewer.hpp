// Renews a session without its client, on a connection and a thread of its own: the guardian has deadlines and must not
// wait for a slow store.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "baton/store.hpp"
#include "run/keeper.hpp"
#include "run/shared_page.hpp"

namespace baton::cli {

class renewer {
public:
    /// Writes the results into the page.
    renewer(kept_session session, shared_page& page);
    renewer(const renewer&) = delete;
    renewer& operator=(const renewer&) = delete;
    ~renewer() = default;

    /// Sends a renewal; does not wait for the reply.
    void renew();

private:
    class listener;
    void serve(const std::stop_token& stop);

    std::shared_ptr<listener> listener_;
    std::jthread thread_;
};

}  // namespace baton::cli
