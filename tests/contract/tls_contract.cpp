// rediss:// keeps the contract: the same suite as redis_contract, over TLS with a client's certificate.
#include "../redis/tls_server.hpp"
#include "baton/contract/suite.hpp"

namespace {

std::string served_url() {
    static const baton::redis_tests::tls_server server{{}, {"--tls-auth-clients", "yes"}};
    static const auto own = server.authority().sign("client");
    return server.url(server.trusted() + "&tls_cert=" + own.cert + "&tls_key=" + own.key);
}

const bool added = baton::contract::add({
    .name = "tls",
    .fresh_space =
        [] {
            const std::string url = served_url() + "&space=" + baton::contract::fresh_name();
            return [url] { return baton::make_store(url); };
        },
});

}  // namespace
