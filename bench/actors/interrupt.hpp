// ^C in the middle of a benchmark: what it made is removed first, here and on the user's server.
#pragma once

#include <cstdint>
#include <functional>

namespace baton::bench {

/// From now on SIGINT, SIGTERM and SIGHUP first do what was left for them, and then end the program with 128 + number.
/// Before any thread is started; once.
void prepare_for_interrupts();

/// Something that has to be done then, on a thread of its own, as long as this object is there. What came last is done
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
