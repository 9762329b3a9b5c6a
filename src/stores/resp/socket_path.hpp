// Paths of Unix sockets in addresses: `local:PATH` and `unix:PATH`.
#pragma once

#include <string>
#include <string_view>

namespace baton::resp {

/// The canonical path of a socket file: absolute, with symbolic links, `.`, `..` and repeated slashes resolved, so that
/// one file has one path and a later change of the working directory does not change its meaning. Components that do
/// not exist are kept. Where the resolved path is longer than a socket address allows, the links are kept: a link may
/// have been made to shorten it.
[[nodiscard]] std::string socket_path(std::string_view path);

/// Whether a socket can be bound to it: at most 107 bytes.
[[nodiscard]] bool fits_socket(std::string_view path);

}  // namespace baton::resp
