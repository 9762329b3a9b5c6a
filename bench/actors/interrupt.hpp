// ^C during a benchmark first removes the files and keys that the benchmark created, also on the user's server.
#pragma once

#include <cstdint>
#include <functional>

namespace baton::bench {

/// From now on SIGINT, SIGTERM and SIGHUP first run the registered actions and then end the program with 128 + number.
/// Call it once, before any thread is started.
void prepare_for_interrupts();

/// An action for these signals, which runs on its own thread; registered for the life of this object. The latest runs
/// first.
class on_interrupt {
public:
    explicit on_interrupt(std::function<void()> task);
    on_interrupt(const on_interrupt&) = delete;
    on_interrupt& operator=(const on_interrupt&) = delete;
    ~on_interrupt();

private:
    std::uint64_t number_;
};

}  // namespace baton::bench
