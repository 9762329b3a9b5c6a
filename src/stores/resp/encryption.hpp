// What a stream needs of TLS: bytes in, bytes out, no socket. A stream without it sends and receives plain bytes.
// Apart from its only implementation (src/stores/tls), so that nothing else includes OpenSSL.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "baton/store.hpp"

namespace baton::resp {

/// What the handshake negotiated, for people.
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

    /// Takes bytes of the peer and appends what they contain to `plain`. The error, if the peer cannot be trusted or
    /// understood; then the connection is of no use.
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
