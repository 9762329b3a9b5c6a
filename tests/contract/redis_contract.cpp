// redis:// keeps the contract, on the server that BATON_TEST_SERVER names, else on Debian's Redis. A space each.
#include <stdexcept>

#include "../redis/private_server.hpp"
#include "baton/contract/suite.hpp"

namespace {

std::string served_url() {
    static const auto program = baton::redis::find_server();
    if (program.empty()) throw std::runtime_error{"no redis-server; the package redis-tools contains one"};
    static const baton::redis::private_server server{program};
    return "unix:" + server.socket();
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
