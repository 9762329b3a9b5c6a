// Clients that wait for one name in turn, so that each hand-off goes to another client.
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

    /// First a holder, then a line of that length behind it.
    void hold() { first_ = holder_.acquire(wanted_); }
    void queue(std::size_t length);
    /// The holder releases; returns when all have had their turns. What one hand-off took, in us.
    double drain();
    /// Makes lines of that length, and drains them in order of arrival; the mean of one hand-off, in us.
    double drain_lines(std::size_t length, int lines = 1);

    /// How many were granted after a waiter that had asked later, in all lines.
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
    client holder_;                // not watched: it may have to wait for the end of the last line
    std::vector<client> clients_;  // the first to go
};

}  // namespace baton::bench
