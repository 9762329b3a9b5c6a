// One caller without contention: the cost of acquire and release, compared with a floor that does the minimum.
#include <unistd.h>

#include <optional>

#include "bench/actors/echo.hpp"
#include "bench/actors/plain_lock.hpp"
#include "bench/parts/engine_scenes.hpp"
#include "bench/scenarios/scenarios.hpp"

namespace baton::bench {
namespace {

class floor_of {
public:
    explicit floor_of(stage& stage) {
        if (const auto url = stage.redis_url())
            plain_.emplace(*url, "baton-bench:plain:" + std::to_string(getpid()));
        else if (stage.shared())
            echo_.emplace();
        else
            engine_.emplace(1);
    }
    void once() {
        if (plain_) {
            plain_->acquire();
            plain_->release_and_wait();
        } else if (echo_) {
            // One for the floor and one for the subject.
            echo_->round_trip_us();
            echo_->round_trip_us();
        } else {
            engine_->play();
        }
    }

private:
    std::optional<plain_lock> plain_;
    std::optional<echo> echo_;
    std::optional<uncontended> engine_;
};

}  // namespace

void cycle(stage& stage, const plan& plan, audience& audience) {
    audience.begin("cycle on " + stage.name());
    client client{stage.url()};
    const claims wanted = exclusive("bench/cycle");
    floor_of floor{stage};
    std::vector<double> times;
    const auto turn = [&] { const lease lease = client.acquire(wanted); };
    const auto least = [&] { floor.once(); };
    static_cast<void>(mean_us(plan.round, turn));
    static_cast<void>(mean_us(plan.round, least));
    const paired_costs costs = play_in_turn(
        plan.pairs, [&] { return mean_us(plan.round, least); }, [&] { return mean_us(plan.round, turn, &times); });
    const target& target = target_of("cycle", stage.name());
    result shown{.scenario = "cycle", .store = stage.name()};
    add_times(shown.figures, "", times);
    shown.figures.emplace_back("floor_us", quantile(costs.floors, 0.5));
    shown.floor = target.floor;
    shown.ratio = costs.ratio();
    shown.target = target.most;
    audience.show(shown);
}

}  // namespace baton::bench
