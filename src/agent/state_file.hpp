// What an agent leaves for its successor: whether it had sessions, so that their clients must be given the time to
// come back; how long a session could live with it; and how far its clock had come. A file of the user's on tmpfs, or
// beside the socket file.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "baton/protocol.hpp"
#include "stores/local/address.hpp"

namespace baton::agent {

class state_file {
public:
    state_file() = default;
    state_file(const state_file&) = delete;
    state_file& operator=(const state_file&) = delete;
    ~state_file();

    /// Opens it, makes it if need be, and reads it. For a socket file it is locked as well, for as long as this lives:
    /// who has the lock is the agent, and the socket file may be replaced. False if another has it.
    bool take(const detail::local_address& address, std::optional<std::chrono::milliseconds> max_ttl,
              std::error_code& error);

    /// The predecessor had sessions, or nobody can say: clients may be about to come back.
    [[nodiscard]] bool may_be_owed() const { return owed_; }
    /// The longest ttl of a session: as asked for; else as it was with a predecessor whose clients may come back.
    [[nodiscard]] std::chrono::milliseconds max_ttl() const { return max_ttl_; }
    /// How long they may take: no session of the predecessor can have been given more.
    [[nodiscard]] std::chrono::milliseconds patience() const { return std::max(max_ttl_, former_max_ttl_); }
    /// What an engine's clock may show now: not behind the wall clock, nor behind the predecessor's.
    [[nodiscard]] protocol::instant start() const { return start_; }

    /// To be told before anybody hears that his session is open.
    void serving(bool sessions);

private:
    void read();
    void write();

    std::string path_;
    int file_ = -1;
    bool locked_ = false;
    bool owed_ = false;
    bool serving_ = false;
    std::chrono::milliseconds max_ttl_{15'000};
    std::chrono::milliseconds former_max_ttl_{0};
    protocol::instant start_;
    std::int64_t ahead_us_ = 0;  // of CLOCK_MONOTONIC
    std::string boot_;
};

}  // namespace baton::agent
