#include "bench/actors/crowd.hpp"

#include "bench/clock.hpp"
#include "bench/scene.hpp"

namespace baton::bench {

/// Notes when a request of a client has been queued.
class crowd::queue_watch final : public observer {
public:
    void queued(const claim_list&) override {
        const std::lock_guard lock{mutex_};
        ++count_;
        changed_.notify_one();
    }
    std::size_t count() {
        const std::lock_guard lock{mutex_};
        return count_;
    }
    void wait_for(std::size_t count) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return count_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t count_ = 0;
};

crowd::crowd(const std::string& url, std::size_t clients, std::string name)
    : watch_{std::make_shared<queue_watch>()}, wanted_{exclusive(std::move(name))}, holder_{url} {
    const client_options options{.ttl = std::chrono::seconds{15}, .label = "one of many", .observer = watch_};
    clients_.reserve(clients);
    for (std::size_t i = 0; i < clients; ++i) clients_.emplace_back(url, options);
}

void crowd::queue(std::size_t length) {
    length_ = length;
    served_ = latest_ = 0;
    std::size_t queued = watch_->count();
    for (std::size_t i = 0; i < length; ++i) {
        clients_[i % clients_.size()].async_acquire(wanted_, {}, {}, [this, i](std::error_code error, lease lease) {
            require(!error && lease.fence() != 0, "it is granted");
            served(i);  // before the release, which grants the next request
        });
        ++queued;
        if (clients_.size() > 1) watch_->wait_for(queued);  // commands of different clients have no order
    }
    watch_->wait_for(queued);
}

double crowd::drain() {
    const double start = now_us();
    first_.release();
    std::unique_lock lock{mutex_};
    done_.wait(lock, [this] { return served_ == length_; });
    return (now_us() - start) / static_cast<double>(length_);
}

double crowd::drain_queues(std::size_t length, int lines) {
    double total = 0;
    for (int i = 0; i < lines; ++i) {
        hold();
        queue(length);
        total += drain();
    }
    require(out_of_order_ == 0, "in order of arrival");
    return total / lines;
}

void crowd::served(std::size_t waiter) {
    const std::lock_guard lock{mutex_};
    if (waiter < latest_) ++out_of_order_;
    latest_ = std::max(latest_, waiter);
    if (++served_ == length_) done_.notify_one();
}

}  // namespace baton::bench
