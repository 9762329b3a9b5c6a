#include "schedule.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

namespace baton::sim {

using namespace core;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t remembered_commands = 48;
constexpr instant earliest{1s};
constexpr instant start{4h};

struct session_of_event {
    template <typename What> std::optional<session_id> operator()(const What& what) const {
        if constexpr (requires { what.session; })
            return what.session;
        else if constexpr (requires { what.request.session; })
            return what.request.session;
        else if constexpr (requires { what.request->session; })
            return what.request ? std::optional(what.request->session) : std::nullopt;
        else
            return std::nullopt;
    }
};

struct session_of_command {
    template <typename Command> std::optional<session_id> operator()(const Command& command) const {
        if constexpr (requires { command.session; })
            return command.session;
        else if constexpr (requires { command.request; })
            return command.request.session;
        else
            return std::nullopt;
    }
};

template <std::size_t Count> std::size_t weighted(dice& dice, const std::array<std::size_t, Count>& weights) {
    std::size_t left = dice.below(std::accumulate(weights.begin(), weights.end(), std::size_t{0}));
    std::size_t index = 0;
    while (left >= weights[index]) left -= weights[index++];
    return index;
}

}  // namespace

schedule::schedule(std::uint64_t seed) : dice_(seed), now_(start) {
    static const std::vector<std::optional<std::uint32_t>> budgets{std::nullopt, std::nullopt, 1, 3, 128};
    static const std::vector<std::chrono::milliseconds> longest{1s, 5s, 15s};
    options_.budget = dice_.pick(budgets);
    options_.max_ttl = dice_.pick(longest);
    if (seed % 4 == 0) options_.ended_ids = 3;
    for (std::size_t count = dice_.between(3, 5); names_.size() < count;) {
        names_.emplace_back(1, static_cast<char>('a' + names_.size()));
        usual_limits_.push_back(static_cast<std::uint32_t>(dice_.between(1, 6)));
    }
    for (std::size_t count = dice_.between(3, 6); clients_.size() < count;) clients_.emplace_back(clients_.size());

    // Every schedule has ticks, renewals, `enter` and `leave`; it draws its own weights for the other actions.
    constexpr std::array<std::size_t, action_count> ordinary_weights{60, 44, 2, 6, 24, 8,  4, 2,
                                                                     8,  7,  3, 5, 3,  16, 2, 1};
    static const std::vector<std::size_t> factors{0, 1, 1, 1, 4};
    for (std::size_t index = 0; index < weights_.size(); ++index)
        weights_[index] = 2 * ordinary_weights[index] * (ordinary_weights[index] >= 8 ? 1 : dice_.pick(factors));
    weights_[lose_state] /= 2;
    for (std::size_t& weight : mode_weights_) weight = dice_.between(0, 3);
    if (std::accumulate(mode_weights_.begin(), mode_weights_.end(), std::size_t{0}) == 0) mode_weights_.fill(1);
    most_live_ = dice_.percent(10) ? 10 : dice_.between(2, 5);
    deafness_ = dice_.percent(50) ? 0 : dice_.between(5, 40);
    clock_goes_back_ = dice_.percent(40);
    paces_slowly_ = dice_.percent(30);
    if (seed % 5 == 2) make_plain();
}

/// The function library has short paths for quiet spaces. This makes a schedule quiet: few names with many waiters, and
/// none of the options, pauses and faults that exclude the short paths.
void schedule::make_plain() {
    plain_ = true;
    for (const action rare : {pause_all, lose_state, malform, resize_one, mend_one, reconnect}) weights_[rare] = 0;
    for (const action rare : {revoke_one, close_session, leave_early, list_requests}) weights_[rare] = 2;
    static const std::vector<std::array<std::size_t, 3>> mixtures{
        {1, 0, 0}, {6, 1, 1}, {2, 1, 1}, {1, 0, 4}, {0, 1, 3}};
    mode_weights_ = dice_.pick(mixtures);
    names_.resize(2);
    for (std::uint32_t& limit : usual_limits_) limit = static_cast<std::uint32_t>(dice_.between(1, 20));
    most_live_ = dice_.between(2, 12);
    clock_goes_back_ = dice_.percent(30);
}

// ---- time ----

void schedule::move_time(std::optional<instant> due) {
    const auto forward = [this](duration most) {
        now_ += duration{static_cast<duration::rep>(dice_.below(static_cast<std::size_t>(most.count()) + 1))};
    };
    const std::size_t drawn = dice_.below(1'000);
    if (drawn < (plain_ ? 100 : 250)) return;
    if (drawn < 650) return forward(paces_slowly_ ? 100us : 2ms);
    if (drawn < 900) return forward(paces_slowly_ ? 5ms : 60ms);
    if (drawn < 950) {
        if (due && *due < now_ + 1h) now_ = std::max(now_, *due + duration{static_cast<int>(dice_.below(3)) - 1});
        return;
    }
    if (drawn < 954) return forward(options_.max_ttl);
    if (drawn < 956) return forward(2 * options_.max_ttl);
    if (drawn < 957) return forward(1h);
    if (!clock_goes_back_ || drawn < 985) return;
    // From one microsecond to one hour, each order of magnitude with the same probability.
    duration back{1};
    for (std::size_t power = dice_.below(10); power > 0; --power) back *= 10;
    now_ = std::max(earliest, now_ - std::min<duration>(back, 1h));
}

// ---- what happens ----

step schedule::next(std::optional<instant> due) {
    move_time(due);
    if (std::exchange(pause_next_, false)) return {now_, command{draw_pause()}};
    const action drawn_action = draw_action();
    if (drawn_action == lose_state) {
        pause_next_ = dice_.percent(90);
        for (sim_client& client : clients_) client.disconnect();
        return {now_, restart{dice_.percent(40) ? 0 : dice_.below(log_size_ + 1)}};
    }
    command drawn = command_for(drawn_action);
    sent_.push_back(drawn);
    if (sent_.size() > remembered_commands) sent_.pop_front();
    return {now_, std::move(drawn)};
}

schedule::action schedule::draw_action() {
    // In a pause, clients reconnect and present their requests.
    if (now_ < paused_until_ && dice_.percent(25)) return reconnect;
    return static_cast<action>(weighted(dice_, weights_));
}

command schedule::command_for(action chosen) {
    sim_client& client = any_client();
    switch (chosen) {
        case tick_only: return tick{};
        case revoke_one: return draw_revoke();
        case mend_one: return mend{dice_.pick(names_)};
        case resize_one: {
            resize command{dice_.pick(names_), std::nullopt};
            if (!dice_.percent(40)) command.limit = static_cast<std::uint32_t>(dice_.between(1, 6));
            return command;
        }
        case pause_all: return draw_pause();
        case resend: return sent_.empty() ? command{tick{}} : sent_[dice_.below(sent_.size())];
        case malform: return malformed();
        default: break;
    }
    if (!client.is_open() && dice_.percent(90)) return draw_open(client);
    switch (chosen) {
        case enter_new: return draw_enter(client);
        case leave_one: return draw_leave(client);
        case leave_early: return leave{{client.session(), client.highest() + 1}, release_kind::clean};
        case ask_again: return draw_again(client);
        case renew_session: return renew{client.session()};
        case list_requests: return list{client.session(), dice_.percent(50) ? 0 : dice_.below(client.highest() + 2)};
        case close_session: return close{client.session(), dice_.percent(50) ? closing::left : closing::gone};
        default: return draw_open(client);
    }
}

void schedule::observe(const step& step, const std::vector<event>& events, std::size_t log_size) {
    log_size_ = log_size;
    std::optional<session_id> sender;
    if (const auto* sent = std::get_if<command>(&step.what)) sender = std::visit(session_of_command{}, *sent);
    for (const event& event : events) {
        if (const auto* starts = std::get_if<paused>(&event.what)) paused_until_ = starts->until;
        auto session = std::visit(session_of_event{}, event.what);
        if (!session) session = sender;  // a refusal without a request goes to the sender
        for (sim_client& client : clients_)
            if (session == client.session() && !dice_.percent(deafness_)) client.receive(event);
    }
}

// ---- commands ----

claim schedule::draw_claim(const std::string& name) {
    const auto drawn = static_cast<claim_mode>(weighted(dice_, mode_weights_));
    if (drawn != claim_mode::permits) return {name, drawn, 0, 0};
    const std::uint32_t usual = usual_limits_[static_cast<std::size_t>(name[0] - 'a')];
    const auto limit = dice_.percent(70) ? usual : static_cast<std::uint32_t>(dice_.between(1, 8));
    return permits(name, static_cast<std::uint32_t>(dice_.between(1, dice_.percent(70) ? (limit + 1) / 2 : limit)),
                   limit);
}

std::vector<claim> schedule::draw_claims() {
    std::vector<std::string> left = names_;
    std::size_t count = dice_.percent(plain_ ? 85 : 50) ? 1 : dice_.between(1, 4);
    std::vector<claim> claims;
    for (count = std::min(count, left.size()); claims.size() < count;) {
        const std::size_t index = dice_.below(left.size());
        claims.push_back(draw_claim(left[index]));
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(index));
    }
    return claims;
}

command schedule::draw_enter(sim_client& client) {
    if (client.requests().size() >= most_live_) return draw_leave(client);
    enter command;
    command.claims = draw_claims();
    const std::size_t rarity = plain_ ? 4 : 1;
    command.options.nowait = dice_.percent(15 / rarity);
    if (dice_.percent(20 / rarity))
        command.options.hold_limit = duration{1ms} * static_cast<int>(dice_.between(1, dice_.percent(50) ? 20 : 2'000));
    if (dice_.percent(20 / rarity)) command.options.queue_bound = dice_.below(4);
    command.request = client.new_request(command.claims, command.options.hold_limit);
    return command;
}

command schedule::draw_leave(sim_client& client) {
    if (const auto number = client.take_stranger()) return leave{{client.session(), *number}, release_kind::keep};
    if (client.requests().empty()) return renew{client.session()};
    const auto chosen =
        std::next(client.requests().begin(), static_cast<std::ptrdiff_t>(dice_.below(client.requests().size())));
    static const std::vector<release_kind> release_kinds{release_kind::clean, release_kind::clean, release_kind::clean,
                                                         release_kind::keep, release_kind::unclean};
    const std::uint64_t number = chosen->first;
    // The client forgets the request at once, or only when it receives its end.
    if (dice_.percent(50)) client.forget(number);
    return leave{{client.session(), number},
                 plain_ && dice_.percent(80) ? release_kind::clean : dice_.pick(release_kinds)};
}

command schedule::draw_again(sim_client& client) {
    if (client.requests().empty()) return renew{client.session()};
    const auto chosen =
        std::next(client.requests().begin(), static_cast<std::ptrdiff_t>(dice_.below(client.requests().size())));
    enter command{{client.session(), chosen->first}, chosen->second.claims, {}};
    if (dice_.percent(10)) {
        std::vector<claim> reversed{command.claims.begin(), command.claims.end()};
        std::ranges::reverse(reversed);
        command.claims = std::move(reversed);
    }
    if (dice_.percent(10)) command.claims = draw_claims();
    return command;
}

command schedule::draw_open(sim_client& client) {
    open command = client.connect(dice_, now_, options_.max_ttl);
    if (!plain_ && dice_.percent(12)) forge(dice_, command.live, known_serials());
    if (dice_.percent(3) && command.highest > 0) --command.highest;
    if (!command.live.empty() && dice_.percent(5)) command.live.pop_back();  // as if another part of the list had it
    return command;
}

std::vector<serial> schedule::known_serials() const {
    std::vector<serial> serials;
    for (const sim_client& client : clients_)
        for (const auto& [number, request] : client.requests()) {
            if (request.ticket != 0) serials.push_back(request.ticket);
            if (request.fence != 0) serials.push_back(request.fence);
        }
    return serials;
}

command schedule::draw_revoke() {
    revoke command{dice_.pick(names_), 1, dice_.percent(50) ? "maintenance" : "", dice_.percent(40)};
    for (std::size_t tries = 0; tries < 4; ++tries) {
        const auto& requests = any_client().requests();
        if (requests.empty()) continue;
        const believed_request& chosen =
            std::next(requests.begin(), static_cast<std::ptrdiff_t>(dice_.below(requests.size())))->second;
        if (chosen.ticket == 0) continue;
        command.ticket = chosen.ticket;
        if (dice_.percent(95)) command.resource = chosen.claims.front().resource;
        break;
    }
    return command;
}

command schedule::draw_pause() {
    const auto length = static_cast<int>(dice_.below(dice_.percent(70) ? 100'000 : 3'000'000));
    return pause{dice_.percent(95) ? now_ + duration{length} : now_ - duration{length}};
}

}  // namespace baton::sim
