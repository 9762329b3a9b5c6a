// From an address to a store.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "baton/store.hpp"
#include "stores/local/local_store.hpp"

namespace baton::detail {

/// BATON_URL, else `local:`.
[[nodiscard]] std::string default_url();

/// Throws `error` with bad_url or unsupported and a message that names the part; never shows a password.
/// The options are those of `local:`; other stores have no use for them.
[[nodiscard]] std::shared_ptr<store> make_store(std::string_view url, local_options options = {});

/// The canonical form of an address, for other processes: it means the same whatever their working directory is. It may
/// contain a password. Throws `error` with bad_url.
[[nodiscard]] std::string canonical_url(std::string_view url);

/// For people and for comparisons: the same text for all addresses of one place, without credentials.
[[nodiscard]] std::string shown_url(std::string_view url);

/// Program, process id and host.
[[nodiscard]] std::string default_label();

}  // namespace baton::detail
