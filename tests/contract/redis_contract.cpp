// redis:// keeps the contract, on the server that BATON_REDIS_SERVER names, else on Debian's Redis. A space each.
#include "../redis/private_server.hpp"
#include "baton/contract/suite.hpp"

namespace {

std::string served_url() {
    static const baton::redis_tests::private_server server;
    return server.url();
}

const bool added = baton::contract::add({
    .name = "redis",
    .fresh_space =
        [] {
            // A server that has just begun may have lost something: a space on it would begin with a pause.
            const std::string url = served_url() + "?pause=off&space=" + baton::contract::fresh_name();
            return [url] { return baton::make_store(url); };
        },
});

}  // namespace
