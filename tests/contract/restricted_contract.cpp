// The suite on stores with fewer capabilities: it skips the cases of the missing ones, expects `unsupported` for them,
// and the other cases pass.
#include "baton/contract/suite.hpp"
#include "broken_store.hpp"

namespace {

baton::contract::description restricted(const std::string& name, const baton::contract::capabilities& can) {
    return {.name = name,
            .fresh_space =
                [name] {
                    const auto store = baton::broken::store_with(
                        "only_" + name, baton::make_store("memory:" + baton::contract::fresh_name()));
                    return [store] { return store; };
                },
            .can = can};
}

const bool mutex = baton::contract::add(restricted("mutex", {.shared = false,
                                                             .permits = false,
                                                             .several_permits = false,
                                                             .several_names = false,
                                                             .strict_order = false,
                                                             .growing_fences = false,
                                                             .slots = false,
                                                             .abandoned_marks = false,
                                                             .hold_limit = false,
                                                             .nowait = false,
                                                             .queue_bound = false,
                                                             .revoke = false,
                                                             .resize = false,
                                                             .inspect = false,
                                                             .pause = false}));
const bool semaphore = baton::contract::add(restricted("semaphore", {.shared = false,
                                                                     .several_names = false,
                                                                     .abandoned_marks = false,
                                                                     .revoke = false,
                                                                     .resize = false,
                                                                     .inspect = false,
                                                                     .pause = false}));

}  // namespace
