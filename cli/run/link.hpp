// The channel between baton and its guardian, a pair of sockets: baton sends orders, the guardian sends reports. When a
// process dies, its end of the channel closes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "run/keeper.hpp"
#include "run/stop_sequence.hpp"

namespace baton::cli {

// Orders.

struct start_command {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    bool take_terminal = false;           // give the command the terminal before it runs
    steady_time start_by;                 // the end of the lease: do not start the command later
    std::optional<steady_time> max_hold;  // when TERM is due
    stop_times times;
    std::string control_group;  // the path of the command's control group; empty: none
};
struct signal_command {
    int signal = 0;
};
struct stop_command {
    steady_time kill_at;
};
struct resume_command {};
using order = std::variant<start_command, signal_command, stop_command, resume_command, kept_session>;

// Reports.

struct command_started {
    pid_t id = 0;
    bool in_control_group = false;
};
struct command_overdue {};  // not started, because start_by had passed
struct command_failed {     // could not be executed
    int error = 0;
};
struct command_paused {  // stopped by a signal, for instance by ^Z
    int signal = 0;
};
enum class stopped_by : std::uint8_t { none, baton, max_hold, guardian };
struct command_ended {  // with all processes that it started
    int status = 0;     // as from waitpid
    stopped_by stopped = stopped_by::none;
    std::uint32_t left_behind = 0;  // processes that outlived it and had to be stopped
    std::uint32_t survivors = 0;    // processes that cannot be killed by this user
};
using report = std::variant<command_started, command_overdue, command_failed, command_paused, command_ended>;

/// One end of the channel. Sends whole messages, from any thread; blocks while the peer does not read.
class channel_end {
public:
    explicit channel_end(int descriptor) : descriptor_{descriptor} {}
    channel_end(const channel_end&) = delete;
    channel_end& operator=(const channel_end&) = delete;
    ~channel_end() { close(); }

    [[nodiscard]] int descriptor() const { return descriptor_; }
    /// False if the peer's end is closed.
    bool send(const order& message);
    bool send(const report& message);
    /// Appends the messages that have arrived. False if the peer's end is closed and everything has been read.
    bool receive(std::vector<order>& messages);
    bool receive(std::vector<report>& messages);
    void adopt(int descriptor) {
        close();
        descriptor_ = descriptor;
    }
    void close();

private:
    bool send_bytes(const std::string& bytes);
    template <typename Message> bool receive_any(std::vector<Message>& messages);

    int descriptor_;
    std::mutex sending_;
    std::string read_;
};

}  // namespace baton::cli
