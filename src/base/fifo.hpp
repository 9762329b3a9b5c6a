// A queue in one array that keeps its memory: unlike std::deque it allocates nothing once it has its size.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace baton::detail {

template <typename Value> class fifo {
public:
    [[nodiscard]] bool empty() const { return values_.empty(); }
    [[nodiscard]] auto begin() { return values_.begin() + first_; }
    [[nodiscard]] auto end() { return values_.end(); }
    [[nodiscard]] Value& front() { return *begin(); }

    void push(Value value) { values_.push_back(std::move(value)); }
    void pop() { drop_taken(first_ + 1); }
    /// Constant time for the first element, linear for others.
    void erase(typename std::vector<Value>::iterator which) {
        if (which == begin()) return pop();
        values_.erase(which);
        drop_taken(first_);
    }
    void clear() {
        values_.clear();
        first_ = 0;
    }

private:
    /// Compacts when half of the elements are popped: amortized constant cost.
    void drop_taken(std::ptrdiff_t taken) {
        first_ = taken;
        if (2 * first_ < std::ssize(values_)) return;
        values_.erase(values_.begin(), begin());
        first_ = 0;
    }

    std::vector<Value> values_;  // the first `first_` elements are popped
    std::ptrdiff_t first_ = 0;
};

}  // namespace baton::detail
