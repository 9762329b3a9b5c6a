// Collects the facts that `baton doctor` judges from a server. Sends only commands that read, or that the server
// refuses before they write.
#pragma once

#include "stores/redis/doctor/facts.hpp"
#include "stores/redis/doctor/probe.hpp"

namespace baton::redis {

/// The commands that the functions and a client call, each with a key or channel of the space.
[[nodiscard]] std::vector<probe::command> needed_commands(const std::string& space, bool in_cluster);

/// `probe` is logged in. Facts that are not known by the deadline say so.
void gather(probe& probe, server_facts& facts, probe::clock::time_point deadline);

// How the replies are read.

[[nodiscard]] field_map read_info(std::string_view text);
[[nodiscard]] field_map read_map(const resp::value& map);
[[nodiscard]] user_facts read_user(const std::string& name, const resp::value& reply);
// Facts about the library and the user, from the replies to `hello` with an argument that it refuses after its check of
// the rights, to `look`, and to FUNCTION LOAD with a text that is no library.
[[nodiscard]] answer<bool> read_has_library(const resp::value& hello, const resp::value& look);
[[nodiscard]] answer<rights_facts> read_rights(const resp::value& hello, const resp::value& look);
[[nodiscard]] answer<bool> read_may_load(const resp::value& reply);
[[nodiscard]] slow_facts read_slow_log(const resp::value& log, std::chrono::seconds now);
[[nodiscard]] std::vector<std::string> read_libraries(const resp::value& list);
/// `fields` of the key `i`, in the order of `space_fields`, and the head.
[[nodiscard]] space_facts read_space(const resp::value& fields, const resp::value& head);
[[nodiscard]] const std::vector<std::string>& space_fields();

/// "the user may not run CONFIG GET", or the server's words.
[[nodiscard]] std::string why_refused(const std::string& command, std::string_view error);

}  // namespace baton::redis
