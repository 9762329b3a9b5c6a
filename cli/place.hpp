// Where the engine is: the address and the space in it, from the options, else the environment.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "baton/client.hpp"
#include "protocol/run_tree.hpp"
#include "stores/resp/descriptor.hpp"

namespace baton::cli {

struct place {
    std::string url;
    std::string space;  // empty: the address's own

    friend bool operator==(const place&, const place&) = default;
};

/// What was not given on the command line comes from BATON_URL and BATON_SPACE. Throws `failure` (usage).
[[nodiscard]] place make_place(std::string url, std::string space);

/// The address that names the space as well.
[[nodiscard]] std::string address_of(const place& place);

/// The engine there is silent. Throws `failure` (unreachable).
[[noreturn]] void no_answer(const place& place);

/// The pidfd of a second process that sessions are bound to. Not open: there is none of it to be had.
using companion = std::shared_ptr<const resp::descriptor>;

/// Every verb gets its client here. The tree is of processes that an agent is to kill when this one and its companion
/// are gone. They throw `failure`.
[[nodiscard]] std::shared_ptr<store> open_store(const place& place, companion companion = {},
                                                const run_tree& tree = {});
[[nodiscard]] client open_client(std::shared_ptr<store> store, const client_options& options = {});
[[nodiscard]] client open_client(const place& place);

/// What makes the stores; tests put something in between.
using store_maker =
    std::function<std::shared_ptr<store>(std::string_view address, companion companion, const run_tree& tree)>;
[[nodiscard]] store_maker& store_maker_used();

}  // namespace baton::cli
