// Writes the lines of one process. Each line is one write(2) at the end of a file that all processes share, so that a
// killed process leaves complete lines and loses none.
#pragma once

#include <atomic>
#include <string>

#include "event.hpp"

namespace baton::history {

/// Thread-safe.
class recorder {
public:
    /// `who` is the name of this process, or of a thread that plays a process.
    recorder(const std::string& path, std::string who);
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;
    ~recorder();

    /// Records the time before an acquire is called. Returns the number of the request for all later lines.
    std::uint64_t asked(const claim_list& claims);
    /// Sets `event.who`, and `event.at` if it is not set.
    void write(event event);

private:
    int file_;
    std::string who_;
    std::atomic<std::uint64_t> numbers_{0};
};

}  // namespace baton::history
