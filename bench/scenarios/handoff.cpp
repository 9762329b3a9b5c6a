// The time from one holder to the next, if the holder changes: a process that acquires again the lock that it has just
// released makes a cycle and no hand-off.
#include <algorithm>
#include <limits>
#include <optional>

#include "bench/actors/echo.hpp"
#include "bench/scenarios/scenarios.hpp"

namespace baton::bench {
namespace {

struct seen {
    std::vector<double> hand_offs;  // us, from before the release to the next grant
    std::vector<double> waits;      // us, from the request to the grant
    std::vector<double> shares;     // cycles of each process
    std::size_t turns = 0;
    std::size_t overlaps = 0;   // two processes held it at once
    std::size_t overtaken = 0;  // grants of a request that arrived well after one that still waited
};

/// Requests that are sent at almost the same time may arrive in the other order.
constexpr std::int64_t on_its_way_ns = 2'000'000;

seen look_at(const std::vector<held_turn>& turns, std::size_t size) {
    seen found;
    found.turns = turns.size();
    found.shares.resize(size);
    for (std::size_t i = 0; i < turns.size(); ++i) {
        const held_turn& turn = turns[i];
        ++found.shares[turn.who];
        found.waits.push_back(static_cast<double>(turn.acquired - turn.asked) / 1e3);
        if (i == 0) continue;
        const held_turn& before = turns[i - 1];
        if (turn.acquired < before.releasing) ++found.overlaps;
        if (turn.who != before.who && turn.asked < before.releasing)
            found.hand_offs.push_back(static_cast<double>(turn.acquired - before.releasing) / 1e3);
    }
    // From the last cycle backwards: a cycle that was granted before a later one, but requested after it, overtook it.
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
    for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn) {
        if (earliest < turn->asked - on_its_way_ns) ++found.overtaken;
        earliest = std::min(earliest, turn->asked);
    }
    return found;
}

std::vector<held_turn> play(const crew& crew, std::chrono::duration<double> span, int hold_us) {
    for (const auto& each : crew)
        each->send("cycle turn " + std::to_string(span.count()) + " " + std::to_string(hold_us));
    for (const auto& each : crew) require_reply(each->receive(), "cycled");
    return reports(crew);
}

/// The time from PUBLISH to the message, on two connections.
class push_floor {
public:
    explicit push_floor(const std::string& url) : subscriber_{url}, publisher_{url} {
        subscriber_.send({"SUBSCRIBE", "baton-bench"});
        subscriber_.receive();
    }
    [[nodiscard]] double once() {
        const double start = now_us();
        publisher_.send({"PUBLISH", "baton-bench", "turn"});
        subscriber_.receive();
        const double end = now_us();
        publisher_.receive();
        return end - start;
    }

private:
    plain_client subscriber_;
    plain_client publisher_;
};

}  // namespace

void handoff(stage& stage, const cast& cast, const plan& plan, audience& audience) {
    std::optional<push_floor> push;
    std::optional<echo> socket;
    if (const auto url = stage.redis_url())
        push.emplace(*url);
    else if (stage.shared())
        socket.emplace();
    const auto floor = [&]() -> double {
        std::vector<double> times;
        for (int i = 0; i < 50; ++i) times.push_back(push ? push->once() : socket->round_trip_us());
        return quantile(times, 0.5);
    };
    for (const std::size_t size : plan.processes) {
        audience.begin("handoff on " + stage.name() + ", " + cast.subject + ", " + std::to_string(size) + " processes");
        const crew crew = make_crew(stage, cast, size);
        static_cast<void>(play(crew, plan.warm_up, 0));
        for (const int hold_us : {0, 1'000}) {
            const auto before = stage.counts();
            const double start = now_us();
            const seen found = look_at(play(crew, plan.span, hold_us), size);
            const double seconds = (now_us() - start) / 1e6;
            const auto after = stage.counts();
            result shown{.scenario = "handoff", .store = stage.name(), .subject = cast.subject};
            shown.parameters = {{"processes", static_cast<double>(size)}, {"hold_us", static_cast<double>(hold_us)}};
            add_times(shown.figures, "", found.hand_offs);
            shown.figures.emplace_back("hand_offs", static_cast<double>(found.hand_offs.size()));
            shown.figures.emplace_back("cycles_per_s", static_cast<double>(found.turns) / seconds);
            if (before && after && found.turns != 0)
                shown.figures.emplace_back("commands_per_cycle",
                                           (after->commands - before->commands) / static_cast<double>(found.turns));
            shown.figures.emplace_back("fairness", fairness(found.shares));
            shown.figures.emplace_back("wait_p99_us", quantile(found.waits, 0.99));
            shown.figures.emplace_back("overtaken", static_cast<double>(found.overtaken));
            shown.figures.emplace_back("overlaps", static_cast<double>(found.overlaps));
            if (hold_us == 0 && (push || socket)) {
                const auto subject = [&] { return quantile(look_at(play(crew, plan.round, 0), size).hand_offs, 0.5); };
                const ratio ratio = play_in_turn(plan.pairs, floor, subject).ratio();
                shown.floor = target_of("handoff", stage.name()).floor;
                if (ratio.pairs != 0) shown.ratio = ratio;
            }
            audience.show(shown);
        }
    }
}

}  // namespace baton::bench
