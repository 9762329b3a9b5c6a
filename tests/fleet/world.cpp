#include "world.hpp"

#include <algorithm>

#include "client.hpp"
#include "connection.hpp"
#include "engine/inspect.hpp"
#include "server.hpp"

namespace baton::fleet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds timeout{120};  // in which all waiters must be granted after the last fault
constexpr seconds afterwards{5};
constexpr milliseconds shortest_history{100};

}  // namespace

world::world(std::uint64_t seed, run_options options) : options_{options}, dice_{seed}, profile_{dice_} {
    server_ = std::make_shared<server>(*this);
    for (std::size_t i = 0; i < profile_.clients; ++i) add_client();
    plan(profile_.cuts, [this] { cut(draw_client()); });
    plan(profile_.outages, [this] { suffer_outage(draw_client()); });
    plan(profile_.pauses, [this] { pause(); });
    plan(profile_.kills, [this] { kill(); });
    plan(profile_.restarts, [this] { restart(); });
    plan(profile_.revocations, [this] { revoke(); });
    plan(profile_.role_changes, [this] { change_role(); });
    plan(profile_.moves, [this] { move_address(); });
}

world::~world() {
    for (const auto& client : clients_) client->kill();  // clients and their connections own each other
}

void world::play() {
    const auto never = [] { return false; };
    time_.run_until(true_time{profile_.chaos}, never);
    chaos_ = false;
    log("quiet");
    time_.run_until(time_.now() + timeout, [this] { return judge_.everyone_served(); });
    if (!judge_.everyone_served()) judge::fail("a client still waits 120 s after the last fault");
    for (const auto& client : clients_) client->close();
    time_.run_until(time_.now() + profile_.max_ttl + profile_.lag + afterwards, never);
    judge_.check_nothing_remains(*server_);
}

const coverage& world::seen() {
    for (const auto& [what, count] : judge_.seen()) seen_[what] = count;
    seen_["grants"] = judge_.grants();
    return seen_;
}

void world::log(const std::string& what) const {
    if (options_.trace != nullptr)
        *options_.trace << std::chrono::duration<double>(time_.now().time_since_epoch()).count() << " s: " << what
                        << '\n';
}

std::shared_ptr<server> world::reachable(const client& client) const {
    if (time_.now() < down_until_) return {};
    const auto found = unreachable_until_.find(&client);
    if (found != unreachable_until_.end() && time_.now() < found->second && chaos_) return {};
    if (server_->is_replica() || (awaits_informant_ && !is_informed(client))) return {};
    return server_;
}

// Drawing.

std::int64_t world::draw_drift() { return static_cast<std::int64_t>(dice_.below(20'001)) - 10'000; }

milliseconds world::draw_ttl() {
    return dice_.percent(40) ? profile_.max_ttl
                             : milliseconds{dice_.between(300, static_cast<std::size_t>(profile_.max_ttl.count()))};
}

micros world::draw_delay() {
    const micros longest = chaos_ ? profile_.delay : std::min<micros>(profile_.delay, usual_delay);
    return micros{dice_.between(50, static_cast<std::size_t>(longest.count()))};
}
micros world::draw_lateness() { return milliseconds{dice_.between(0, 4'000)}; }
micros world::draw_jitter() { return dice_.percent(90) ? micros{dice_.below(200)} : micros{dice_.below(15'000)}; }
micros world::draw_backoff() { return milliseconds{dice_.between(1, 100)}; }
micros world::draw_thought() { return micros{dice_.below(2 * static_cast<std::size_t>(profile_.think.count())) + 1}; }

// Faults.

void world::add_client() {
    clients_.push_back(std::make_shared<client>(*this, ++drawn_clients_));
    clients_.back()->start();
}

std::shared_ptr<client> world::draw_client() { return clients_[dice_.below(clients_.size())]; }

void world::plan(std::size_t times, std::function<void()> disaster) {
    for (; times > 0; --times)
        time_.in(micros{dice_.below(static_cast<std::size_t>(profile_.chaos.count()))}, disaster);
}

void world::cut(const std::shared_ptr<client>& client) {
    if (!client->connection()) return;
    ++seen_["cut"];
    log(client->name() + ": the connection is cut");
    client->connection()->cut();
    if (dice_.percent(75))
        client->notice_cut(milliseconds{dice_.below(200)});  // else the client notices only the silence
}

void world::suffer_outage(const std::shared_ptr<client>& client) {
    const true_time until = time_.now() + milliseconds{dice_.between(50, 6'000)};
    ++seen_["outage"];
    log(client->name() + " cannot reach the server for a while");
    unreachable_until_[client.get()] = until;
    if (client->connection()) client->connection()->go_silent(until);
}

void world::pause() {
    const auto client = draw_client();
    const bool whole_machine = dice_.percent(50);
    ++seen_[whole_machine ? "machine asleep" : "process paused"];
    log(client->name() + " stops for a while");
    client->pause(milliseconds{dice_.between(50, 7'000)}, whole_machine);
}

void world::kill() {
    const auto client = draw_client();
    std::erase(clients_, client);
    if (dice_.percent(25)) {
        ++seen_["close"];
        log(client->name() + " closes");
        client->close();
    } else {
        ++seen_["kill"];
        log(client->name() + " is killed");
        client->kill();
    }
    add_client();
}

void world::restart() {
    // An epoch is as large as its server's clock. It grows only if servers follow each other more slowly than their
    // clocks differ.
    if (time_.now() < next_restart_) return;
    next_restart_ = time_.now() + shortest_history;
    std::optional<std::size_t> forgotten;
    if (dice_.percent(60)) forgotten = dice_.below(30);
    const std::string what = forgotten ? "forgets its last commands" : "forgets everything";
    const std::size_t release_kind = dice_.below(3);
    log("the server " + what);
    if (release_kind == 0) {
        ++seen_["in place: " + what];
        server_->lose_memory(forgotten);
    } else if (release_kind == 1) {
        ++seen_["crash: " + what];
        crash(forgotten);
    } else {
        ++seen_["failover: " + what];
        fail_over(forgotten);
    }
    // A second restart, perhaps during the reclaim.
    if (dice_.percent(30))
        time_.in(milliseconds{dice_.between(200, 4'000)}, [this] {
            if (chaos_) restart();
        });
}

void world::crash(std::optional<std::size_t> forgotten) {
    server_->stop();
    cut_all_to(server_);
    const auto gap = milliseconds{dice_.between(50, 1'500)};
    down_until_ = time_.now() + gap;
    next_restart_ = down_until_ + shortest_history;
    time_.at(down_until_, [this, forgotten] { server_ = server_->successor(forgotten); });
}

/// The old server continues to serve its connections for a while; some clients are cut off from it at once.
void world::fail_over(std::optional<std::size_t> forgotten) {
    const auto old = server_;
    server_ = old->successor(forgotten);
    for (const auto& client : clients_)
        if (client->connection() && dice_.percent(30)) cut(client);
    time_.in(micros{dice_.below(static_cast<std::size_t>(micros{profile_.lag}.count()) * 9 / 10)}, [this, old] {
        old->stop();
        cut_all_to(old);
    });
}

void world::cut_all_to(const std::shared_ptr<server>& server) {
    for (const auto& client : clients_)
        if (client->connection() && client->connection()->other_end() == server) cut(client);
}

/// The server becomes a replica of a server without its last commands for a moment, and is then promoted again.
void world::change_role() {
    if (time_.now() < next_restart_) return;
    const true_time until = time_.now() + micros{dice_.percent(50) ? 0 : dice_.below(300'000)};
    next_restart_ = until + shortest_history;
    ++seen_["role changes under open connections"];
    log("the server becomes a replica, and is promoted again with another's memory");
    server_->become_replica(until, dice_.below(30));
}

/// The address leads to another server: an empty one, or one to which it led before and which kept its state. That
/// server has not restarted, so it can learn only from its clients that it has missed commands.
void world::move_address() {
    if (time_.now() < next_restart_) return;
    next_restart_ = time_.now() + profile_.lag + shortest_history;
    const auto old = std::exchange(server_, former_ && dice_.percent(60) ? former_ : std::make_shared<server>(*this));
    const bool is_back = server_ == former_;
    ++seen_[is_back ? "the address moves back" : "the address moves to an empty server"];
    log(is_back ? "the address moves back" : "the address moves to an empty server");
    former_ = old;
    if (is_back) server_->go_on();
    // The old server goes on for a while, but its grants no longer count.
    judge_.epoch_began(std::max(server_->epoch(), old->epoch() + 1));
    ++moves_;
    awaits_informant_ = true;
    for (const auto& client : clients_)
        if (client->connection() && client->connection()->other_end() == old && dice_.percent(30)) cut(client);
    time_.in(micros{dice_.below(static_cast<std::size_t>(micros{profile_.lag}.count()) * 9 / 10)}, [this, old] {
        old->stop();
        cut_all_to(old);
    });
}

/// A server learns of its predecessor only from clients. So a client that did not meet the predecessor connects after a
/// client that did, if such a client is alive: docs/redis.md states this assumption.
bool world::is_informed(const client& client) const {
    std::size_t latest = 0;
    for (const auto& each : clients_) latest = std::max(latest, each->met());
    return client.met() == latest;
}

void world::shakes_hands(const client& client) {
    if (is_informed(client)) awaits_informant_ = false;
}

void world::revoke() {
    const auto snapshot = core::inspect(server_->engine(), {}, server_->clock());
    if (snapshot.requests.empty()) return;
    const auto& request = snapshot.requests[dice_.below(snapshot.requests.size())];
    ++seen_["revoke"];
    draw_client()->revoke(request.claims.front().resource, request.ticket);
}

std::optional<std::string> play_seed(std::uint64_t seed, run_options options, coverage& seen) {
    world world{seed, options};
    try {
        world.play();
    } catch (const broken_promise& broken) {
        return std::to_string(std::chrono::duration<double>(world.time().now().time_since_epoch()).count()) +
               " s: " + broken.what();
    }
    for (const auto& [what, count] : world.seen()) seen[what] += count;
    return {};
}

}  // namespace baton::fleet
