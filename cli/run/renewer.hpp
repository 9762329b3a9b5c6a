// Renews a session from outside of its client, on a line and on a thread of its own: whoever asks for it has deadlines
// to keep, and a store may take its time.
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
    /// What comes of it is written into the page.
    renewer(kept_session session, shared_page& page);
    renewer(const renewer&) = delete;
    renewer& operator=(const renewer&) = delete;
    ~renewer() = default;

    /// Does not wait for the answer.
    void renew();

private:
    class listener;
    void serve(const std::stop_token& stop);

    std::shared_ptr<listener> listener_;
    std::jthread thread_;
};

}  // namespace baton::cli
