// `cad`, compare and delete: the script that ends the classic lock.
#pragma once

#include <string_view>

namespace baton::bench {

inline constexpr std::string_view cad =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

}  // namespace baton::bench
