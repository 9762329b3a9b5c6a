#include "run/status_poller.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "baton/error.hpp"

namespace baton::cli {

struct status_poller::state {
    std::mutex mutex;
    std::condition_variable changed;
    bool wanted = false;
    bool inspecting = false;
    bool ended = false;
    std::optional<snapshot> seen;
    int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    ~state() { ::close(wake); }
};

namespace {

std::atomic<bool> thread_left{false};

void serve(client client, const inspect_filter& filter, const std::shared_ptr<status_poller::state>& state) {
    std::unique_lock lock{state->mutex};
    for (;;) {
        state->changed.wait(lock, [&] { return state->wanted || state->ended; });
        if (state->ended) return;
        state->inspecting = true;
        lock.unlock();
        std::optional<snapshot> seen;
        try {
            seen = client.inspect(filter);
        } catch (const error&) {  // nothing is shown this time
        }
        lock.lock();
        state->wanted = state->inspecting = false;
        if (seen) state->seen = std::move(seen);
        ::eventfd_write(state->wake, 1);
    }
}

}  // namespace

status_poller::status_poller(const client& client, std::span<const claim> claims) : state_{std::make_shared<state>()} {
    // With several names, any of them may block the request, and requests of other names may be behind that. A store on
    // which such an inspection is expensive shows only the blockers of this client.
    const inspect_filter filter{inspect_filter::match::exact, claims.front().resource, true, true};
    thread_ = std::thread{[client, filter, state = state_] { serve(client, filter, state); }};
}

status_poller::~status_poller() {
    bool idle = false;
    {
        const std::lock_guard lock{state_->mutex};
        state_->ended = true;
        idle = !state_->inspecting;
        state_->changed.notify_one();
    }
    if (idle) {
        thread_.join();
    } else {
        thread_left = true;
        thread_.detach();
    }
}

bool status_poller::left_thread() { return thread_left; }

void status_poller::inspect() {
    const std::lock_guard lock{state_->mutex};
    state_->wanted = true;
    state_->changed.notify_one();
}

int status_poller::descriptor() const { return state_->wake; }

std::optional<snapshot> status_poller::take() {
    const std::lock_guard lock{state_->mutex};
    eventfd_t count = 0;
    ::eventfd_read(state_->wake, &count);
    return std::exchange(state_->seen, std::nullopt);
}

}  // namespace baton::cli
