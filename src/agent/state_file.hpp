// What an agent leaves for its successor: whether it had sessions, so that their clients must be given the time to
// come back; how long a session could live with it; and how far its clock had come. One line in a file of the user's,
// in /dev/shm or beside the socket file.
//
// The line is complete from the moment at which the file has its name, and is overwritten in place, so that a disk that
// fills up later does not matter. A file that is empty, short or foreign therefore never means "no predecessor".
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "baton/protocol.hpp"
#include "program/local_address.hpp"

namespace baton::agent {

class state_file {
public:
    enum class result : std::uint8_t {
        ours,    // the file is open, and the line in it is this agent's
        taken,   // another agent has it locked
        failed,  // this agent could not record that it has sessions, so it must not serve
    };

    state_file() = default;
    state_file(const state_file&) = delete;
    state_file& operator=(const state_file&) = delete;
    ~state_file();

    /// Opens the file, or makes it, reads the predecessor's line and writes its own. For a socket file it is locked as
    /// well, for as long as this object lives: the agent that has the lock may replace the socket file.
    [[nodiscard]] result take(const detail::local_address& address, std::optional<std::chrono::milliseconds> max_ttl,
                              std::string& why);

    /// The predecessor had sessions, or its line cannot be read: clients may be about to come back.
    [[nodiscard]] bool may_be_owed() const { return owed_; }
    /// The longest ttl of a session: as asked for; else as it was with a predecessor whose clients may come back.
    [[nodiscard]] std::chrono::milliseconds max_ttl() const { return max_ttl_; }
    /// How long they may take: no session of the predecessor can have been given more.
    [[nodiscard]] std::chrono::milliseconds pause_length() const { return std::max(max_ttl_, former_max_ttl_); }
    /// What an engine's clock may show now: not behind the wall clock, nor behind the predecessor's.
    [[nodiscard]] protocol::instant start() const { return start_; }

    /// Call with true before a session is opened, and open none if it fails. A failure to write false is harmless: the
    /// successor pauses without need. A file that was removed meanwhile is made again.
    [[nodiscard]] std::error_code serving(bool sessions);
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    struct opened;
    [[nodiscard]] opened open_or_make() const;
    [[nodiscard]] opened make() const;
    [[nodiscard]] std::string line() const;
    void begin();
    void read();
    [[nodiscard]] std::error_code write();
    [[nodiscard]] bool removed() const;

    std::string path_;
    bool lock_ = false;
    int file_ = -1;
    bool owed_ = false;
    bool serving_ = false;
    std::chrono::milliseconds max_ttl_{15'000};
    std::chrono::milliseconds former_max_ttl_{0};
    protocol::instant start_;
    std::int64_t ahead_us_ = 0;  // of CLOCK_MONOTONIC
    std::string boot_;
};

}  // namespace baton::agent
