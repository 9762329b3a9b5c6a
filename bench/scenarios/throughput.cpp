// Many callers of one client, each with its own name: the share of the server's capacity that one client can use. The
// floor is an empty script, called as often as a cycle calls functions, with the same concurrency.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "bench/actors/script_pump.hpp"
#include "bench/scenarios/scenarios.hpp"

namespace baton::bench {
namespace {

/// Callers that acquire again as soon as they have released, until they are stopped.
class callers {
public:
    callers(client& client, std::size_t count) : client_{client}, running_{count} {}

    /// The number of cycles of all callers in that time.
    std::uint64_t play(std::chrono::milliseconds span) {
        for (std::size_t i = 0, count = running_; i < count; ++i) acquire(i);
        std::this_thread::sleep_for(span);
        stopped_ = true;
        std::unique_lock lock{mutex_};
        over_.wait(lock, [this] { return running_ == 0; });
        return cycles_;
    }

private:
    void acquire(std::size_t index) {
        client_.async_acquire(exclusive("bench/" + std::to_string(index)), {}, {},
                              [this, index](std::error_code error, lease lease) {
                                  lease.release();
                                  ++cycles_;
                                  if (!stopped_ && !error) return acquire(index);
                                  const std::lock_guard lock{mutex_};
                                  if (--running_ == 0) over_.notify_one();
                              });
    }

    client& client_;
    std::atomic<bool> stopped_{false};
    std::atomic<std::uint64_t> cycles_{0};
    std::mutex mutex_;
    std::condition_variable over_;
    std::size_t running_;
};

}  // namespace

void throughput(stage& stage, const plan& plan, audience& audience) {
    client client{stage.url()};
    std::optional<script_pump> pump;
    if (const auto url = stage.redis_url()) pump.emplace(*url);
    const auto rate = [](std::uint64_t count, double us) { return static_cast<double>(count) / us * 1e6; };
    for (const std::size_t count : plan.callers) {
        audience.begin("throughput on " + stage.name() + ", " + std::to_string(count) + " callers");
        const auto subject = [&](std::chrono::milliseconds span) {
            const double start = now_us();
            const std::uint64_t cycles = callers{client, count}.play(span);
            return rate(cycles, now_us() - start);
        };
        static_cast<void>(subject(plan.round));
        const auto before = stage.counts();
        const double own_before = cpu_seconds(0);
        const double server_before = stage.server() != 0 ? cpu_seconds(stage.server()) : 0;
        const double start = now_us();
        const double cycles_per_s = subject(plan.span);
        const double seconds = (now_us() - start) / 1e6;
        const auto after = stage.counts();
        result shown{.scenario = "throughput", .store = stage.name()};
        shown.parameters = {{"callers", static_cast<double>(count)}};
        shown.figures = {{"cycles_per_s", cycles_per_s}};
        if (before && after && after->script_calls > before->script_calls) {
            shown.figures.emplace_back("server_us_per_call", (after->script_us - before->script_us) /
                                                                 (after->script_calls - before->script_calls));
            shown.figures.emplace_back("calls_per_cycle",
                                       (after->script_calls - before->script_calls) / (cycles_per_s * seconds));
        }
        shown.figures.emplace_back("client_cpu_percent", (cpu_seconds(0) - own_before) / seconds * 100);
        if (stage.server() != 0)
            shown.figures.emplace_back("server_cpu_percent",
                                       (cpu_seconds(stage.server()) - server_before) / seconds * 100);
        else if (before && after)
            shown.figures.emplace_back("server_cpu_percent", (after->cpu_s - before->cpu_s) / seconds * 100);
        if (pump) {
            // A cycle is two calls. Times and not rates, so that a larger ratio means a slower subject, as in all
            // scenarios.
            shown.floor = target_of("throughput", stage.name()).floor;
            shown.ratio = play_in_turn(
                              plan.pairs, [&] { return 2 / pump->calls_per_s(count, plan.round); },
                              [&] { return 1 / subject(plan.round); })
                              .ratio();
        }
        audience.show(shown);
    }
}

}  // namespace baton::bench
