/// What a request does while there is no connection to the store.
#pragma once

#include <cstdint>

namespace baton {
inline namespace v1 {

enum class if_unavailable : std::uint8_t {
    wait,  ///< it waits for a connection, as long as `acquire_options::wait` says
    fail,  ///< it fails with errc::store_unavailable when an attempt to connect has failed
};

}  // namespace v1
}  // namespace baton
