// The fleet of one schedule: clients, a server, the network between them and the faults, all drawn from one seed. A
// time of faults is followed by a quiet time, in which all waiters must be granted; then all clients close.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "judge.hpp"
#include "profile.hpp"
#include "timeline.hpp"

namespace baton::fleet {

class client;
class server;

struct run_options {
    removed without;
    std::ostream* trace = nullptr;
};

/// How often each situation occurred.
using coverage = std::map<std::string, std::uint64_t>;

class world {
public:
    world(std::uint64_t seed, run_options options);
    world(const world&) = delete;
    world& operator=(const world&) = delete;
    ~world();

    /// Plays the schedule; throws broken_promise.
    void play();

    [[nodiscard]] timeline& time() { return time_; }
    [[nodiscard]] fleet::judge& judge() { return judge_; }
    [[nodiscard]] fleet::dice& dice() { return dice_; }
    [[nodiscard]] const profile& options() const { return profile_; }
    [[nodiscard]] const removed& without() const { return options_.without; }
    [[nodiscard]] const coverage& seen();

    /// True with this probability, in the time of faults only.
    [[nodiscard]] bool strikes(std::size_t percent) { return chaos_ && percent > 0 && dice_.percent(percent); }
    [[nodiscard]] bool users_busy() const { return chaos_; }
    /// The server, unless the client cannot reach it now.
    [[nodiscard]] std::shared_ptr<server> reachable(const client& client) const;
    /// The number of moves of the address.
    [[nodiscard]] std::size_t moves() const { return moves_; }
    void shakes_hands(const client& client);
    void saw(const std::string& what) { ++seen_[what]; }

    /// The client cannot reach the server for a while and gets no error.
    void suffer_outage(const std::shared_ptr<client>& client);

    std::int64_t draw_drift();
    std::chrono::milliseconds draw_ttl();
    micros draw_delay();
    micros draw_lateness();
    micros draw_jitter();
    micros draw_backoff();
    micros draw_thought();

    [[nodiscard]] bool traced() const { return options_.trace != nullptr; }
    void log(const std::string& what) const;

private:
    void add_client();
    [[nodiscard]] std::shared_ptr<client> draw_client();
    void plan(std::size_t times, std::function<void()> disaster);
    void cut(const std::shared_ptr<client>& client);
    void pause();
    void kill();
    void restart();
    void crash(std::optional<std::size_t> forgotten);
    void fail_over(std::optional<std::size_t> forgotten);
    void revoke();
    void change_role();
    void move_address();
    [[nodiscard]] bool is_informed(const client& client) const;
    void cut_all_to(const std::shared_ptr<server>& server);

    run_options options_;
    fleet::dice dice_;
    profile profile_;
    timeline time_;
    fleet::judge judge_{*this};
    bool chaos_ = true;
    std::shared_ptr<server> server_;
    std::shared_ptr<server> former_;  // the address may lead to it again
    std::size_t moves_ = 0;
    bool awaits_informant_ = false;  // no client that met the previous server has connected since the last move
    true_time down_until_{};
    true_time next_restart_{};
    std::vector<std::shared_ptr<client>> clients_;
    std::size_t drawn_clients_ = 0;
    std::map<const client*, true_time> unreachable_until_;
    coverage seen_;
};

/// Describes the broken promise, if there is one.
[[nodiscard]] std::optional<std::string> play_seed(std::uint64_t seed, run_options options, coverage& seen);

}  // namespace baton::fleet
