// What a connection needs from files: the password, and the certificates of TLS. Files may change while clients run, so
// each connection reads them again.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/event_loop.hpp"
#include "baton/store.hpp"
#include "stores/redis/address.hpp"
#include "stores/resp/encryption.hpp"

namespace baton::detail {

/// The password in the file without its line end. Empty if it cannot be read or contains no password: `why` says which,
/// and never shows the contents. `variable` names the file.
[[nodiscard]] std::string read_password_file(const std::string& path, const std::string& variable, std::string& why);

/// The encryption of a connection: null for a plain one.
using credentials_result = std::function<void(const store_error&, std::shared_ptr<resp::encryption>)>;

/// Called by the loop owner. Reads the files on another thread, and puts the password into the address, which must live
/// until the loop owner calls `done`; it does not if the loop is being destroyed.
void load_credentials(event_loop& loop, redis_address& address, credentials_result done);

}  // namespace baton::detail
