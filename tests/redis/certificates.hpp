// Certificates for the tests of TLS: an authority of the test's own, and what it signs, as files of PEM.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace baton::redis_tests {

struct certificate_files {
    std::string cert;
    std::string key;
};

struct certificate_terms {
    std::vector<std::string> hosts = {"localhost"};  // DNS names
    std::vector<std::string> addresses = {};         // IP addresses
    std::chrono::seconds valid_from{-3'600};         // from now
    std::chrono::seconds valid_until{3'600};         // from now
};

/// An authority whose own certificate is `<folder>/<name>.crt`.
class certificate_authority {
public:
    certificate_authority(std::string folder, const std::string& name);

    [[nodiscard]] const std::string& cert() const { return files_.cert; }
    /// Signs a certificate and writes it to `<folder>/<name>.crt` and `.key`, over those that are there.
    [[nodiscard]] certificate_files sign(const std::string& name, const certificate_terms& terms = {}) const;

private:
    std::string folder_;
    certificate_files files_;
};

}  // namespace baton::redis_tests
