// The interface between a stream and TLS: bytes in, bytes out, no socket. A stream without it sends and receives plain
// bytes. Its only implementation is in src/stores/tls, so that no other folder includes OpenSSL.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "baton/store.hpp"

namespace baton::resp {

/// The result of the handshake, for people.
struct encryption_details {
    std::string protocol;
    std::string cipher;
    std::chrono::seconds certificate_left{};  // until the peer's certificate expires; negative: it has expired
};

/// One side of an encrypted connection. One thread at a time calls `decrypt`, and one at a time `encrypt`; both may run
/// at the same time.
class encryption {
public:
    virtual ~encryption() = default;

    /// Decrypts bytes of the peer and appends the result to `plain`. Returns an error if the peer cannot be trusted or
    /// does not speak TLS; then the connection must be closed.
    [[nodiscard]] virtual store_error decrypt(std::span<const char> bytes, std::string& plain) = 0;
    /// Moves the bytes of `plain` to `out`, encrypted. Before the TLS handshake is complete they stay in `plain`. Also
    /// appends the messages of the handshake itself.
    virtual void encrypt(std::string& plain, std::string& out) = 0;
    /// `decrypt` has produced bytes for the peer, or completed the handshake: call `encrypt`.
    [[nodiscard]] virtual bool has_output() const = 0;
    [[nodiscard]] virtual bool is_established() const = 0;
    /// Call it after the handshake.
    [[nodiscard]] virtual encryption_details details() const = 0;
};

}  // namespace baton::resp
