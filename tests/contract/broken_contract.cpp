// The contract suite on a store that BATON_FAULT breaks: see faults.cpp, and broken_test.sh.
#include <stdlib.h>

#include "baton/contract/suite.hpp"
#include "broken_store.hpp"

namespace {

std::string fault() {
    const char* name = getenv("BATON_FAULT");
    return name == nullptr ? "none" : name;
}

const bool added = baton::contract::add({
    .name = "broken",
    .fresh_space =
        [] {
            const auto store = baton::broken::store_with(fault() == "does_more" ? "none" : fault(),
                                                         baton::make_store("memory:" + baton::contract::fresh_name()));
            return [store] { return store; };
        },
    // The fault `does_more` is in the description: it denies a feature of the store.
    .can = {.shared = fault() != "does_more", .inspect = fault() != "does_more"},
    .timeout = std::chrono::milliseconds{fault() == "none" ? 20'000 : 3'000},
});

}  // namespace
