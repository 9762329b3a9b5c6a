// A Redis or Valkey server with TLS, its authority, and a client's certificate.
#pragma once

#include <string>
#include <vector>

#include "../folder.hpp"
#include "certificates.hpp"
#include "private_server.hpp"

namespace baton::redis_tests {

class tls_server {
public:
    /// `settings` follow those that name the certificates.
    explicit tls_server(const certificate_terms& terms = {}, const std::vector<std::string>& settings = {})
        : own_{authority_.sign("server", terms)}, server_{{.tcp = true, .tls = true, .settings = with(settings)}} {}

    [[nodiscard]] const private_server& server() const { return server_; }
    [[nodiscard]] const certificate_authority& authority() const { return authority_; }
    [[nodiscard]] std::string path(const std::string& name) const { return place_.path(name); }

    /// Of the TLS port. `options` begin with &. The space begins without a pause, although the server is new.
    [[nodiscard]] std::string url(const std::string& options = {}, const std::string& host = "localhost") const {
        return "rediss://" + host + ":" + std::to_string(server_.tls().port) + "?pause=off" + options;
    }
    [[nodiscard]] std::string trusted() const { return "&tls_ca=" + authority_.cert(); }

private:
    [[nodiscard]] std::vector<std::string> with(const std::vector<std::string>& settings) const {
        std::vector<std::string> all{"--tls-cert-file",    own_.cert,         "--tls-key-file",     own_.key,
                                     "--tls-ca-cert-file", authority_.cert(), "--tls-auth-clients", "no"};
        all.insert(all.end(), settings.begin(), settings.end());
        return all;
    }

    folder place_;
    certificate_authority authority_{place_.path(), "authority"};
    certificate_files own_;
    private_server server_;
};

}  // namespace baton::redis_tests
