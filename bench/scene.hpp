// Functions that several scenes share.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace baton::bench {

/// Each scene checks once that it measures the intended operation.
inline void require(bool as_expected, const std::string& what) {
    if (!as_expected) throw std::runtime_error{"the scene does not measure what it should: " + what};
}

/// Compare and delete: the script that ends the classic lock.
inline constexpr std::string_view cad =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

/// Returns a name of 20 bytes.
inline std::string name_of(std::size_t index) {
    const std::string digits = std::to_string(index);
    return "resource/" + std::string(11 - digits.size(), '0') + digits;
}

}  // namespace baton::bench
