// local: passes the contract suite. One agent serves all cases of a run, each with its own space.
#include "../local/agent_process.hpp"
#include "baton/contract/suite.hpp"

namespace {

using namespace baton::local_tests;

std::string served_url() {
    static const workplace place;
    static const agent_process agent{place};
    return place.url();
}

const bool added = baton::contract::add({
    .name = "local",
    .fresh_space =
        [] {
            const std::string url = served_url() + "?space=" + baton::contract::fresh_name();
            return [url] { return baton::make_store(url); };
        },
});

}  // namespace
