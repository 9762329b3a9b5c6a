// Error texts for failures of TLS: the reason, and what to do. Only files of this folder include this header, because
// it includes OpenSSL.
#pragma once

#include <openssl/ssl.h>

#include <string>
#include <string_view>

namespace baton::detail {

/// OpenSSL's own words for an error.
[[nodiscard]] std::string reason_of(unsigned long error);

/// Why the peer's certificate, which must be valid for `name`, was refused.
[[nodiscard]] std::string describe_verification(X509_STORE_CTX& verification, const std::string& name);

/// Why the connection failed otherwise: `first_bytes` is what the peer sent first.
[[nodiscard]] std::string describe_tls_failure(unsigned long error, bool has_certificate, std::string_view first_bytes);

}  // namespace baton::detail
