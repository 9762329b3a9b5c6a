#include "bench/echo.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/scenarios.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"

namespace baton::bench {

double now_us() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

/// The child only reads and writes: it may be forked by a process that has threads.
echo::echo() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw cli::failure{cli::exit_code::internal, "no more sockets can be made"};
    process_ = fork();
    if (process_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        while (read(ends[1], message_.data(), message_.size()) > 0 &&
               write(ends[1], message_.data(), message_.size()) > 0)
            continue;
        _exit(0);
    }
    close(ends[1]);
    socket_ = ends[0];
}

echo::~echo() {
    close(socket_);
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
}

double echo::round_trip_us() {
    const double start = now_us();
    if (write(socket_, message_.data(), message_.size()) < 0 || read(socket_, message_.data(), message_.size()) < 0)
        throw cli::failure{cli::exit_code::internal, "the echo is silent"};
    return now_us() - start;
}

}  // namespace baton::bench
