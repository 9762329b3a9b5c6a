// TLS between our client and real servers: what is accepted, and the message for each failure.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <string>
#include <vector>

#include "../eventually.hpp"
#include "baton/baton.hpp"
#include "cluster.hpp"
#include "sentinels.hpp"
#include "tls_server.hpp"

namespace baton::redis_tests {
namespace {

using namespace std::chrono_literals;

/// What an acquire over this address throws.
error failure_of(const std::string& url, std::chrono::milliseconds wait = 30s) {
    try {
        client client{url};
        lease lease = client.acquire(exclusive("ledger"), {.wait = wait});
        lease.release();
    } catch (const error& thrown) {
        return thrown;
    }
    return error{{}, "nothing was thrown"};
}

class RedisTls : public testing::Test {
protected:
    void SetUp() override {
        if (!find_server()) GTEST_SKIP() << no_server;
    }
    static void expect_works(const std::string& url) {
        const error thrown = failure_of(url);
        EXPECT_FALSE(thrown.code()) << thrown.what();
    }
    /// Fails at once, for good, and says this and that.
    static void expect_failure(const std::string& url, const std::vector<std::string>& words,
                               std::error_code code = errc::tls_failed) {
        const auto begun = std::chrono::steady_clock::now();
        const error thrown = failure_of(url);
        EXPECT_EQ(thrown.code(), code) << thrown.what();
        for (const std::string& each : words)
            EXPECT_NE(std::string{thrown.what()}.find(each), std::string::npos) << thrown.what();
        EXPECT_LT(std::chrono::steady_clock::now() - begun, 15s);
    }
};

TEST_F(RedisTls, CarriesLocksWithAVerifiedCertificate) {
    const tls_server server;
    expect_works(server.url(server.trusted()));
    client holder{server.url(server.trusted())};
    client waiter{server.url(server.trusted())};
    lease held = holder.acquire(exclusive("ledger"));
    std::promise<std::uint64_t> next;
    waiter.async_acquire(exclusive("ledger"), {},
                         [&next](std::error_code, lease granted) { next.set_value(granted.fence()); });
    ASSERT_TRUE(eventually([&] { return holder.inspect().requests.size() == 2; }));
    const std::uint64_t first = held.fence();
    held.release();
    EXPECT_GT(next.get_future().get(), first);
}

TEST_F(RedisTls, CarriesMessagesOfManyRecords) {
    const tls_server server;
    client client{server.url(server.trusted())};
    std::vector<std::string> names;
    for (int i = 0; i < 1'000; ++i) names.push_back(std::string(500, 'x') + std::to_string(i));
    lease lease = client.acquire(exclusive(names));  // half a megabyte in, and as much out
    EXPECT_TRUE(lease.valid());
    EXPECT_EQ(client.inspect().resources.size(), 1'000U);
}

TEST_F(RedisTls, KnowsAFolderOfAuthoritiesAndTheEnvironment) {
    const tls_server server;
    setenv("BATON_TLS_CA", server.authority().cert().c_str(), 1);
    expect_works(server.url());
    unsetenv("BATON_TLS_CA");
    expect_failure(server.url(), {"not trusted", "tls_ca or BATON_TLS_CA"});
}

TEST_F(RedisTls, ConnectsByAddressWithAServerName) {
    const tls_server server;
    expect_failure(server.url(server.trusted(), "127.0.0.1"),
                   {"not valid for 127.0.0.1 but for localhost", "tls_server_name"});
    expect_works(server.url(server.trusted() + "&tls_server_name=localhost", "127.0.0.1"));
}

TEST_F(RedisTls, AcceptsAnAddressThatTheCertificateNames) {
    const tls_server server{{.hosts = {}, .addresses = {"127.0.0.1"}}};
    expect_works(server.url(server.trusted(), "127.0.0.1"));
    expect_failure(server.url(server.trusted()), {"not valid for localhost but for 127.0.0.1, server"});
}

TEST_F(RedisTls, RefusesAnotherHostsCertificate) {
    const tls_server server{{.hosts = {"db.example", "*.example"}}};
    expect_failure(server.url(server.trusted()), {"not valid for localhost but for db.example, *.example"});
}

TEST_F(RedisTls, TheNameOfACertificateWithoutAlternativeNamesCounts) {
    const tls_server server{{.hosts = {}}};
    expect_failure(server.url(server.trusted()), {"not valid for localhost but for "});
    expect_works(server.url(server.trusted() + "&tls_server_name=server"));
}

TEST_F(RedisTls, RefusesAnExpiredCertificate) {
    const tls_server server{{.valid_from = -7'200s, .valid_until = -3'600s}};
    expect_failure(server.url(server.trusted()), {"expired on", "renew it on the server"});
}

TEST_F(RedisTls, RefusesACertificateOfTheFuture) {
    const tls_server server{{.valid_from = 3'600s, .valid_until = 7'200s}};
    expect_failure(server.url(server.trusted()), {"is valid from", "correct the clock"});
}

TEST_F(RedisTls, RefusesAnAuthorityThatIsNotTrusted) {
    const tls_server server;
    const certificate_authority other{server.path(""), "other"};
    expect_failure(server.url("&tls_ca=" + other.cert()), {"not trusted", "tls_ca"});
    expect_failure(server.url(), {"not trusted", "tls_ca"});
}

TEST_F(RedisTls, PresentsACertificateToAServerThatRequiresOne) {
    const tls_server server{{}, {"--tls-auth-clients", "yes"}};
    expect_failure(server.url(server.trusted()), {"requires a certificate of the client", "tls_cert and tls_key"});
    const certificate_files own = server.authority().sign("worker");
    expect_works(server.url(server.trusted() + "&tls_cert=" + own.cert + "&tls_key=" + own.key));
    const certificate_authority other{server.path(""), "other"};
    const certificate_files foreign = other.sign("stranger");
    expect_failure(server.url(server.trusted() + "&tls_cert=" + foreign.cert + "&tls_key=" + foreign.key),
                   {"does not accept the certificate of tls_cert"});
    expect_failure(server.url(server.trusted() + "&tls_cert=" + own.cert + "&tls_key=" + foreign.key),
                   {"is not that of the certificate"});
}

TEST_F(RedisTls, NamesTheFileThatCannotBeUsed) {
    const tls_server server;
    expect_failure(server.url("&tls_ca=/nowhere/ca.crt"), {"tls_ca: cannot read /nowhere/ca.crt"}, errc::bad_url);
    expect_failure(server.url("&tls_ca=" + server.path("server.key")),
                   {"cannot use the certificates of tls_ca", "server.key"});
    expect_failure("redis://localhost?tls_insecure=on", {"write rediss:// in place of redis://"}, errc::bad_url);
}

TEST_F(RedisTls, SaysThatThePortHasNoTls) {
    const tls_server server;
    const std::string port = std::to_string(server.server().tcp().port);
    const error thrown =
        failure_of("rediss://localhost:" + port + "?pause=off&connect_timeout=300ms" + server.trusted(), 1s);
    EXPECT_EQ(thrown.code(), errc::store_unavailable);
    EXPECT_NE(std::string{thrown.what()}.find("does not reply to the TLS handshake"), std::string::npos)
        << thrown.what();
}

TEST_F(RedisTls, NeedsVersion12) {
    const tls_server newer{{}, {"--tls-protocols", "TLSv1.2"}};
    expect_works(newer.url(newer.trusted()));
    const tls_server old{{}, {"--tls-protocols", "TLSv1.1", "--tls-ciphers", "DEFAULT:@SECLEVEL=0"}};
    expect_failure(old.url(old.trusted()), {"TLS 1.2"});
}

/// Sentinels and the primary with TLS; both name addresses and no host names.
TEST_F(RedisTls, CarriesTheSearchBySentinels) {
    const tls_server server{{.hosts = {}, .addresses = {"127.0.0.1"}}};
    const certificate_files own = server.authority().sign("sentinel", {.hosts = {}, .addresses = {"127.0.0.1"}});
    endpoint at{std::uint16_t{0}};
    close(listen_at(at));  // a free port
    const private_sentinel sentinel{
        server.server().tls(),
        {"tls-port " + std::to_string(at.port), "tls-replication yes", "tls-auth-clients no",
         "tls-cert-file " + own.cert, "tls-key-file " + own.key, "tls-ca-cert-file " + server.authority().cert()}};
    const std::string url = "rediss+sentinel://127.0.0.1:" + std::to_string(at.port) + "/mymaster?pause=off";
    expect_works(url + server.trusted());
    expect_failure(url, {"not trusted", "tls_ca"});
}

TEST_F(RedisTls, ALeaseOutlivesItsConnection) {
    tls_server server;
    client client{server.url(server.trusted())};
    lease lease = client.acquire(exclusive("ledger"));
    for (int i = 0; i < 3; ++i) {
        static_cast<void>(server.server().ask({"CLIENT", "KILL", "TYPE", "pubsub"}));
        ASSERT_TRUE(eventually([&] {
            try {
                return client.inspect().resources.size() == 1;
            } catch (const error&) {
                return false;  // the connection has just been closed
            }
        }));
    }
    EXPECT_TRUE(lease.valid());
    lease.release();
}

/// Each program warns once, however many connections it makes.
TEST_F(RedisTls, WarnsOnceWithoutVerification) {
    const tls_server server;
    testing::internal::CaptureStderr();
    expect_works(server.url("&tls_insecure=on"));
    expect_works(server.url("&tls_insecure=on"));
    const std::string said = testing::internal::GetCapturedStderr();
    const std::string warning = "tls_insecure is on";
    const std::size_t first = said.find(warning);
    EXPECT_NE(first, std::string::npos) << said;
    EXPECT_EQ(said.find(warning, first + 1), std::string::npos) << said;
}

TEST_F(RedisTls, EachNodeOfAClusterIsVerified) {
    const folder place;
    const certificate_authority authority{place.path(), "authority"};
    const certificate_files own = authority.sign("server", {.addresses = {"127.0.0.1"}});
    const private_cluster cluster{{.replicas = 0,
                                   .settings = {"--tls-cert-file", own.cert, "--tls-key-file", own.key,
                                                "--tls-ca-cert-file", authority.cert(), "--tls-auth-clients", "no"},
                                   .tls = true}};
    const std::size_t other = (cluster.primary_of("default") + 1) % 3;
    const std::string options = "?pause=off&connect_timeout=5s";
    expect_works(cluster.url(options + "&tls_ca=" + authority.cert(), {other}));
    expect_failure(cluster.url(options, {other}), {"signed by an authority that is not trusted here"});
}

}  // namespace
}  // namespace baton::redis_tests
