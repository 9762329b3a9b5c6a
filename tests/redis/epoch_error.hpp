// The error by which the library refuses a call for another epoch than that of the space.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "baton/store.hpp"

namespace baton::redis {

/// The epoch in the error, 0 if the space does not exist; none if it is another error.
inline std::optional<epoch> epoch_in(std::string_view error) {
    constexpr std::string_view start = "BATONEPOCH ";
    if (!error.starts_with(start)) return {};
    return std::stoull(std::string{error.substr(start.size())});
}

}  // namespace baton::redis
