// From an address to a store.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "baton/store.hpp"
#include "system/descriptor.hpp"
#include "system/run_tree.hpp"

namespace baton::detail {

/// Of `local:`; other stores ignore them.
struct local_options {
    /// The pidfd of a second process that sessions are bound to: they are gone when both are. If it is not open, there
    /// is such a process and no pidfd of it: then sessions are bound to no process, and the ttl alone counts.
    std::shared_ptr<const descriptor> companion = {};
    /// The processes that the agent is to kill when those that the sessions are bound to are gone. No cookie: none.
    run_tree tree = {};
    /// Starts an agent where there is none.
    bool start = true;
};

/// BATON_URL, else `local:`.
[[nodiscard]] std::string default_url();

/// Throws `error` with bad_url or unsupported and a message that names the part; never shows a password.
[[nodiscard]] std::shared_ptr<store> make_store(std::string_view url, local_options options);

/// The canonical form of an address, for other processes: it means the same whatever their working directory is. It may
/// contain a password. Throws `error` with bad_url.
[[nodiscard]] std::string canonical_url(std::string_view url);

/// For people and for comparisons: the same text for all addresses of one place, without credentials.
[[nodiscard]] std::string shown_url(std::string_view url);

}  // namespace baton::detail
