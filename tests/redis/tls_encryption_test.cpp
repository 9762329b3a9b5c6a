// The client's side of TLS without a socket, against OpenSSL's server: however the bytes are cut, the same comes out.
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <memory>
#include <string>

#include "../folder.hpp"
#include "baton/error.hpp"
#include "certificates.hpp"
#include "stores/tls/tls_client.hpp"

namespace baton::redis_tests {
namespace {

/// A server that returns what it reads, in memory.
class echo_server {
public:
    explicit echo_server(const certificate_files& files) : context_{SSL_CTX_new(TLS_server_method()), &SSL_CTX_free} {
        SSL_CTX_use_certificate_chain_file(context_.get(), files.cert.c_str());
        SSL_CTX_use_PrivateKey_file(context_.get(), files.key.c_str(), SSL_FILETYPE_PEM);
        ssl_.reset(SSL_new(context_.get()));
        SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        SSL_set_accept_state(ssl_.get());
    }

    /// Takes bytes of the client and returns those for it.
    std::string take(const std::string& bytes) {
        BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
        if (SSL_do_handshake(ssl_.get()) == 1) {
            std::string buffer(64U << 10U, '\0');
            for (;;) {
                const int size = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
                if (size <= 0) break;
                SSL_write(ssl_.get(), buffer.data(), size);
            }
        }
        std::string out(static_cast<std::size_t>(BIO_pending(SSL_get_wbio(ssl_.get()))), '\0');
        if (!out.empty()) BIO_read(SSL_get_wbio(ssl_.get()), out.data(), static_cast<int>(out.size()));
        return out;
    }

private:
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
    std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, &SSL_free};
};

class TlsEncryption : public testing::Test {
protected:
    void begin() {
        detail::tls_client made = detail::make_tls_client({.enabled = true, .ca = authority_.cert()}, "localhost");
        ASSERT_FALSE(made.error.code) << made.error.text;
        client_ = std::move(made.encryption);
    }
    /// Sends `plain`, in pieces of at most `piece` bytes in both directions, until nothing moves any more.
    std::string echoed(std::string plain, std::size_t piece) {
        std::string heard;
        do {
            std::string out;
            client_->encrypt(plain, out);
            for (std::size_t at = 0; at < out.size(); at += piece) {
                const std::string back = server_.take(out.substr(at, piece));
                for (std::size_t from = 0; from < back.size(); from += piece) {
                    const std::string part = back.substr(from, piece);
                    const store_error failed = client_->decrypt(part, heard);
                    EXPECT_FALSE(failed.code) << failed.text;
                }
            }
        } while (client_->has_output());
        EXPECT_TRUE(plain.empty());
        return heard;
    }

    folder place_;
    certificate_authority authority_{place_.path(), "authority"};
    echo_server server_{authority_.sign("server")};
    std::unique_ptr<resp::encryption> client_;
};

TEST_F(TlsEncryption, KeepsBytesUntilTheHandshakeIsComplete) {
    begin();
    std::string plain = "PING";
    std::string out;
    client_->encrypt(plain, out);
    EXPECT_FALSE(client_->is_established());
    EXPECT_EQ(plain, "PING");
    EXPECT_EQ(out.find("PING"), std::string::npos);
    EXPECT_FALSE(out.empty()) << "the first message of the handshake";
}

TEST_F(TlsEncryption, CarriesTheSameBytesHoweverTheyAreCut) {
    std::string text;
    for (int i = 0; i < 5'000; ++i) text += std::to_string(i) + ",";  // more than one record
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1'000}, std::size_t{1} << 20U}) {
        server_ = echo_server{authority_.sign("server")};
        begin();
        EXPECT_EQ(echoed(text, piece), text) << piece;
        EXPECT_TRUE(client_->is_established());
        EXPECT_EQ(echoed("again", piece), "again");
    }
}

TEST_F(TlsEncryption, RefusesChangedBytes) {
    begin();
    EXPECT_EQ(echoed("first", 1'000), "first");
    std::string plain = "second";
    std::string out;
    client_->encrypt(plain, out);
    std::string back = server_.take(out);
    ASSERT_FALSE(back.empty());
    back.back() = static_cast<char>(back.back() ^ 1);
    std::string heard;
    EXPECT_EQ(client_->decrypt(back, heard).code, errc::tls_failed);
    EXPECT_EQ(heard, "");
    EXPECT_EQ(client_->decrypt(back, heard).code, errc::tls_failed) << "it is of no use any more";
}

TEST_F(TlsEncryption, QuotesAPeerThatDoesNotSpeakTls) {
    begin();
    std::string plain;
    const store_error failed = client_->decrypt(std::string_view{"HTTP/1.1 400 Bad Request\r\n\r\n"}, plain);
    EXPECT_EQ(failed.code, errc::tls_failed);
    EXPECT_NE(failed.text.find("does not speak TLS on this port (it says: HTTP/1.1 400 Bad Request)"),
              std::string::npos)
        << failed.text;
}

}  // namespace
}  // namespace baton::redis_tests
