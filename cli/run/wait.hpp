// The wait of `baton run` for its grant: the request, the status line, and the signals that end the wait.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "baton/client.hpp"
#include "run/guardian.hpp"
#include "run/options.hpp"
#include "run/reporter.hpp"
#include "run/signals.hpp"

namespace baton::cli {

struct wait_result {
    lease granted;
    std::error_code error;                     // why there is no lease
    std::string text;                          // the store's message for the error
    bool busy = false;                         // with --nonblock
    std::optional<protocol::duration> paused;  // the rest of a pause, if the request was not granted because of it
    bool unreached = false;                    // the store never replied
    int signal = 0;                            // the signal that ended the wait
    bool guardian_lost = false;
};

/// The store cannot be reached or refuses this client.
struct outage {
    std::string why;
    std::chrono::steady_clock::time_point since;
};

/// Receives the client's events during the wait: whether the store has ever replied, whether it can be reached now,
/// and the loss of the queue position.
class wait_observer final : public observer {
public:
    wait_observer();
    wait_observer(const wait_observer&) = delete;
    wait_observer& operator=(const wait_observer&) = delete;
    ~wait_observer() override;

    [[nodiscard]] bool reached() const { return reached_; }
    /// Becomes readable at a new event; `take_lost_position` resets it.
    [[nodiscard]] int descriptor() const { return wake_; }
    /// Whether the queue position was lost since the last call.
    [[nodiscard]] bool take_lost_position();
    [[nodiscard]] std::optional<cli::outage> outage() const;
    /// Why the store does not serve this client: the reason of the outage, or the last error that it has sent, if that
    /// is younger than `recent`. Empty: nothing is known.
    [[nodiscard]] std::string trouble(std::chrono::milliseconds recent) const;

    /// The store's message when it did not grant the request, or why it cannot be reached.
    [[nodiscard]] std::string why_not() const;

    void connected() override;
    void reconnected() override;
    void reconnecting(std::error_code error, const std::string& text) override;
    void not_granted(const claim_list& claims, std::error_code error, const std::string& text) override;
    void queued(const claim_list& claims) override;
    void session_replaced() override;
    void store_error(std::error_code error, const std::string& text) override;

private:
    std::atomic<bool> reached_{false};
    mutable std::mutex mutex_;
    std::string why_not_;
    std::optional<cli::outage> outage_;
    std::optional<cli::outage> last_error_;
    bool queued_ = false;
    bool lost_position_ = false;
    int wake_;
};

/// Sends the request and waits for its result. If it returns without a lease, the request has left the queue or the
/// client is closed. `since` is the start of the whole wait, perhaps of an earlier request; `options.wait` is the rest
/// of it.
[[nodiscard]] wait_result await_grant(client& client, const run_options& options,
                                      std::chrono::steady_clock::time_point since, const std::string& label,
                                      signals& signals, guardian& guardian, wait_observer& observer,
                                      reporter& reporter);

/// Reports that the queue position was lost, and what baton does next.
void report_lost_position(reporter& reporter, const run_options& options, const char* what_follows);

}  // namespace baton::cli
