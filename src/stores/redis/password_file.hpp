// The password that stands in a file. It may be changed while clients run, so it is read again for every connection.
#pragma once

#include <functional>
#include <string>

#include "base/event_loop.hpp"
#include "baton/store.hpp"
#include "stores/redis/address.hpp"

namespace baton::detail {

/// Without the end of its line. None: it cannot be read, or holds no password; `why` says which, and never shows it.
[[nodiscard]] std::string read_password_file(const std::string& path, std::string& why);

/// By the loop owner. Reads the password again if the address takes it from a file, on another thread, and puts it
/// into the address, which stays until `done` is called by the loop owner: with an error if it could not be read.
void refresh_password(event_loop& loop, redis_address& address, std::function<void(const store_error&)> done);

}  // namespace baton::detail
