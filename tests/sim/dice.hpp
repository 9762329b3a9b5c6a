// Random numbers that are the same on every platform (splitmix64), so that a schedule replays from one integer. The
// distributions of the standard library differ between implementations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace baton::sim {

class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}

    std::uint64_t roll() {
        std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15ULL);
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
        return mixed ^ (mixed >> 31);
    }

    /// 0 to count - 1; the bias of the remainder does not matter here.
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(roll() % count); }
    std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
    bool percent(std::size_t chance) { return below(100) < chance; }

    template <typename T> const T& pick(const std::vector<T>& from) { return from[below(from.size())]; }

private:
    std::uint64_t state_;
};

}  // namespace baton::sim
