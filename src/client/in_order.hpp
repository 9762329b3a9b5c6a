// A map whose keys are added in ascending order and mostly erased in that order: one growing array, without an
// allocation for each entry.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace baton::detail {

template <typename Value> class in_order {
public:
    /// `number` must be larger than all earlier ones.
    void add(std::uint64_t number, Value value) { entries_.push_back({number, std::move(value)}); }

    [[nodiscard]] bool contains(std::uint64_t number) const { return find(number) != entries_.size(); }

    [[nodiscard]] const Value* get(std::uint64_t number) const {
        const std::size_t at = find(number);
        return at == entries_.size() ? nullptr : &*entries_[at].value;
    }

    void erase(std::uint64_t number) {
        const std::size_t at = find(number);
        if (at == entries_.size()) return;
        entries_[at].value.reset();
        while (first_ < entries_.size() && !entries_[first_].value) ++first_;
        // Compacts when half of the entries are erased: amortized constant cost.
        if (2 * first_ < entries_.size()) return;
        entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }

    /// Returns all entries in order and clears the map.
    [[nodiscard]] std::vector<std::pair<std::uint64_t, Value>> take_all() {
        std::vector<std::pair<std::uint64_t, Value>> all;
        for (entry& entry : entries_)
            if (entry.value) all.emplace_back(entry.number, std::move(*entry.value));
        entries_.clear();
        first_ = 0;
        return all;
    }

private:
    struct entry {
        std::uint64_t number;
        std::optional<Value> value;  // none: erased
    };

    [[nodiscard]] std::size_t find(std::uint64_t number) const {
        const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_);
        const auto found = std::ranges::lower_bound(begin, entries_.end(), number, {}, &entry::number);
        if (found == entries_.end() || found->number != number || !found->value) return entries_.size();
        return static_cast<std::size_t>(found - entries_.begin());
    }

    std::vector<entry> entries_;
    std::size_t first_ = 0;
};

}  // namespace baton::detail
