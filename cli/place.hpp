// Where the engine is: the address and the space in it, from the options, else the environment.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "baton/client.hpp"
#include "program/stand_in.hpp"
#include "program/store_url.hpp"

namespace baton::cli {

struct place {
    std::string url;    // in canonical form
    std::string space;  // empty: the address's own

    friend bool operator==(const place&, const place&) = default;
};

/// What was not given on the command line comes from BATON_URL and BATON_SPACE. Throws `failure` (usage, or
/// configuration for an address that is not understood).
[[nodiscard]] place make_place(std::string url, std::string space);

/// The address that names the space as well.
[[nodiscard]] std::string address_of(const place& place);
/// The same for people and for comparisons: one text for one place, without credentials.
[[nodiscard]] std::string shown(const place& place);

/// Which agent `local:` means here, for people: each user and each network namespace has one of its own. Empty for
/// addresses that name their place.
[[nodiscard]] std::string agent_meant(const place& place);

/// The engine there is silent. Throws `failure` (unreachable).
[[noreturn]] void fail_unreachable(const place& place, const std::string& reason);

/// Every verb gets its client here. The options are those of `local:`; other stores have no use for them. These throw
/// `failure`.
[[nodiscard]] std::shared_ptr<store> open_store(const place& place, detail::local_options options = {});
[[nodiscard]] client open_client(std::shared_ptr<store> store, const client_options& options = {},
                                 std::shared_ptr<detail::stand_in> stand_in = nullptr);
[[nodiscard]] client open_client(const place& place);
/// For verbs that only look: it starts no agent. Where none runs, its calls fail with errc::no_agent.
[[nodiscard]] client open_looking_client(const place& place);

/// What makes the stores; tests put something in between.
using store_maker = std::function<std::shared_ptr<store>(std::string_view address, detail::local_options options)>;
[[nodiscard]] store_maker& store_maker_used();

}  // namespace baton::cli
