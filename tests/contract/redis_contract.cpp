// redis:// passes the contract suite, on the server in BATON_REDIS_SERVER, else on Debian's Redis. Each case has its
// own space.
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
            // A server that has just started may have lost data: a space on it would begin with a pause.
            const std::string url = served_url() + "?pause=off&space=" + baton::contract::fresh_name();
            return [url] { return baton::make_store(url); };
        },
});

}  // namespace
