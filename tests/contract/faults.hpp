// The faults by name. Each changes the messages between a client and a sound store: commands to the store, replies and
// notifications from it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baton/store.hpp"

namespace baton::broken {

/// A fault: functions that may change a command or an event. `instead` is the reply to a command that is not forwarded.
struct fault {
    std::function<void(protocol::command&)> command;
    std::function<void(protocol::event&)> event;
    std::function<std::optional<protocol::event>(const protocol::command&)> instead;
    std::function<void(std::vector<tagged_command>&)> batch;
    std::function<bool(const protocol::command&)> rejects;  // as unsupported
    bool notices = true;
    bool inspects = true;
};

[[nodiscard]] const std::map<std::string, std::function<fault()>>& faults();

}  // namespace baton::broken
