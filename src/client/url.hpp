// From an address to a store.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "baton/store.hpp"

namespace baton::detail {

/// BATON_URL, else `local:`.
[[nodiscard]] std::string default_url();

/// Throws `error` with bad_url or unsupported and a message that names the part; never shows a password.
/// Sessions are bound to this process and to the companion, where a store can do that.
[[nodiscard]] std::shared_ptr<store> make_store(std::string_view url, std::optional<pid_t> companion = {});

/// For people: without a password.
[[nodiscard]] std::string shown_url(std::string_view url);

/// Program, process id and host.
[[nodiscard]] std::string default_label();

}  // namespace baton::detail
