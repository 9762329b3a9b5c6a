// Reads the password from a file, again for each connection, because it may change while clients run.
#pragma once

#include <functional>
#include <string>

#include "base/event_loop.hpp"
#include "baton/store.hpp"
#include "stores/redis/address.hpp"

namespace baton::detail {

/// Returns the password without the line end. If the file cannot be read or has no password, returns an empty string
/// and sets `why`, which never contains the password.
[[nodiscard]] std::string read_password_file(const std::string& path, std::string& why);

/// Called by the loop owner. If the address has a password file, a worker thread reads it, and the password in
/// `address` is replaced. Then the loop owner calls `done`, with an error if the file could not be read. `address`
/// outlives that.
void refresh_password(event_loop& loop, redis_address& address, std::function<void(const store_error&)> done);

}  // namespace baton::detail
