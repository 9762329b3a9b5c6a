// The record of an agent for its successor: whether it had sessions, so that the successor pauses until their clients
// have reconnected; its longest ttl; and its clock. The record is one line in a file in /dev/shm or beside the socket
// file.
//
// The line is complete when the file gets its name, and is overwritten in place, so that a disk that fills up later
// does no harm. So an empty, short or foreign file never means "no predecessor".
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
        ours,    // the file is open and has this agent's line
        taken,   // another agent has it locked
        failed,  // the agent cannot write its record, so it must not serve
    };

    state_file() = default;
    state_file(const state_file&) = delete;
    state_file& operator=(const state_file&) = delete;
    ~state_file();

    /// Where the record of an agent at this address is.
    [[nodiscard]] static std::string path_for(const detail::local_address& address);

    /// Opens or makes the file, reads the predecessor's line and writes its own. For a socket file it also holds a lock
    /// on the file during the life of this object: the owner of the lock may replace the socket file.
    [[nodiscard]] result take(const detail::local_address& address, std::optional<std::chrono::milliseconds> max_ttl,
                              std::string& why);

    /// The predecessor had sessions, or its line cannot be read: its clients may still reconnect.
    [[nodiscard]] bool had_clients() const { return had_clients_; }
    /// The longest ttl of a session: that of the options; else that of a predecessor whose clients may still reconnect.
    [[nodiscard]] std::chrono::milliseconds max_ttl() const { return max_ttl_; }
    /// After this time all sessions of the predecessor have expired.
    [[nodiscard]] std::chrono::milliseconds pause_length() const { return std::max(max_ttl_, former_max_ttl_); }
    /// The start time of the engine's clock: not before the wall clock, nor before the predecessor's clock.
    [[nodiscard]] protocol::instant start() const { return start_; }

    /// Records whether there are sessions. Call it with true before a session is opened; on failure open none. A
    /// failure to record false only causes an unnecessary pause of the successor. Makes the file again if it was
    /// removed.
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
    bool had_clients_ = false;
    bool serving_ = false;
    std::chrono::milliseconds max_ttl_{15'000};
    std::chrono::milliseconds former_max_ttl_{0};
    protocol::instant start_;
    std::int64_t ahead_us_ = 0;  // of CLOCK_MONOTONIC
    std::string boot_;
};

}  // namespace baton::agent
