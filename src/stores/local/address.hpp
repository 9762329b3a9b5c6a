// Where an agent is: the user's own, at an address that follows from the uid alone, or one at a socket file.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace baton::detail {

struct local_address {
    std::string path;  // canonical; empty: the user's own
    std::string space = "default";

    [[nodiscard]] bool is_own() const { return path.empty(); }
    /// Without the space.
    [[nodiscard]] std::string url() const { return "local:" + path; }
    /// The canonical address: two that are equal mean the same space of the same agent, for one user.
    [[nodiscard]] std::string with_space() const { return url() + (space == "default" ? "" : "?space=" + space); }
};

/// What follows `local:`, as in `PATH?space=NAME`. Throws `error` with bad_url.
[[nodiscard]] local_address parse_local_address(std::string_view text);

/// A connected socket that does not block and is closed by exec, or -1. The server of the user's own address must be
/// the user; that of a socket file the user, root, or the owner of the folder. Otherwise the error is not_permitted,
/// and `why` names the process.
[[nodiscard]] int dial_local(const local_address& address, std::error_code& error, std::string& why);

/// The process that listens there, by the kernel's word. The user is whose own address is meant, where it has no path.
[[nodiscard]] std::optional<pid_t> listener_at(const local_address& address, uid_t user, std::error_code& error);

/// A socket that listens, or -1: address_in_use if another process does. A socket file is replaced if no process
/// answers there; the caller has made sure that no other agent is about to do the same.
[[nodiscard]] int listen_local(const local_address& address, mode_t mode, std::error_code& error);

}  // namespace baton::detail
