// Makes stores from addresses.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "baton/store.hpp"
#include "system/descriptor.hpp"
#include "system/run_tree.hpp"

namespace baton::detail {

/// For `local:`; other stores ignore them.
struct local_options {
    /// The pidfd of a second process that sessions are bound to: they end when both processes have ended. A descriptor
    /// that is not open means a second process without a pidfd: then sessions are bound to no process, only to the ttl.
    std::shared_ptr<const descriptor> companion = {};
    /// The processes that the agent kills when the sessions' processes have ended. No cookie: none.
    run_tree tree = {};
    /// Starts an agent if there is none.
    bool start = true;
};

/// BATON_URL, else `local:`.
[[nodiscard]] std::string default_url();

/// Throws `error` with bad_url or unsupported. The message names the wrong part and never contains a password.
[[nodiscard]] std::shared_ptr<store> make_store(std::string_view url, local_options options);

/// The canonical form of an address, which means the same in every working directory. May contain a password. Throws
/// `error` with bad_url.
[[nodiscard]] std::string canonical_url(std::string_view url);

/// The longest ttl of a session there, if the address names it.
[[nodiscard]] std::optional<std::chrono::milliseconds> longest_ttl(std::string_view url);

/// For messages and comparisons: equal for all addresses of one store and space, without credentials.
[[nodiscard]] std::string shown_url(std::string_view url);

}  // namespace baton::detail
