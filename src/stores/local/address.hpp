// Where an agent is: the user's own, at an address that follows from the uid alone, or one at a socket file.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace baton::detail {

struct local_address {
    std::string path;  // empty: the user's own
    std::string space = "default";

    [[nodiscard]] bool is_own() const { return path.empty(); }
    /// Without the space.
    [[nodiscard]] std::string url() const { return "local:" + path; }
};

/// What follows `local:`, as in `PATH?space=NAME`. Throws `error` with bad_url.
[[nodiscard]] local_address parse_local_address(std::string_view text);

/// A connected socket that does not block and is closed by exec, or -1. The user's own agent must be the user's.
[[nodiscard]] int dial_local(const local_address& address, std::error_code& error);

/// The process that listens there, by the kernel's word. The user is whose own address is meant, where it has no path.
[[nodiscard]] std::optional<pid_t> listener_at(const local_address& address, uid_t user, std::error_code& error);

/// A socket that listens, or -1: address_in_use if somebody else does. A socket file is replaced if nobody answers
/// there; the caller has made sure that nobody else is about to do the same.
[[nodiscard]] int listen_local(const local_address& address, mode_t mode, std::error_code& error);

}  // namespace baton::detail
