// The processors on which a scene runs.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace baton::bench {

/// All processors of the machine, even if taskset has pinned this process to one.
inline std::vector<std::size_t> all_processors() {
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    cpu_set_t all;
    CPU_ZERO(&all);
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &all);
    sched_setaffinity(0, sizeof all, &all);
    sched_getaffinity(0, sizeof all, &all);
    sched_setaffinity(0, sizeof before, &before);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &all)) found.push_back(i);
    return found;
}

/// Pins a thread (0: this one) and the threads that it starts.
inline void play_on(const std::vector<std::size_t>& processors, pid_t thread = 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const std::size_t processor : processors) CPU_SET(processor, &set);
    sched_setaffinity(thread, sizeof set, &set);
}

}  // namespace baton::bench
