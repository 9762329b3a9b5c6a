// Overlapping sets of names, drawn at random: the throughput, and the longest waits.
#include <algorithm>
#include <random>

#include "bench/scenarios/scenarios.hpp"

namespace baton::bench {
namespace {

constexpr std::size_t names = 20;
constexpr std::size_t players = 8;

std::string draw(std::size_t size, std::minstd_rand& dice) {
    std::vector<std::size_t> all(names);
    for (std::size_t i = 0; i < names; ++i) all[i] = i;
    std::ranges::shuffle(all, dice);
    std::string text = "acquire";
    for (std::size_t i = 0; i < size; ++i) text += " bench-multi-" + std::to_string(all[i]);
    return text;
}

}  // namespace

void multi(stage& stage, const cast& cast, const plan& plan, audience& audience) {
    std::minstd_rand dice{1};  // the same sets every time
    const crew crew = make_crew(stage, cast, players);
    for (const std::size_t size : {2U, 4U, 16U}) {
        audience.begin("multi on " + stage.name() + ", " + cast.subject + ", " + std::to_string(size) + " of " +
                       std::to_string(names) + " names");
        const double start = now_us();
        const double end = start + static_cast<double>(std::chrono::microseconds{plan.span}.count());
        for (const auto& each : crew) each->send(draw(size, dice));
        std::size_t busy = crew.size();
        result shown{.scenario = "multi", .store = stage.name(), .subject = cast.subject};
        while (busy > 0) {
            const auto who = next_with_output(crew, std::chrono::seconds{60});
            if (!who) {
                shown.note = "no process was granted for a minute";
                return audience.show(shown);
            }
            const std::string reply = crew[*who]->receive();
            if (reply.starts_with("failed")) {
                shown.note = "skipped: " + reply;
                return audience.show(shown);
            }
            crew[*who]->send("release");
            static_cast<void>(crew[*who]->receive());
            if (now_us() < end)
                crew[*who]->send(draw(size, dice));
            else
                --busy;
        }
        const double seconds = (now_us() - start) / 1e6;
        std::vector<double> waits;
        std::vector<double> shares(crew.size());
        for (const held_turn& turn : reports(crew)) {
            waits.push_back(static_cast<double>(turn.acquired - turn.asked) / 1e3);
            ++shares[turn.who];
        }
        shown.parameters = {{"names", static_cast<double>(size)}, {"processes", static_cast<double>(players)}};
        shown.figures = {{"cycles_per_s", static_cast<double>(waits.size()) / seconds}};
        add_times(shown.figures, "wait_", waits);
        shown.figures.emplace_back("fairness", fairness(shares));
        audience.show(shown);
    }
}

}  // namespace baton::bench
