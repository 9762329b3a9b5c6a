// redis+cluster:// keeps the contract: the same suite as redis_contract, on a cluster of six nodes. Each case has its
// own space, so the cases spread over the nodes.
#include "../redis/cluster.hpp"
#include "baton/contract/suite.hpp"

namespace {

const bool added = baton::contract::add({
    .name = "cluster",
    .fresh_space =
        [] {
            static const baton::redis_tests::private_cluster cluster;
            const std::string url = cluster.url("?pause=off&space=" + baton::contract::fresh_name());
            return [url] { return baton::make_store(url); };
        },
});

}  // namespace
