#include "agent/process_limits.hpp"

#include <sys/resource.h>

#include "stores/resp/stream.hpp"

namespace baton::agent {
namespace {

constexpr std::size_t descriptors_a_client = 1 + resp::most_passed;  // the socket, and pidfds
constexpr std::size_t own_descriptors = 20;  // standard streams, event loop, signals, listener, state file, spare
constexpr std::size_t least_clients = 8;

}  // namespace

void raise_own_limits() {
    for (const auto resource : {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CPU, RLIMIT_AS, RLIMIT_DATA}) {
        rlimit limit{};
        if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == limit.rlim_max) continue;
        limit.rlim_cur = limit.rlim_max;
        setrlimit(resource, &limit);  // on failure the soft limit stays
    }
}

client_room room_for_clients(std::size_t wanted) {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return {wanted, {}};
    return room_for_clients(wanted, files.rlim_cur);
}

client_room room_for_clients(std::size_t wanted, std::size_t files) {
    const std::size_t needed = wanted * descriptors_a_client + own_descriptors;
    if (files >= needed) return {wanted, {}};
    const std::size_t spare = files > own_descriptors ? files - own_descriptors : 0;
    client_room room{spare / descriptors_a_client, {}};
    room.why = "it may have " + std::to_string(files) + " open files (ulimit -Hn)";
    if (room.clients >= least_clients) return room;
    room.why += " and needs at least " + std::to_string(least_clients * descriptors_a_client + own_descriptors);
    room.clients = 0;
    return room;
}

}  // namespace baton::agent
