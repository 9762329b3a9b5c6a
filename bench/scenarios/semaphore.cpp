// A claim of all eight permits among many claims of one: the time that it waits. If small claims are granted whenever a
// permit is free, it waits for ever.
#include "bench/scenarios/scenarios.hpp"

namespace baton::bench {
namespace {

constexpr std::size_t singles = 12;
constexpr int hold_us = 1'000;

}  // namespace

void semaphore(stage& stage, const cast& cast, const plan& plan, audience& audience) {
    audience.begin("semaphore on " + stage.name() + ", " + cast.subject);
    const crew crew = make_crew(stage, cast, singles + 1);
    const std::chrono::duration<double> span = plan.span;
    for (std::size_t i = 0; i < singles; ++i)
        crew[i]->send("cycle bench-gpu:1/8 " + std::to_string(span.count()) + " " + std::to_string(hold_us));
    const double end = now_us() + span.count() * 1e6 * 0.8;
    actor& wide = *crew.back();
    std::vector<double> waits;
    result shown{.scenario = "semaphore", .store = stage.name(), .subject = cast.subject};
    while (now_us() < end) {
        wide.send("acquire bench-gpu:8/8");
        const double start = now_us();
        const std::string reply = wide.receive(std::chrono::seconds{60});
        if (reply.starts_with("failed")) {
            shown.note = "skipped: " + reply;
            break;
        }
        waits.push_back(now_us() - start);
        wide.send("release");
        static_cast<void>(wide.receive());
    }
    std::size_t turns = 0;
    for (std::size_t i = 0; i < singles; ++i) {
        const std::string reply = crew[i]->receive();
        require_reply(reply, "cycled ");
        turns += std::stoul(reply.substr(7));
    }
    shown.parameters = {{"permits", 8}, {"singles", static_cast<double>(singles)}, {"hold_us", hold_us}};
    if (!waits.empty()) {
        shown.figures = {{"turns", static_cast<double>(waits.size())}};
        add_times(shown.figures, "wait_", waits);
        shown.figures.emplace_back("single_cycles_per_s", static_cast<double>(turns) / span.count());
    }
    audience.show(shown);
}

}  // namespace baton::bench
