// From an address to a store.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "baton/store.hpp"
#include "protocol/run_tree.hpp"
#include "stores/resp/descriptor.hpp"

namespace baton::detail {

/// BATON_URL, else `local:`.
[[nodiscard]] std::string default_url();

/// Throws `error` with bad_url or unsupported and a message that names the part; never shows a password.
/// Sessions are bound to this process and to a companion, and have a tree, where a store can do that: see
/// local_options.
[[nodiscard]] std::shared_ptr<store> make_store(std::string_view url,
                                                std::shared_ptr<const resp::descriptor> companion = {},
                                                const run_tree& tree = {});

/// For people: without a password.
[[nodiscard]] std::string shown_url(std::string_view url);

/// Program, process id and host.
[[nodiscard]] std::string default_label();

}  // namespace baton::detail
