#include "stores/tls/tls_error.hpp"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>

#include "baton/printable.hpp"

namespace baton::detail {
namespace {

constexpr std::string_view alert_prefix = "the server refuses the TLS connection: ";

[[nodiscard]] std::string time_text(const ASN1_TIME* time) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out{BIO_new(BIO_s_mem()), &BIO_free};
    if (!out || time == nullptr || ASN1_TIME_print(out.get(), time) != 1) return "an unknown time";
    std::array<char, 64> text{};
    const int size = BIO_read(out.get(), text.data(), static_cast<int>(text.size()));
    return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

[[nodiscard]] std::string_view bytes_of(const ASN1_STRING* text) {
    if (text == nullptr) return {};
    const auto* const bytes = static_cast<const char*>(static_cast<const void*>(ASN1_STRING_get0_data(text)));
    return {bytes, static_cast<std::size_t>(ASN1_STRING_length(text))};
}

/// An address of 4 or 16 bytes.
[[nodiscard]] std::string address_text(std::string_view bytes) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6;
    if (family == AF_INET6 && bytes.size() != sizeof(in6_addr)) return {};
    return inet_ntop(family, bytes.data(), text.data(), text.size()) != nullptr ? text.data() : "";
}

/// It counts as a host name where the certificate has no alternative names for hosts.
[[nodiscard]] std::string common_name_of(X509* certificate) {
    const X509_NAME* const subject = X509_get_subject_name(certificate);
    const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    return at < 0 ? "" : printable(bytes_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
}

/// The host names and addresses of a certificate, for the message that none of them is the right one.
[[nodiscard]] std::string names_of(X509* certificate) {
    constexpr std::size_t most = 5;
    std::string text;
    std::size_t count = 0;
    bool has_host = false;
    auto* const names =
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
    for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
        const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names, i);
        std::string shown;
        if (name->type == GEN_DNS) shown = printable(bytes_of(name->d.dNSName));
        if (name->type == GEN_IPADD) shown = address_text(bytes_of(name->d.iPAddress));
        has_host = has_host || name->type == GEN_DNS;
        if (shown.empty() || ++count > most) continue;
        text += (text.empty() ? "" : ", ") + shown;
    }
    GENERAL_NAMES_free(names);
    const std::string common = has_host ? "" : common_name_of(certificate);
    if (!common.empty()) text += (text.empty() ? "" : ", ") + common;
    return text.empty() ? "no host name" : text;
}

[[nodiscard]] bool is_alert(unsigned long error) {
    const int reason = ERR_GET_REASON(error);
    return ERR_GET_LIB(error) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256;
}

[[nodiscard]] std::string describe_alert(unsigned long error, bool has_certificate) {
    const std::string words = std::string{alert_prefix} + reason_of(error);
    switch (ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET) {
        case SSL_AD_CERTIFICATE_REQUIRED:
        case SSL_AD_HANDSHAKE_FAILURE:
        case SSL_AD_NO_CERTIFICATE:
            return words + (has_certificate ? "; the certificate of tls_cert may be the wrong one"
                                            : "; it requires a certificate of the client: give one with tls_cert and "
                                              "tls_key, or set tls-auth-clients on the server to optional");
        case SSL_AD_UNKNOWN_CA:
        case SSL_AD_BAD_CERTIFICATE:
        case SSL_AD_CERTIFICATE_EXPIRED:
        case SSL_AD_CERTIFICATE_UNKNOWN: return words + "; the server does not accept the certificate of tls_cert";
        case SSL_AD_PROTOCOL_VERSION: return words + "; Baton needs TLS 1.2 or newer";
        default: return words;
    }
}

}  // namespace

std::string reason_of(unsigned long error) {
    if (error == 0) return "the server closed the connection";
    if (ERR_GET_LIB(error) == ERR_LIB_SYS) {
        std::array<char, 256> text{};
        ERR_error_string_n(error, text.data(), text.size());
        const std::string_view words = text.data();  // error:8000…:system library::No such file or directory
        return std::string{words.substr(words.rfind(':') + 1)};
    }
    const char* const reason = ERR_reason_error_string(error);
    return reason != nullptr ? reason : "error " + std::to_string(error);
}

std::string describe_verification(X509_STORE_CTX& verification, const std::string& name) {
    X509* const certificate = X509_STORE_CTX_get_current_cert(&verification);
    const int result = X509_STORE_CTX_get_error(&verification);
    const std::string words = X509_verify_cert_error_string(result);
    switch (result) {
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return "the server's certificate is not valid for " + printable(name) + " but for " +
                   names_of(certificate) +
                   "; connect by such a name, or give it with tls_server_name if the server is the right one";
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return (X509_STORE_CTX_get_error_depth(&verification) == 0 ? "the server's certificate expired on "
                                                                       : "an authority's certificate expired on ") +
                   time_text(X509_get0_notAfter(certificate)) +
                   "; renew it on the server, or correct the clock of this machine";
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return "the server's certificate is valid from " + time_text(X509_get0_notBefore(certificate)) +
                   " only; correct the clock of this machine, or that of the machine that made the certificate";
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return "the server's certificate is signed by an authority that is not trusted here (" + words +
                   "); name the file with the authority's certificate by tls_ca or BATON_TLS_CA";
        default: return "the server's certificate cannot be verified: " + words;
    }
}

std::string describe_tls_failure(unsigned long error, bool has_certificate, std::string_view first_bytes) {
    if (is_alert(error)) return describe_alert(error, has_certificate);
    // A TLS record begins with its type, 20 to 23, and the major version 3.
    const bool is_record =
        first_bytes.size() >= 2 && first_bytes[0] >= 20 && first_bytes[0] <= 23 && first_bytes[1] == 3;
    if (!first_bytes.empty() && !is_record) {
        const std::string_view line = first_bytes.substr(0, first_bytes.find_first_of("\r\n"));
        return "the server does not speak TLS on this port (it says: " + printable(line) +
               "); use redis://, or the server's TLS port";
    }
    return "TLS failed: " + reason_of(error);
}

}  // namespace baton::detail
