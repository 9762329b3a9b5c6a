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

struct answer {
    std::optional<command_tag> tag;  // none: a notice
    baton::lineage lineage = 0;
    std::vector<protocol::event> events;
};

}  // namespace baton::fleet
