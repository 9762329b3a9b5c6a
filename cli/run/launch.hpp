// From a guardian to a command that runs.
#pragma once

#include <sys/types.h>

#include "run/guardian.hpp"
#include "run/link.hpp"

namespace baton::cli {

struct launched {
    pid_t id = 0;
    int error = 0;  // errno of why it could not be executed
};

/// Executes it directly in a process group of its own, with the signal mask that baton was given, and returns when it
/// is known whether that worked.
[[nodiscard]] launched launch(const start_command& order, const guardian_setting& setting);

}  // namespace baton::cli
