// The floor of `local:`: a process that echoes messages on a Unix socket. They are as long as a short command.
#pragma once

#include <unistd.h>

#include <array>
#include <utility>

#include "bench/actors/child.hpp"
#include "bench/clock.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"

namespace baton::bench {

class echo {
public:
    echo() { close(std::exchange(ends_[1], -1)); }
    echo(const echo&) = delete;
    echo& operator=(const echo&) = delete;
    ~echo() { close(ends_[0]); }

    double round_trip_us() {
        const double start = now_us();
        if (!pass(ends_[0], write) || !pass(ends_[0], read))
            throw cli::failure{cli::exit_code::internal, "the echo process does not reply"};
        return now_us() - start;
    }

private:
    template <typename Call> bool pass(int end, Call call) { return call(end, message_.data(), message_.size()) > 0; }

    std::array<char, 128> message_{};
    std::array<int, 2> ends_ = connected_sockets();
    child process_{[this] {
        while (pass(ends_[1], read) && pass(ends_[1], write)) continue;
    }};
};

}  // namespace baton::bench
