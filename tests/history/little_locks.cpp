#include "little_locks.hpp"

#include <atomic>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../contract/broken_store.hpp"

namespace baton::history {
namespace {

class connection {
public:
    explicit connection(endpoint server) : server_{std::move(server)} {}

    /// Sends a command. None: the server was replaced by another.
    std::optional<resp::value> call(const std::vector<std::string>& words) {
        if (client_) {
            auto answer = client_->call(words);
            if (answer && answer->kind == resp::kind::error) throw std::runtime_error{answer->text};
            if (answer) return answer;
        }
        const bool again = client_ != nullptr;
        client_.reset();
        if (!eventually([&] { return answers(server_); })) throw std::runtime_error{"the server does not come back"};
        client_ = std::make_unique<resp_client>(server_);
        return again ? std::nullopt : call(words);
    }

private:
    endpoint server_;
    std::unique_ptr<resp_client> client_;
};

class expiring final : public little_lock {
public:
    expiring(const endpoint& server, expiring_lock_options options) : connection_{server}, options_{options} {}

    grant acquire() override {
        static const std::string set =
            "if not redis.call('SET', 'lock', ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end ";
        static const std::string counted = set + "return redis.call('INCR', 'fence')";
        static const std::string timed = set + "local t = redis.call('TIME') return t[1] * 1000000 + t[2]";
        token_ = next_token();
        for (;;) {
            const moment asked = now();
            const auto answer = connection_.call(
                {"EVAL", options_.clock_fence ? timed : counted, "0", token_, std::to_string(options_.expiry.count())});
            if (!answer) {
                if (options_.pauses) std::this_thread::sleep_for(options_.expiry);
            } else if (answer->number != 0) {
                until_ = asked + options_.expiry;
                return {static_cast<std::uint64_t>(answer->number), 0};
            } else {
                std::this_thread::sleep_for(std::chrono::milliseconds{1});  // poll interval
            }
        }
    }
    [[nodiscard]] std::optional<moment> believes_until() const override { return until_; }
    void release() override {
        static const std::string if_mine = "if redis.call('GET', 'lock') == ARGV[1] then redis.call('DEL', 'lock') end";
        if (options_.checks_owner)
            connection_.call({"EVAL", if_mine, "0", token_});
        else
            connection_.call({"DEL", "lock"});
    }

private:
    static std::string next_token() {
        static std::atomic<int> count{0};
        return std::to_string(++count);
    }

    connection connection_;
    expiring_lock_options options_;
    std::string token_;
    moment until_{};
};

class listed final : public little_lock {
public:
    listed(const endpoint& server, discipline discipline) : connection_{server}, discipline_{discipline} {}

    grant acquire() override {
        static const std::string enter =
            "local ticket = redis.call('INCR', 'tickets') "
            "if redis.call('SET', 'held', ticket, 'NX') then return {ticket, redis.call('INCR', 'fence')} end "
            "redis.call('RPUSH', 'queue', ticket) "
            "return {ticket, 0}";
        const auto entered = connection_.call({"EVAL", enter, "0"}).value();
        const auto ticket = static_cast<std::uint64_t>(entered.items.at(0).number);
        if (const auto fence = entered.items.at(1).number; fence != 0)
            return {static_cast<std::uint64_t>(fence), ticket};
        const auto turn = connection_.call({"BLPOP", "turn:" + std::to_string(ticket), "0"}).value();
        return {std::stoull(turn.items.at(1).text), ticket};
    }
    [[nodiscard]] std::optional<moment> believes_until() const override { return {}; }
    void release() override {
        static const std::string leave =
            "local next = redis.call(ARGV[1], 'queue') "
            "redis.call('DEL', 'held') "
            "if not next then return end "
            "redis.call('SET', 'held', next) "
            "redis.call('RPUSH', 'turn:' .. next, redis.call('INCR', 'fence'))";
        connection_.call({"EVAL", leave, "0", discipline_ == discipline::first_in_first_out ? "LPOP" : "RPOP"});
    }

private:
    connection connection_;
    discipline discipline_;
};

class sound final : public little_lock {
public:
    explicit sound(const std::string& url) : client_{broken::store_with(listening(), make_store(url)), options()} {}

    grant acquire() override {
        lease_ = client_.acquire(exclusive("lock"), {.max_hold = longest_hold});
        return {lease_.fence(), ticket_->load()};
    }
    [[nodiscard]] std::optional<moment> believes_until() const override {
        const moment at = now();
        return lease_.valid_for().count() > 0 ? at + lease_.valid_for() : moment{};
    }
    void release() override { lease_.release(); }

private:
    static client_options options() {
        client_options made;
        made.ttl = 2 * longest_hold;
        return made;
    }
    /// There is one request at a time, so the newest ticket is the ticket of this grant.
    [[nodiscard]] broken::fault listening() const {
        broken::fault none;
        none.event = [ticket = ticket_](const protocol::event& event) {
            if (const auto* granted = std::get_if<protocol::granted>(&event.what)) *ticket = granted->ticket;
        };
        return none;
    }

    std::shared_ptr<std::atomic<std::uint64_t>> ticket_ = std::make_shared<std::atomic<std::uint64_t>>(0);
    client client_;
    lease lease_;
};

}  // namespace

std::unique_ptr<little_lock> expiring_lock(const endpoint& server, expiring_lock_options options) {
    return std::make_unique<expiring>(server, options);
}

std::unique_ptr<little_lock> list_lock(const endpoint& server, discipline discipline) {
    return std::make_unique<listed>(server, discipline);
}

std::unique_ptr<little_lock> baton_lock(const std::string& url) { return std::make_unique<sound>(url); }

}  // namespace baton::history
