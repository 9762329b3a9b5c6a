// Starts the command from the guardian.
#pragma once

#include <sys/types.h>

#include "run/guardian.hpp"
#include "run/link.hpp"

namespace baton::cli {

struct launched {
    pid_t id = 0;
    int error = 0;  // errno if it could not be executed
    bool in_control_group = false;
};

/// Executes the command directly, in a process group of its own, with the signal mask that baton inherited, in the
/// control group with this folder descriptor (-1: the guardian's). Returns when it is known whether exec succeeded.
[[nodiscard]] launched launch(const start_command& order, const guardian_setting& setting, int control_group);

}  // namespace baton::cli
