// One caller, nobody else: what acquire and release cost, beside a floor that does the least that could be called so.
#include <unistd.h>

#include <memory>
#include <optional>

#include "baton/client.hpp"
#include "bench/echo.hpp"
#include "bench/plain_lock.hpp"
#include "bench/scenarios.hpp"
#include "engine/engine.hpp"

namespace baton::bench {
namespace {

/// The engine without client, threads and line.
class bare_engine {
public:
    bare_engine() { static_cast<void>(apply(protocol::open{id_, std::chrono::hours{1}, "bench", 1, 0, {}})); }
    void cycle() {
        const protocol::request_id request{id_, ++number_};
        static_cast<void>(apply(protocol::enter{request, claims_, {}}));
        static_cast<void>(apply(protocol::leave{request, protocol::manner::clean}));
    }

private:
    std::vector<protocol::event> apply(const protocol::command& command) {
        now_ += protocol::duration{1};
        return engine_.apply(command, now_);
    }

    const protocol::session_id id_{1, 2};
    const claim_list claims_ = exclusive("bench/cycle").list();
    std::uint64_t number_ = 0;
    protocol::instant now_{std::chrono::seconds{1'700'000'000}};
    core::engine engine_{{.max_ttl = std::chrono::hours{24}, .budget = {}}};
};

class floor_of {
public:
    explicit floor_of(stage& stage) {
        if (const auto url = stage.redis_url())
            plain_.emplace(*url, "baton-bench:plain:" + std::to_string(getpid()));
        else if (stage.shared())
            echo_.emplace();
        else
            engine_.emplace();
    }
    void once() {
        if (plain_) {
            plain_->acquire();
            plain_->release_and_wait();
        } else if (echo_) {
            // One for each of both.
            static_cast<void>(echo_->round_trip_us());
            static_cast<void>(echo_->round_trip_us());
        } else {
            engine_->cycle();
        }
    }
    [[nodiscard]] const char* name() const {
        return plain_ ? "SET NX PX, compare and delete" : echo_ ? "two echoes on a Unix socket" : "the engine alone";
    }
    /// What we promise; in memory it is a time and no ratio.
    [[nodiscard]] std::optional<double> target() const {
        if (!plain_ && !echo_) return {};
        return plain_ ? 2 : 2.5;
    }

private:
    std::optional<plain_lock> plain_;
    std::optional<echo> echo_;
    std::optional<bare_engine> engine_;
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
    std::vector<double> floors;
    std::vector<double> subjects;
    for (std::size_t pair = 0; pair < plan.pairs; ++pair) {
        floors.push_back(mean_us(plan.round, least));
        subjects.push_back(mean_us(plan.round, turn, &times));
    }
    result shown{.scenario = "cycle", .store = stage.name()};
    add_times(shown.figures, "", times);
    shown.figures.emplace_back("floor_us", quantile(floors, 0.5));
    shown.floor = floor.name();
    shown.ratio = ratio_of(floors, subjects);
    shown.target = floor.target();
    audience.show(shown);
}

}  // namespace baton::bench
