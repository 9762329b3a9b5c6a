// Clients that wait alternately for one name, so that each hand-off goes to another client.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "baton/client.hpp"

namespace baton::bench {

class crowd {
public:
    crowd(const std::string& url, std::size_t clients, std::string name);

    /// Acquires the name for the holder, then queues `length` requests behind it.
    void hold() { first_ = holder_.acquire(wanted_); }
    void queue(std::size_t length);
    /// The holder releases. Returns after all requests have been granted: the time per hand-off, in us.
    double drain();
    /// Fills queues of that length and drains them in order of arrival; returns the mean time per hand-off, in us.
    double drain_queues(std::size_t length, int lines = 1);

    /// The number of requests, in all queues, that were granted after a request that arrived later.
    [[nodiscard]] std::size_t out_of_order() const { return out_of_order_; }

private:
    class queue_watch;

    void served(std::size_t waiter);

    std::shared_ptr<queue_watch> watch_;
    const claims wanted_;
    std::mutex mutex_;
    std::condition_variable done_;
    std::size_t length_ = 0;
    std::size_t served_ = 0;
    std::size_t latest_ = 0;
    std::size_t out_of_order_ = 0;
    lease first_;
    client holder_;                // without an observer: it may have to wait for the end of the last queue
    std::vector<client> clients_;  // destroyed first
};

}  // namespace baton::bench
