// memory: passes the contract suite.
#include "baton/contract/suite.hpp"

namespace {

const bool added = baton::contract::add({
    .name = "memory",
    .fresh_space = [] { return [url = "memory:" + baton::contract::fresh_name()] { return baton::make_store(url); }; },
});

}  // namespace
