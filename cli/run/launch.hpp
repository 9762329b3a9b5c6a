// From a guardian to a command that runs.
#pragma once

#include <sys/types.h>

#include "run/guardian.hpp"
#include "run/link.hpp"

namespace baton::cli {

struct launched {
    pid_t id = 0;
    int error = 0;  // errno of why it could not be executed
    bool in_control_group = false;
};

/// Executes it directly in a process group of its own, with the signal mask that baton was given, and in the control
/// group whose folder that is (-1: in ours). Returns when it is known whether that worked.
[[nodiscard]] launched launch(const start_command& order, const guardian_setting& setting, int control_group);

}  // namespace baton::cli
