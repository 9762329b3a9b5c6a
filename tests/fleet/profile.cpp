#include "profile.hpp"

namespace baton::fleet {
namespace {

std::chrono::milliseconds milliseconds(dice& dice, std::size_t low, std::size_t high) {
    return std::chrono::milliseconds{dice.between(low, high)};
}

}  // namespace

profile::profile(dice& dice) {
    clients = dice.between(2, 6);
    for (std::size_t name = dice.between(1, 4); name > 0; --name)
        names.push_back(std::string(1, static_cast<char>('a' + name - 1)));
    if (dice.percent(30)) budget = static_cast<std::uint32_t>(dice.between(1, 4));
    lag = milliseconds(dice, 100, 1'500);
    chaos = milliseconds(dice, 5'000, 20'000);
    think = milliseconds(dice, 50, 600);
    delay = milliseconds(dice, 1, usual_delay.count());
    if (dice.percent(10)) return;                               // calm
    if (dice.percent(30)) delay = milliseconds(dice, 20, 400);  // with short ttls this delay is a fault

    if (dice.percent(30)) {
        drop = dice.below(6);
        duplicate = dice.below(10);
        reorder = dice.below(10);
    }
    if (dice.percent(30)) late_copy = dice.between(1, 15);
    if (dice.percent(40)) drop_notice = dice.between(5, 100);
    if (dice.percent(60)) cuts = dice.below(30);
    if (dice.percent(40)) outages = dice.below(6);
    if (dice.percent(40)) pauses = dice.below(6);
    if (dice.percent(40)) kills = dice.below(4);
    if (dice.percent(50)) restarts = dice.between(1, 4);
    if (dice.percent(50)) cut_off_at_news = dice.below(60);
    if (dice.percent(30)) revocations = dice.below(10);
    if (dice.percent(20)) role_changes = dice.between(1, 3);
    if (dice.percent(20)) moves = dice.between(1, 4);
}

}  // namespace baton::fleet
