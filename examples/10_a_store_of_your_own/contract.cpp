// Runs the contract suite on the turnstile, with the capabilities that it has.
#include <baton/contract/suite.hpp>

#include "turnstile.hpp"

const bool added = baton::contract::add({
    .name = "turnstile",
    .fresh_space =
        [] {
            const auto store = std::make_shared<turnstile>();
            return [store] { return store; };
        },
    .can = {.shared = false,
            .permits = false,
            .several_names = false,
            .kept_positions = false,
            .slots = false,
            .abandoned_marks = false,
            .hold_limit = false,
            .queue_bound = false,
            .revoke = false,
            .resize = false,
            .inspect = false,
            .pause = false},
});
