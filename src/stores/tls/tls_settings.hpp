// How a client of Redis uses TLS: what it trusts, and how it identifies itself. Parsed from the address and
// BATON_TLS_*.
#pragma once

#include <string>

namespace baton::detail {

struct tls_settings {
    bool enabled = false;
    std::string ca = {};           // file of trusted certificates; empty, with an empty ca_dir: those of the system
    std::string ca_dir = {};       // folder of trusted certificates, named by `openssl rehash`
    std::string cert = {};         // file of the client's certificate and its chain
    std::string key = {};          // file of the key of `cert`; empty: in the file of the certificate
    std::string server_name = {};  // the name that the server's certificate must have; empty: the host of the address
    bool insecure = false;         // accepts every certificate

    friend bool operator==(const tls_settings&, const tls_settings&) = default;
};

}  // namespace baton::detail
