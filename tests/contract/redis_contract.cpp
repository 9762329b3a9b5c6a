// redis:// keeps the contract. One server serves all cases of a run, a space each.
#include <cstdlib>

#include "baton/contract/suite.hpp"

namespace {

const bool added = baton::contract::add({
    .name = "redis",
    .fresh_space =
        [] {
            const std::string url =
                "unix:" + std::string{std::getenv("BATON_TEST_REDIS")} + "?space=" + baton::contract::fresh_name();
            return [url] { return baton::make_store(url); };
        },
});

}  // namespace
