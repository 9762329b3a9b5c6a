#include "run/wait.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "duration.hpp"
#include "run/status_line.hpp"
#include "run/status_poller.hpp"

namespace baton::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A store that has not replied within this time counts as unreachable. An agent starts in a fraction of a second.
constexpr milliseconds reach_within{10'000};
constexpr milliseconds reach_without_waiting{2'000};
// Shorter outages are not reported.
constexpr milliseconds outage_reported_after{1'000};
// How long the end of the wait may be delayed by a last inspection, which normally takes one round trip.
constexpr milliseconds inspect_within{1'000};

/// Receives the result of the request on a thread of the library.
struct pending_result {
    std::mutex mutex;
    bool done = false;
    std::error_code error;
    lease granted;
    int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    ~pending_result() { ::close(wake); }
    void arrive(std::error_code why, lease with) {
        const std::lock_guard lock{mutex};
        done = true;
        error = why;
        granted = std::move(with);
        ::eventfd_write(wake, 1);
    }
    bool take(wait_result& result) {
        const std::lock_guard lock{mutex};
        if (!done) return false;
        result.error = error;
        result.busy = !error && granted.fence() == 0;
        result.granted = std::move(granted);
        return true;
    }
};

void send_request(client& client, const run_options& options, const std::stop_token& stop,
                  const std::shared_ptr<pending_result>& pending) {
    acquire_options how{.wait = options.wait};
    if (options.max_hold) {
        // The guardian sends TERM at --max-hold; the store's limit is later and acts only if the guardian is dead.
        const stop_times times = stop_times_for(options);
        const milliseconds late = 2 * times.reserve + std::max(options.ttl / 10, milliseconds{100});
        how.max_hold = std::min(*options.max_hold + times.kill_after + late,
                                std::chrono::floor<milliseconds>(protocol::bounds::longest_hold));
    }
    const claims wanted{options.claims};
    if (!options.nonblock) {
        client.async_acquire(wanted, how, stop,
                             [pending](std::error_code why, lease with) { pending->arrive(why, std::move(with)); });
        return;
    }
    client.async_try_acquire(wanted, how, [pending](std::error_code why, std::optional<lease> with) {
        pending->arrive(why, with ? std::move(*with) : lease{});
    });
}

class wait_display {
public:
    wait_display(const run_options& options, steady_clock::time_point since, std::string label, reporter& reporter,
                 status_poller& status_poller)
        : options_{options},
          label_{std::move(label)},
          reporter_{reporter},
          status_poller_{status_poller},
          started_{since} {
        const char* const kind = std::getenv("TERM");
        redraws_ = ::isatty(STDERR_FILENO) == 1 && !reporter.json() && kind != nullptr && *kind != '\0' &&
                   std::string_view{kind} != "dumb" && reporter.tone() != tone::quiet;
    }

    /// The time of the next message or inspection.
    [[nodiscard]] steady_clock::time_point next(const std::optional<outage>& outage) const {
        const auto due = started_ + due_;
        return outage && outage->why != reported_outage_ ? std::min(due, outage->since + outage_reported_after) : due;
    }

    void pass(steady_clock::time_point now, const std::optional<outage>& outage) {
        const bool due = now >= started_ + due_;
        const bool lasts = outage && now >= outage->since + outage_reported_after;
        const auto waited = std::chrono::duration_cast<milliseconds>(now - started_);
        if (lasts && (due || outage->why != reported_outage_)) show(*outage, waited);
        if (!outage && !std::exchange(reported_outage_, {}).empty() && !redraws_)
            reporter_.report(weight::news, "reached",
                             "reached the store again; " + waiting_text({}, options_.claims, waited),
                             {{"names", names()}, {"waited_ms", std::int64_t{waited.count()}}});
        if (!due) return;
        // An inspection takes a round trip: it starts now, and its result is shown when it arrives.
        if (!lasts) status_poller_.inspect();
        due_ = redraws_ ? std::chrono::floor<std::chrono::seconds>(waited) + milliseconds{1'000} : next_line(waited);
    }

    void show(const snapshot& snapshot) {
        const auto waited = std::chrono::duration_cast<milliseconds>(steady_clock::now() - started_);
        const waiting_view view = view_of(snapshot, label_, options_.claims);
        check_limits(snapshot);
        if (redraws_) return redraw(view, waited);
        std::vector<field> fields{{"names", names()},
                                  {"waited_ms", std::int64_t{waited.count()}},
                                  {"position", std::uint64_t{view.position}},
                                  {"blocked_on", view.resource},
                                  {"by", view.holder},
                                  {"holds", view.holds}};
        if (view.timed) {
            // In place: g++ 12 takes the moved-from temporary of push_back for uninitialized.
            fields.emplace_back("since_ms", std::int64_t{view.since.count() / 1'000});
            fields.emplace_back("alive_ms_ago", std::int64_t{view.silence.count() / 1'000});
        }
        if (view.paused) fields.emplace_back("paused_ms", std::int64_t{view.paused->count() / 1'000});
        reporter_.report(weight::news, "waiting", waiting_text(view, options_.claims, waited), fields);
    }

    /// Reports once if other requests give a name another limit; each request is held to its own limit (rule 10).
    void check_limits(const snapshot& snapshot) {
        if (std::exchange(limits_checked_, true)) return;
        const auto found = find_other_limit(snapshot, options_.claims);
        if (!found) return;
        const std::string name = printable(found->name);
        reporter_.report(weight::problem, "limits_differ",
                         name + ": this run gives it a limit of " + std::to_string(found->ours) + ", but " +
                             printable(found->by) + " gives it a limit of " + std::to_string(found->other) +
                             "; each is held to its own limit. `baton resize` pins one limit for all",
                         {{"name", found->name},
                          {"limit", std::uint64_t{found->ours}},
                          {"other_limit", std::uint64_t{found->other}},
                          {"by", found->by}});
    }

    /// Whether limits matter for the claims and have not been checked yet.
    [[nodiscard]] bool limits_unknown() const {
        const auto counted = [](const claim& claim) { return claim.mode == claim_mode::permits; };
        return !limits_checked_ && std::ranges::any_of(options_.claims, counted);
    }

private:
    void show(const outage& outage, milliseconds waited) {
        reported_outage_ = outage.why;
        waiting_view view;
        view.unreachable = outage.why;
        if (redraws_) return redraw(view, waited);
        reporter_.report(weight::news, "unreachable", waiting_text(view, options_.claims, waited),
                         {{"names", names()}, {"waited_ms", std::int64_t{waited.count()}}, {"why", outage.why}});
    }

    void redraw(const waiting_view& view, milliseconds waited) {
        const std::string head = "baton: ";
        reporter_.redraw(head + waiting_text(view, options_.claims, waited, width() - head.size()));
    }

    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const claim& claim : options_.claims) all.push_back(claim.resource);
        return all;
    }

    static std::size_t width() {
        winsize size{};
        return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1U : 79U;
    }

    const run_options& options_;
    std::string label_;
    reporter& reporter_;
    status_poller& status_poller_;
    bool redraws_ = false;
    bool limits_checked_ = false;
    std::string reported_outage_;  // the reason of the outage that was reported; empty: none, or it has ended
    steady_clock::time_point started_;
    milliseconds due_ = milliseconds{1'000};
};

int poll_timeout(steady_clock::time_point until) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

/// A store that has not replied yet is away, too.
std::optional<outage> outage_now(const wait_observer& observer, const run_options& options,
                                 steady_clock::time_point begun) {
    const auto known = observer.outage();
    if (known || observer.reached()) return known;
    return outage{"no reply from " + shown(options.address) + " yet" + silence_hint(options.address), begun};
}

std::optional<snapshot> inspect_once(status_poller& status_poller) {
    status_poller.inspect();
    pollfd readable{status_poller.descriptor(), POLLIN, 0};
    ::poll(&readable, 1, static_cast<int>(inspect_within.count()));
    return status_poller.take();
}

/// The rest of the store's pause.
std::optional<protocol::duration> pause_left(status_poller& status_poller) {
    const auto seen = inspect_once(status_poller);
    if (!seen || !seen->paused_until || *seen->paused_until <= seen->at) return {};
    return *seen->paused_until - seen->at;
}

}  // namespace

wait_observer::wait_observer() : wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    if (wake_ < 0) throw std::system_error{errno, std::generic_category(), "eventfd"};
}

wait_observer::~wait_observer() { ::close(wake_); }

std::string wait_observer::why_not() const {
    const std::lock_guard lock{mutex_};
    return why_not_;
}

void wait_observer::not_granted(const claim_list&, std::error_code, const std::string& text) {
    const std::lock_guard lock{mutex_};
    why_not_ = text;
}

void wait_observer::reconnecting(std::error_code error, const std::string& text) {
    const std::lock_guard lock{mutex_};
    why_not_ = detail::describe(error, text);
    outage_ = {why_not_, outage_ ? outage_->since : steady_clock::now()};
    ::eventfd_write(wake_, 1);
}

void wait_observer::connected() {
    reached_ = true;
    reconnected();
}

void wait_observer::reconnected() {
    const std::lock_guard lock{mutex_};
    outage_.reset();
    ::eventfd_write(wake_, 1);
}

std::optional<outage> wait_observer::outage() const {
    const std::lock_guard lock{mutex_};
    return outage_;
}

void wait_observer::store_error(std::error_code error, const std::string& text) {
    const std::lock_guard lock{mutex_};
    last_error_ = {detail::describe(error, text), steady_clock::now()};
}

std::string wait_observer::trouble(milliseconds recent) const {
    const std::lock_guard lock{mutex_};
    if (outage_) return printable(outage_->why);
    const bool counts = last_error_ && steady_clock::now() - last_error_->since <= recent;
    return counts ? printable(last_error_->why) : std::string{};
}

/// A request that was not queued had no position to lose: the client sends it again.
void wait_observer::session_replaced() {
    const std::lock_guard lock{mutex_};
    if (!std::exchange(queued_, false)) return;
    lost_position_ = true;
    ::eventfd_write(wake_, 1);
}

void wait_observer::queued(const claim_list& /*claims*/) {
    const std::lock_guard lock{mutex_};
    queued_ = true;
}

bool wait_observer::take_lost_position() {
    const std::lock_guard lock{mutex_};
    eventfd_t count = 0;
    ::eventfd_read(wake_, &count);
    return std::exchange(lost_position_, false);
}

void report_lost_position(reporter& reporter, const run_options& options, const char* what_follows) {
    std::vector<std::string> names;
    for (const claim& claim : options.claims) names.push_back(claim.resource);
    reporter.report(weight::news, "position_lost",
                    "lost the queue position for " + names_of(options.claims) +
                        ": baton was stopped, or could not reach the store, for longer than the ttl of " +
                        show_exactly(options.ttl) + "; " + what_follows,
                    {{"names", names}, {"ttl_ms", std::int64_t{options.ttl.count()}}});
}

wait_result await_grant(client& client, const run_options& options, steady_clock::time_point since,
                        const std::string& label, signals& signals, guardian& guardian, wait_observer& observer,
                        reporter& reporter) {
    // A terminal or pipe that takes no output must not delay the start of the command after the grant.
    reporter.wait_for_reader(options.ttl / 16);
    const auto arrived = std::make_shared<pending_result>();
    std::stop_source withdraw;
    send_request(client, options, withdraw.get_token(), arrived);

    status_poller status_poller{client, options.claims};
    wait_display display{options, since, label, reporter, status_poller};
    const auto begun = steady_clock::now();
    const auto give_up = begun + (options.nonblock ? reach_without_waiting : reach_within);
    steady_clock::time_point leave_by = steady_clock::time_point::max();
    wait_result result;
    for (;;) {
        // With --nonblock, an outage is reported by the exit code only.
        const auto outage = options.nonblock ? std::nullopt : outage_now(observer, options, begun);
        auto until = std::min(display.next(outage), leave_by);
        if (!observer.reached()) until = std::min(until, give_up);
        std::array<pollfd, 5> wanted{{{arrived->wake, POLLIN, 0},
                                      {observer.descriptor(), POLLIN, 0},
                                      {signals.descriptor(), POLLIN, 0},
                                      {status_poller.descriptor(), POLLIN, 0},
                                      {guardian.channel().descriptor(), POLLIN, 0}}};
        ::poll(wanted.data(), wanted.size(), poll_timeout(until));
        for (const int signal : signals.take())
            if (ends_programs(signal) && result.signal == 0) result.signal = signal;
        result.guardian_lost = result.guardian_lost || guardian.gone();
        if (observer.take_lost_position()) report_lost_position(reporter, options, "queueing again");
        if (arrived->take(result)) break;
        const auto now = steady_clock::now();
        result.unreached = !observer.reached() && now >= give_up;
        if (result.unreached || now >= leave_by) break;
        if ((result.signal != 0 || result.guardian_lost) && !withdraw.stop_requested()) {
            withdraw.request_stop();
            leave_by = now + milliseconds{options.nonblock ? 0 : 1'000};
        }
        if (const auto seen = status_poller.take()) display.show(*seen);
        if (result.signal == 0)
            display.pass(now, options.nonblock ? std::nullopt : outage_now(observer, options, begun));
    }
    if (result.granted.fence() != 0 && result.signal == 0 && display.limits_unknown()) {
        if (const auto seen = inspect_once(status_poller)) display.check_limits(*seen);
    }
    reporter.redraw("");
    if (result.error == errc::paused || result.error == errc::timed_out) result.paused = pause_left(status_poller);
    if (result.error || result.unreached) result.text = observer.why_not();
    // If the request was granted while it was withdrawn, release the lease unused.
    if (result.signal != 0 || result.guardian_lost) result.granted.release_unfinished();
    return result;
}

}  // namespace baton::cli
