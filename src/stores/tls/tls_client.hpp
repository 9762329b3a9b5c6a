// The client's side of TLS, by OpenSSL. Each connection loads its certificates again, so that renewed files are used.
#pragma once

#include <memory>
#include <string>

#include "baton/store.hpp"
#include "stores/resp/encryption.hpp"
#include "stores/tls/tls_settings.hpp"

namespace baton::detail {

struct tls_client {
    std::unique_ptr<resp::encryption> encryption;
    store_error error = {};  // why there is none
};

/// Begins a connection to `host`, whose certificate must be valid for this name or address unless the settings name
/// another. Reads files, so it must not run on the event loop. The error names the file that cannot be used.
[[nodiscard]] tls_client make_tls_client(const tls_settings& settings, const std::string& host);

/// This build has TLS (-D BATON_TLS=ON).
[[nodiscard]] bool has_tls();

}  // namespace baton::detail
