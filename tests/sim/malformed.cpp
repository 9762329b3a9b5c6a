// Malformed commands: each is close to a valid command and wrong in one way.
#include <string>

#include "schedule.hpp"

namespace baton::sim {

using namespace core;
using namespace std::chrono_literals;

command schedule::malformed() {
    sim_client& client = any_client();
    const request_id next{client.session(), client.highest() + 1};
    const std::string name = dice_.pick(names_);
    const std::string too_long(bounds::name + 1, 'n');
    enter wrong{next, {exclusive(name)}, {}};
    switch (dice_.below(25)) {
        case 0: wrong.claims = {}; return wrong;
        case 1:
            // Seldom, because building 1,000 claims costs as much as many steps.
            if (!dice_.percent(10)) return tick{};
            wrong.claims = std::vector<claim>(bounds::claims + 1, exclusive(name));
            return wrong;
        case 2: wrong.claims = {exclusive(name), shared(name)}; return wrong;
        case 3: wrong.claims = {exclusive(name), core::exclusive({})}; return wrong;
        case 4: wrong.claims = {exclusive(name), exclusive(too_long)}; return wrong;
        case 5: wrong.claims = {permits(name, 0, 3)}; return wrong;
        case 6: wrong.claims = {permits(name, 4, 3)}; return wrong;
        case 7: wrong.claims = {permits(name, 1, bounds::limit + 1)}; return wrong;
        case 8: wrong.claims = {{name, claim_mode::shared, 1, 1}}; return wrong;
        case 9: wrong.options.hold_limit = 999us; return wrong;
        case 10: wrong.options.hold_limit = bounds::longest_hold + 1us; return wrong;
        case 11: wrong.request.number = 0; return wrong;
        case 12: wrong.request.number = bounds::number; return wrong;
        case 13: wrong.request.session.low += 1'000; return wrong;
        case 14: return leave{{client.session(), dice_.percent(50) ? 0 : bounds::number}, release_kind::clean};
        case 15: return open{client.session(), 99ms, "label", 1'000, 0, {}};
        case 16: return open{client.session(), options_.max_ttl + 1ms, "label", 1'000, 0, {}};
        case 17: return open{client.session(), 100ms, std::string(bounds::label + 1, 'l'), 1'000, 0, {}};
        case 18: return open{client.session(), 100ms, "label", 1'000, bounds::number, {}};
        case 19: return open{client.session(), 100ms, "label", 1'000, 1, {{1, {exclusive(name)}, 5, 5, {}, {}}}};
        case 20: return revoke{name, 1, std::string(bounds::note + 1, 'n'), false};
        case 21: return resize{dice_.percent(50) ? name : too_long, dice_.percent(50) ? 0 : bounds::limit + 1};
        case 22: return mend{dice_.percent(50) ? "" : too_long};
        case 23:
            // Seldom, because little else happens in a pause without end.
            if (!dice_.percent(10)) return tick{};
            return pause{instant::max()};
        default: return revoke{name, dice_.roll() % bounds::number, "", dice_.percent(50)};
    }
}

}  // namespace baton::sim
