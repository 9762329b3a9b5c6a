// Writes the lines of one process. Each is one write(2) at the end of a file that all processes share, so that a
// process that is killed leaves whole lines only, and nothing of what it did is still in its memory.
#pragma once

#include <atomic>
#include <string>

#include "event.hpp"

namespace baton::history {

/// Thread-safe.
class recorder {
public:
    /// `who` is this process in the history, or a thread that plays one.
    recorder(const std::string& path, std::string who);
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;
    ~recorder();

    /// Now, before the acquire is called; the number of the request in all that follows.
    std::uint64_t asked(const claim_list& claims);
    /// `event.who` is set here, and `event.at` where it is not.
    void write(event event);

private:
    int file_;
    std::string who_;
    std::atomic<std::uint64_t> numbers_{0};
};

}  // namespace baton::history
