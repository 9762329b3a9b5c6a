#include "certificates.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace baton::redis_tests {
namespace {

template <auto Free> struct freed_by {
    template <typename T> void operator()(T* object) const { Free(object); }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<&EVP_PKEY_free>>;
using cert_ptr = std::unique_ptr<X509, freed_by<&X509_free>>;
using file_ptr = std::unique_ptr<std::FILE, freed_by<&std::fclose>>;

void require(bool done, const std::string& what) {
    if (!done) throw std::runtime_error{"cannot make a certificate: " + what};
}

file_ptr open(const std::string& path, const char* mode) {
    file_ptr file{std::fopen(path.c_str(), mode)};
    require(file != nullptr, path);
    return file;
}

void write(const certificate_files& files, X509* cert, EVP_PKEY* key) {
    // Each file is replaced as a whole: a client may read it at the same time.
    require(PEM_write_PrivateKey(open(files.key + ".new", "w").get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
            files.key);
    require(PEM_write_X509(open(files.cert + ".new", "w").get(), cert) == 1, files.cert);
    std::filesystem::rename(files.key + ".new", files.key);
    std::filesystem::rename(files.cert + ".new", files.cert);
}

void add_extension(X509* cert, int kind, const std::string& value) {
    const std::unique_ptr<X509_EXTENSION, freed_by<&X509_EXTENSION_free>> extension{
        X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str())};
    require(extension != nullptr && X509_add_ext(cert, extension.get(), -1) == 1, value);
}

cert_ptr unsigned_certificate(const std::string& name, EVP_PKEY* key, const certificate_terms& terms) {
    static long serial = 0;
    cert_ptr cert{X509_new()};
    X509_set_version(cert.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(cert.get()), terms.valid_from.count());
    X509_gmtime_adj(X509_getm_notAfter(cert.get()), terms.valid_until.count());
    X509_set_pubkey(cert.get(), key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    return cert;
}

}  // namespace

certificate_authority::certificate_authority(std::string folder, const std::string& name)
    : folder_{std::move(folder)}, files_{folder_ + "/" + name + ".crt", folder_ + "/" + name + ".key"} {
    const key_ptr key{EVP_EC_gen("P-256")};
    const cert_ptr cert = unsigned_certificate(name, key.get(), {});
    X509_set_issuer_name(cert.get(), X509_get_subject_name(cert.get()));
    add_extension(cert.get(), NID_basic_constraints, "critical,CA:TRUE");
    require(X509_sign(cert.get(), key.get(), EVP_sha256()) > 0, name);
    write(files_, cert.get(), key.get());
}

certificate_files certificate_authority::sign(const std::string& name, const certificate_terms& terms) const {
    const key_ptr own_key{PEM_read_PrivateKey(open(files_.key, "r").get(), nullptr, nullptr, nullptr)};
    const cert_ptr own{PEM_read_X509(open(files_.cert, "r").get(), nullptr, nullptr, nullptr)};
    const key_ptr key{EVP_EC_gen("P-256")};
    const cert_ptr cert = unsigned_certificate(name, key.get(), terms);
    X509_set_issuer_name(cert.get(), X509_get_subject_name(own.get()));
    std::string names;
    for (const std::string& host : terms.hosts) names += (names.empty() ? "DNS:" : ",DNS:") + host;
    for (const std::string& address : terms.addresses) names += (names.empty() ? "IP:" : ",IP:") + address;
    if (!names.empty()) add_extension(cert.get(), NID_subject_alt_name, names);
    require(X509_sign(cert.get(), own_key.get(), EVP_sha256()) > 0, name);
    const certificate_files files{folder_ + "/" + name + ".crt", folder_ + "/" + name + ".key"};
    write(files, cert.get(), key.get());
    return files;
}

}  // namespace baton::redis_tests
