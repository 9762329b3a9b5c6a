// Commands as calls of scripts: which script, which keys, which arguments. Pure; docs/redis-keys.md has it in words.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "baton/protocol.hpp"
#include "baton/store.hpp"
#include "stores/redis/scripts.hpp"

namespace baton::redis {

struct script_call {
    redis::script script{};
    std::vector<std::string> keys;
    std::vector<std::string> arguments;
};

/// Where the keys of a space begin; the braces keep them in one hash slot of a cluster.
[[nodiscard]] std::string prefix_of(std::string_view space);

/// A session's id as it stands in keys and channels: 16 bytes.
[[nodiscard]] std::string to_bytes(const protocol::session_id& id);

/// The channel that a session's notices come by, and the one that tells viewers everything.
[[nodiscard]] std::string wake_channel(std::string_view space, const protocol::session_id& id);
[[nodiscard]] std::string events_channel(std::string_view space);

/// What a space is made with. Its first client decides, all others have to say the same.
struct space_terms {
    std::chrono::milliseconds max_ttl{15'000};
    std::chrono::milliseconds lag{2'000};
    bool pause_after_loss = true;
};

[[nodiscard]] script_call hello_call(std::string_view space, const space_terms& terms);
[[nodiscard]] script_call call_of(std::string_view space, lineage lineage, const protocol::command& command);
[[nodiscard]] script_call watch_call(std::string_view space, lineage lineage, std::chrono::milliseconds length);

/// The sections of `inspect`, to be read one after the other, each from cursor "0" until it is "0" again.
enum class section : std::uint8_t { sessions, dying, marks, limits };
[[nodiscard]] script_call page_call(std::string_view space, lineage lineage, section section, std::string_view cursor,
                                    unsigned count);

/// Appends EVALSHA: the server has the script already.
void encode(std::string& out, const script_call& call, const script_table& table = all_scripts());

}  // namespace baton::redis
