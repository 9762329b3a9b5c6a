// The messages between a client and a server.
#pragma once

#include <optional>
#include <vector>

#include "baton/store.hpp"

namespace baton::fleet {

struct packet {
    command_tag tag = 0;
    baton::epoch epoch = 0;  // the server's epoch, as the client's connection knows it
    protocol::command command;
    std::uint64_t used = 0;  // the highest number that the client had used; for the judge only
};

/// What a client sends in its handshake.
struct knowledge {
    baton::epoch epoch = 0;       // the epoch that it followed last; 0: none
    protocol::serial serial = 0;  // the largest ticket or fence that it received in that epoch
};

struct answer {
    std::optional<command_tag> tag;  // none: a notice
    baton::epoch epoch = 0;
    std::vector<protocol::event> events;
};

}  // namespace baton::fleet
