// The slots of a resource that are taken: a bitmap that grows to the highest slot in use (rule 10).
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/types.hpp"

namespace baton::core {

class slot_set {
public:
    [[nodiscard]] bool taken(slot slot) const {
        return word_of(slot) < words_.size() && (words_[word_of(slot)] & bit_of(slot)) != 0;
    }

    [[nodiscard]] bool any_taken(std::span<const slot> slots) const {
        for (const slot slot : slots)
            if (taken(slot)) return true;
        return false;
    }

    [[nodiscard]] std::size_t count() const {
        std::size_t sum = 0;
        for (const std::uint64_t word : words_) sum += static_cast<std::size_t>(std::popcount(word));
        return sum;
    }

    /// Takes the `count` lowest free slots.
    std::vector<slot> take_lowest(std::uint32_t count) {
        std::vector<slot> slots;
        slots.reserve(count);
        while (slots.size() < count) {
            while (first_free_word_ < words_.size() && words_[first_free_word_] == ~std::uint64_t{0})
                ++first_free_word_;
            const std::uint64_t word = first_free_word_ < words_.size() ? words_[first_free_word_] : 0;
            slots.push_back(
                static_cast<slot>(first_free_word_ * word_bits + static_cast<std::size_t>(std::countr_one(word))));
            take(slots.back());
        }
        return slots;
    }

    void take(slot slot) {
        assert(!taken(slot));
        if (word_of(slot) >= words_.size()) words_.resize(word_of(slot) + 1);
        words_[word_of(slot)] |= bit_of(slot);
    }

    void give_back(std::span<const slot> slots) {
        for (const slot slot : slots) {
            assert(taken(slot));
            words_[word_of(slot)] &= ~bit_of(slot);
            first_free_word_ = std::min(first_free_word_, word_of(slot));
        }
    }

private:
    static constexpr std::size_t word_bits = 64;
    static std::size_t word_of(slot slot) { return slot / word_bits; }
    static std::uint64_t bit_of(slot slot) { return std::uint64_t{1} << (slot % word_bits); }

    std::vector<std::uint64_t> words_;
    std::size_t first_free_word_ = 0;  // every word before it is full
};

}  // namespace baton::core
