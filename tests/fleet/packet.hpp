// What travels between a client and a server.
#pragma once

#include <optional>
#include <vector>

#include "baton/store.hpp"

namespace baton::fleet {

struct packet {
    command_tag tag = 0;
    baton::lineage lineage = 0;  // of the server, as the client's line knows it
    protocol::command command;
    std::uint64_t used = 0;  // the highest number that the client had used when it sent this; only the oracle looks
};

/// What a client tells in its handshake.
struct knowledge {
    baton::lineage lineage = 0;   // the one that it has followed last; 0: none
    protocol::serial serial = 0;  // the largest ticket or fence that it has heard of in that lineage
};

struct answer {
    std::optional<command_tag> tag;  // none: a notice
    baton::lineage lineage = 0;
    std::vector<protocol::event> events;
};

}  // namespace baton::fleet
