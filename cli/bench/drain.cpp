// A line that drains: how long it takes until everybody in it has had a turn, in which order, and what a place costs.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "baton/client.hpp"
#include "bench/scenarios.hpp"

namespace baton::bench {
namespace {

/// Waiters of one client, which all are called back, perhaps after whoever waits for them has given up.
class line {
public:
    explicit line(client& client) : client_{client} {}

    void queue(std::size_t count, const claims& wanted) {
        state_->count = count;
        for (std::size_t i = 0; i < count; ++i)
            client_.async_acquire(wanted, {}, {}, [state = state_, i](std::error_code, lease lease) {
                lease.release();
                const std::lock_guard lock{state->mutex};
                state->order.push_back(i);
                if (state->order.size() == state->count) state->through.notify_one();
            });
    }
    /// In which order they had their turns.
    const std::vector<std::size_t>& wait() {
        std::unique_lock lock{state_->mutex};
        state_->through.wait(lock, [this] { return state_->order.size() == state_->count; });
        return state_->order;
    }

private:
    struct state {
        std::mutex mutex;
        std::condition_variable through;
        std::size_t count = 0;
        std::vector<std::size_t> order;
    };
    client& client_;
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// Who was granted before somebody that had asked earlier.
std::size_t violations(const std::vector<std::size_t>& order) {
    std::size_t count = 0;
    std::size_t latest = 0;
    for (const std::size_t each : order) {
        if (each < latest) ++count;
        latest = std::max(latest, each);
    }
    return count;
}

std::size_t waiting_for(client& client, const std::string& name) {
    const snapshot seen = client.inspect({inspect_filter::match::exact, name, false});
    return seen.resources.empty() ? 0 : seen.resources.front().queue.size();
}

void wait_for_line(client& client, const std::string& name, std::size_t count) {
    while (waiting_for(client, name) < count) std::this_thread::sleep_for(std::chrono::milliseconds{2});
}

void add_line(result& shown, double total_us, std::size_t count, std::size_t out_of_order) {
    shown.parameters = {{"waiters", static_cast<double>(count)}};
    shown.figures = {{"total_ms", total_us / 1e3},
                     {"per_hand_off_us", total_us / static_cast<double>(count)},
                     {"out_of_order", static_cast<double>(out_of_order)}};
}

}  // namespace

void drain(stage& stage, const plan& plan, audience& audience) {
    const std::string name = "bench/drain";
    const claims wanted = exclusive(name);
    client holder{stage.url()};
    client waiters{stage.url()};
    for (const std::size_t count : plan.queue) {
        audience.begin("drain on " + stage.name() + ", " + std::to_string(count) + " in line");
        std::vector<double> totals;
        std::size_t out_of_order = 0;
        double commands = 0;
        double bytes = 0;
        double connections = 0;
        for (std::size_t times = 0; times < plan.repetitions; ++times) {
            lease held = holder.acquire(wanted);
            const auto empty = stage.counts();
            line line{waiters};
            line.queue(count, wanted);
            wait_for_line(holder, name, count);
            const auto full = stage.counts();
            const double start = now_us();
            held.release();
            const std::vector<std::size_t>& order = line.wait();
            totals.push_back(now_us() - start);
            out_of_order += violations(order);
            const auto after = stage.counts();
            if (!empty || !full || !after) continue;
            bytes = (full->memory_bytes - empty->memory_bytes) / static_cast<double>(count);
            commands = (after->script_calls - full->script_calls) / static_cast<double>(count);
            connections = full->connections;
        }
        result shown{.scenario = "drain", .store = stage.name()};
        add_line(shown, quantile(totals, 0.5), count, out_of_order);
        if (stage.redis_url()) {
            shown.figures.emplace_back("calls_per_hand_off", commands);
            shown.figures.emplace_back("connections", connections);
            shown.figures.emplace_back("bytes_per_waiter", bytes);
        }
        audience.show(shown);
    }
}

void drain_processes(stage& stage, const cast& cast, const plan& plan, audience& audience) {
    const std::size_t count = std::min<std::size_t>(plan.processes.back(), 32);
    audience.begin("drain on " + stage.name() + ", " + cast.subject + ", " + std::to_string(count) + " processes");
    const crew crew = make_crew(stage, cast, count + 1);
    crew.back()->tell("acquire bench-line");
    require(crew.back()->hear(), "acquired");
    // One after the other, with time to get into the line: in which order they wait is not to be left to chance.
    for (std::size_t i = 0; i < count; ++i) {
        crew[i]->tell("acquire bench-line");
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    const auto before = stage.counts();
    const double start = now_us();
    crew.back()->tell("release");
    static_cast<void>(crew.back()->hear());
    std::vector<std::size_t> order;
    while (order.size() < count) {
        const auto who = next_speaker(crew, std::chrono::seconds{60});
        if (!who) break;
        require(crew[*who]->hear(), "acquired");
        order.push_back(*who);
        crew[*who]->tell("release");
        require(crew[*who]->hear(), "released");
    }
    const double total = now_us() - start;
    const auto after = stage.counts();
    result shown{.scenario = "drain", .store = stage.name(), .subject = cast.subject};
    add_line(shown, total, count, violations(order));
    shown.parameters.emplace_back("processes", 1);
    if (before && after)
        shown.figures.emplace_back("commands_per_hand_off",
                                   (after->commands - before->commands) / static_cast<double>(count));
    if (after) shown.figures.emplace_back("connections", after->connections);
    if (order.size() < count)
        shown.note =
            "only " + std::to_string(order.size()) + " of " + std::to_string(count) + " had a turn within a minute";
    audience.show(shown);
}

}  // namespace baton::bench
