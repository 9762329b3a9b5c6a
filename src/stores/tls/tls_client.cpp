#include "stores/tls/tls_client.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <mutex>
#include <utility>

#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "stores/tls/tls_error.hpp"

namespace baton::detail {
namespace {

template <auto Free> struct freed_by {
    template <typename T> void operator()(T* object) const { Free(object); }
};
using context_ptr = std::unique_ptr<SSL_CTX, freed_by<&SSL_CTX_free>>;
using ssl_ptr = std::unique_ptr<SSL, freed_by<&SSL_free>>;
using address_ptr = std::unique_ptr<ASN1_OCTET_STRING, freed_by<&ASN1_OCTET_STRING_free>>;

/// The connection reads what the peer sent from one buffer and leaves what it sends in another; no socket is involved.
class tls_encryption final : public resp::encryption {
public:
    tls_encryption(context_ptr context, ssl_ptr ssl, std::string host, bool has_certificate)
        : context_{std::move(context)},
          ssl_{std::move(ssl)},
          host_{std::move(host)},
          has_certificate_{has_certificate} {
        const std::lock_guard lock{mutex_};
        SSL_set_app_data(ssl_.get(), this);
        if (SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE)
            SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, &note_verification);
        advance_handshake();
    }

    store_error decrypt(std::span<const char> bytes, std::string& plain) override {
        const std::lock_guard lock{mutex_};
        if (failure_.code) return failure_;
        if (!took_bytes_) first_bytes_.assign(bytes.data(), std::min(bytes.size(), most_shown));
        took_bytes_ = true;
        ERR_clear_error();
        BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
        if (!established_) advance_handshake();
        while (established_ && !failure_.code) {
            std::array<char, 16U << 10U> buffer;  // one record
            const int size = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
            if (size > 0) {
                plain.append(buffer.data(), static_cast<std::size_t>(size));
            } else {
                note_failure(size);
                break;
            }
        }
        has_output_ = has_output_ || BIO_pending(SSL_get_wbio(ssl_.get())) > 0;
        return failure_;
    }

    void encrypt(std::string& plain, std::string& out) override {
        const std::lock_guard lock{mutex_};
        has_output_ = false;
        std::size_t done = 0;
        while (established_ && done < plain.size()) {
            const auto part = std::min(plain.size() - done, std::size_t{std::numeric_limits<int>::max()});
            const int size = SSL_write(ssl_.get(), plain.data() + done, static_cast<int>(part));
            if (size <= 0) break;  // the next `decrypt` reports why
            done += static_cast<std::size_t>(size);
        }
        plain.erase(0, done);
        BIO* const sent = SSL_get_wbio(ssl_.get());
        const auto pending = static_cast<std::size_t>(BIO_pending(sent));
        const std::size_t before = out.size();
        out.resize(before + pending);
        if (pending > 0) BIO_read(sent, out.data() + before, static_cast<int>(pending));
    }

    bool has_output() const override { return has_output_; }
    bool is_established() const override { return established_; }

    resp::encryption_details details() const override {
        const std::lock_guard lock{mutex_};
        resp::encryption_details found{SSL_get_version(ssl_.get()), SSL_get_cipher_name(ssl_.get()), {}};
        int days = 0;
        int seconds = 0;
        const X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
        if (certificate != nullptr && ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate)) == 1)
            found.certificate_left = std::chrono::hours{24} * days + std::chrono::seconds{seconds};
        return found;
    }

private:
    static constexpr std::size_t most_shown = 64;

    /// The certificate is at hand here only.
    static int note_verification(int accepted, X509_STORE_CTX* verification) {
        if (accepted == 1) return 1;
        auto* const ssl =
            static_cast<SSL*>(X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx()));
        auto& self = *static_cast<tls_encryption*>(SSL_get_app_data(ssl));
        self.failure_ = {errc::tls_failed, describe_verification(*verification, self.host_)};
        return 0;
    }

    void advance_handshake() {
        ERR_clear_error();
        const int result = SSL_do_handshake(ssl_.get());
        if (result == 1)
            established_ = has_output_ = true;
        else
            note_failure(result);
    }

    void note_failure(int result) {
        if (failure_.code) return;
        switch (SSL_get_error(ssl_.get(), result)) {
            case SSL_ERROR_WANT_READ:
            case SSL_ERROR_WANT_WRITE: return;
            case SSL_ERROR_ZERO_RETURN:
                failure_ = {errc::store_unavailable, "the server closed the connection"};
                return;
            default:
                failure_ = {errc::tls_failed,
                            describe_tls_failure(ERR_peek_last_error(), has_certificate_, first_bytes_)};
        }
    }

    mutable std::mutex mutex_;
    const context_ptr context_;
    const ssl_ptr ssl_;
    const std::string host_;
    const bool has_certificate_;
    bool took_bytes_ = false;
    std::string first_bytes_;  // of the peer, for the message if it does not speak TLS
    store_error failure_;
    std::atomic<bool> established_ = false;
    std::atomic<bool> has_output_ = false;
};

[[nodiscard]] tls_client failed(const std::string& what) {
    return {nullptr, {errc::tls_failed, what + ": " + reason_of(ERR_peek_last_error())}};
}

/// Without this function, OpenSSL asks for the passphrase of a protected key on the terminal.
int refuse_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

[[nodiscard]] std::string load_trusted(SSL_CTX& context, const tls_settings& settings) {
    if (settings.ca.empty() && settings.ca_dir.empty())
        return SSL_CTX_set_default_verify_paths(&context) == 1 ? "" : "cannot read the system's certificates";
    if (!settings.ca.empty() && SSL_CTX_load_verify_file(&context, settings.ca.c_str()) != 1)
        return "cannot use the certificates of tls_ca, " + printable(settings.ca);
    if (!settings.ca_dir.empty() && SSL_CTX_load_verify_dir(&context, settings.ca_dir.c_str()) != 1)
        return "cannot use the certificates of tls_ca_dir, " + printable(settings.ca_dir);
    return {};
}

[[nodiscard]] std::string load_own(SSL_CTX& context, const tls_settings& settings) {
    if (settings.cert.empty()) return {};
    const std::string& key = settings.key.empty() ? settings.cert : settings.key;
    if (SSL_CTX_use_certificate_chain_file(&context, settings.cert.c_str()) != 1)
        return "cannot use the certificate of tls_cert, " + printable(settings.cert);
    if (SSL_CTX_use_PrivateKey_file(&context, key.c_str(), SSL_FILETYPE_PEM) == 1) return {};
    if (ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH)
        return "the key " + printable(key) + " is not that of the certificate " + printable(settings.cert);
    return "cannot use the key of tls_key, " + printable(key) + " (a key with a passphrase is not supported)";
}

/// The server's certificate must be valid for `name`, a host name or an address.
[[nodiscard]] bool expect_name(SSL& ssl, const std::string& name) {
    const address_ptr address{a2i_IPADDRESS(name.c_str())};
    if (address) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(&ssl), name.c_str()) == 1;
    SSL_set_hostflags(&ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    // The macro for this call, SSL_set_tlsext_host_name, has a cast that our warnings forbid.
    return SSL_set1_host(&ssl, name.c_str()) == 1 &&
           SSL_ctrl(&ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(name.c_str())) ==
               1;
}

void warn_once() {
    static std::atomic<bool> warned{false};
    if (warned.exchange(true)) return;
    std::fputs(
        "baton: warning: tls_insecure is on: the server's certificate is not verified, so an attacker on the network "
        "can "
        "read the password and pose as the server\n",
        stderr);
}

}  // namespace

bool has_tls() { return true; }

tls_client make_tls_client(const tls_settings& settings, const std::string& host) {
    // Without OpenSSL's handler at exit: it would run before static clients of the program are closed.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
    ERR_clear_error();
    context_ptr context{SSL_CTX_new(TLS_client_method())};
    if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1)
        return failed("cannot initialize TLS");
    SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_default_passwd_cb(context.get(), &refuse_passphrase);
    if (settings.insecure) {
        warn_once();
        SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
    } else {
        SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
        if (const std::string why = load_trusted(*context, settings); !why.empty()) return failed(why);
    }
    if (const std::string why = load_own(*context, settings); !why.empty()) return failed(why);

    ssl_ptr ssl{SSL_new(context.get())};
    BIO* const received = BIO_new(BIO_s_mem());
    BIO* const sent = BIO_new(BIO_s_mem());
    if (!ssl || received == nullptr || sent == nullptr) {
        BIO_free(received);
        BIO_free(sent);
        return failed("cannot initialize TLS");
    }
    SSL_set_bio(ssl.get(), received, sent);
    SSL_set_connect_state(ssl.get());
    const std::string& name = settings.server_name.empty() ? host : settings.server_name;
    if (!expect_name(*ssl, name)) return failed("cannot verify certificates for " + printable(name));
    return {std::make_unique<tls_encryption>(std::move(context), std::move(ssl), name, !settings.cert.empty())};
}

}  // namespace baton::detail
