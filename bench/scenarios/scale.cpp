// The cost of acquire and release while the store has many held names, live sessions or waiting requests. The crowd is
// made with protocol commands on one connection, so that it needs no threads and no further connections.
#include <condition_variable>
#include <mutex>

#include "baton/store.hpp"
#include "bench/scenarios/scenarios.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"

namespace baton::bench {
namespace {

using namespace protocol;

constexpr std::size_t batch = 500;
constexpr std::size_t requests_of_one = 1'000;  // per session, which may have 10,000

/// A connection without a client: it sends commands and counts the replies.
class bare_connection final : public store_listener, public std::enable_shared_from_this<bare_connection> {
public:
    void connect(store& store) {
        connection_ = store.connect(shared_from_this());
        std::unique_lock lock{mutex_};
        if (!changed_.wait_for(lock, std::chrono::seconds{10}, [this] { return up_ || broken_; }) || broken_)
            throw cli::failure{cli::exit_code::unreachable, "the store does not reply"};
    }
    void send(command command) {
        waiting_.push_back({++tag_, std::move(command)});
        if (waiting_.size() >= batch) flush();
    }
    void flush() {
        const std::size_t sent = waiting_.size();
        if (sent == 0) return;
        connection_->send(waiting_);
        waiting_.clear();
        std::unique_lock lock{mutex_};
        expected_ += sent;
        changed_.wait_for(lock, std::chrono::seconds{60}, [this] { return broken_ || answered_ >= expected_; });
        if (broken_ || answered_ < expected_)
            throw cli::failure{cli::exit_code::internal, broken_ ? "the store has closed the connection of the crowd"
                                                                 : "the store does not reply to the crowd in time"};
    }

    /// Fails if the store has refused a request of the crowd.
    void require_all() {
        const std::lock_guard lock{mutex_};
        if (refused_ != 0) throw cli::failure{cli::exit_code::internal, "the store refuses that many"};
    }

    void up(epoch) noexcept override {
        const std::lock_guard lock{mutex_};
        up_ = true;
        changed_.notify_all();
    }
    void down(const store_error&) noexcept override {
        const std::lock_guard lock{mutex_};
        broken_ = true;
        changed_.notify_all();
    }
    void unusable(const store_error& why) noexcept override { down(why); }
    void replied(command_tag, epoch, std::span<const event> events) noexcept override {
        count(!events.empty() && std::holds_alternative<refused>(events.front().what));
    }
    void failed(command_tag, command_failure, const store_error&) noexcept override { count(true); }
    void noticed(epoch, event) noexcept override {}

private:
    void count(bool refused) noexcept {
        const std::lock_guard lock{mutex_};
        ++answered_;
        refused_ += refused ? 1 : 0;
        changed_.notify_all();
    }

    std::unique_ptr<store_connection> connection_;
    std::vector<tagged_command> waiting_;
    command_tag tag_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool up_ = false;
    bool broken_ = false;
    std::size_t expected_ = 0;
    std::size_t answered_ = 0;
    std::size_t refused_ = 0;
};

enum class axis : std::uint8_t { names, sessions, waiters };
constexpr const char* to_text(axis axis) {
    return axis == axis::names ? "names" : axis == axis::sessions ? "sessions" : "waiters";
}

/// That many held names, live sessions or waiting requests; removed in the destructor.
class crowd {
public:
    crowd(store& store, axis axis, std::size_t size, std::chrono::milliseconds ttl) {
        connection_->connect(store);
        try {
            gather(axis, size, ttl);
        } catch (const cli::failure&) {
            disband();
            throw;
        }
    }
    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;
    ~crowd() { disband(); }

private:
    void gather(axis axis, std::size_t size, std::chrono::milliseconds ttl) {
        const std::size_t of_one = axis == axis::sessions ? 1 : requests_of_one;
        for (std::size_t i = 0; i < size; ++i) {
            if (i % of_one == 0) {
                sessions_.push_back({0xbe7c4, i + 1});
                connection_->send(open{sessions_.back(), ttl, "crowd", 1, 0, {}});
            }
            const std::string name = axis == axis::waiters ? "crowd" : "crowd/" + std::to_string(i);
            connection_->send(enter{{sessions_.back(), i % of_one + 1}, exclusive(name).list(), {}});
        }
        connection_->flush();
        connection_->require_all();
    }
    void disband() noexcept {
        try {  // From the last to the first, so that no waiter is granted meanwhile.
            for (std::size_t i = sessions_.size(); i > 0; --i)
                connection_->send(close{sessions_[i - 1], closing::left});
            connection_->flush();
        } catch (const cli::failure&) {  // the rest ends with its ttl
        }
    }

    std::shared_ptr<bare_connection> connection_ = std::make_shared<bare_connection>();
    std::vector<session_id> sessions_;
};

/// A store may end the claims of a large session over many commands.
void wait_until_gone(client& client) {
    const claims wanted = exclusive("bench/scale");
    while (!client.inspect({inspect_filter::match::prefix, "crowd", false}).resources.empty())
        for (int i = 0; i < 50; ++i) {
            const lease lease = client.acquire(wanted);
        }
}

double cost(client& client, std::chrono::milliseconds span) {
    const claims wanted = exclusive("bench/scale");
    return mean_us(span, [&] { const lease lease = client.acquire(wanted); });
}

}  // namespace

void scale(stage& stage, const plan& plan, audience& audience) {
    const auto store = make_store(stage.url());
    client client{store};
    const auto ttl = stage.long_sessions() && stage.shared() ? std::chrono::milliseconds{600'000}
                                                             : std::chrono::milliseconds{15'000};
    for (const axis axis : {axis::names, axis::sessions, axis::waiters}) {
        double smallest = 0;
        for (const std::size_t size : plan.scale) {
            audience.begin("scale on " + stage.name() + ", " + std::to_string(size) + " " + to_text(axis));
            result shown{.scenario = "scale", .store = stage.name()};
            shown.parameters = {{to_text(axis), static_cast<double>(size)}};
            if (!stage.long_sessions() && size > 1'000) {
                shown.note = "skipped: a crowd of that size needs longer than sessions live on this server";
                audience.show(shown);
                continue;
            }
            try {
                wait_until_gone(client);
                const double start = now_us();
                const crowd crowd{*store, axis, size, ttl};
                const double made = now_us() - start;
                static_cast<void>(cost(client, plan.round));
                std::vector<double> costs;
                for (std::size_t i = 0; i < 5; ++i) costs.push_back(cost(client, plan.round));
                const double median = quantile(costs, 0.5);
                if (smallest == 0) smallest = median;
                shown.figures = {{"cycle_us", median},
                                 {"to_the_smallest", median / smallest},
                                 {"made_us_each", made / static_cast<double>(size)}};
            } catch (const cli::failure& failed) {
                shown.note = std::string{"skipped: "} + failed.what();
            }
            audience.show(shown);
        }
    }
}

}  // namespace baton::bench
