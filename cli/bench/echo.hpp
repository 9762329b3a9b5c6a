// The floor of `local:`: a process that sends back what it hears on a Unix socket, with messages of the length of a
// short command.
#pragma once

#include <array>

#include "bench/child.hpp"

namespace baton::bench {

class echo {
public:
    echo();
    echo(const echo&) = delete;
    echo& operator=(const echo&) = delete;
    ~echo();

    [[nodiscard]] double round_trip_us();

private:
    int socket_ = -1;
    pid_t process_ = 0;
    std::array<char, 128> message_{};
};

}  // namespace baton::bench
