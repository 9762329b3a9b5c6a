// The checks of `baton doctor` for an agent: facts in, findings out, no I/O.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/doctor.hpp"
#include "program/local_address.hpp"

namespace baton::agent {

struct file_facts {
    bool exists = false;
    bool is_socket = false;
    bool is_regular = false;
    uid_t owner = 0;
    mode_t mode = 0;  // permissions only
};

enum class agent_state : std::uint8_t {
    none,     // no process listens
    running,  // it replied
    silent,   // it accepts connections, and does not reply in time
    foreign,  // this user may not connect, or must not trust the process: `why`
    failed,   // another error: `why`
};

struct agent_facts {
    detail::local_address address;
    uid_t user = 0;
    agent_state state = agent_state::none;
    std::string why = {};
    std::optional<pid_t> process = {};
    std::string program = {};                  // what the agent calls itself, for instance `baton 0.1.0`
    std::optional<std::size_t> sessions = {};  // in the space `default`

    std::optional<std::uint64_t> protocol = {};  // of the agent, if its reply has it
    std::uint64_t own_protocol = 0;

    // The socket file, if the address names one.
    file_facts socket = {};
    std::string folder = {};
    bool folder_exists = false;
    bool others_write_folder = false;

    // The record for its successor.
    std::string record_path = {};
    file_facts record = {};
    bool record_folder_is_writable = false;  // for this user
    bool file_system_is_full = false;
    std::string file_system = {};  // its name; empty: not known
    bool file_system_is_remote = false;

    std::size_t most_files = 0;                  // that the agent may open, or would be
    std::optional<std::size_t> open_files = {};  // of a running agent
    bool has_pidfds = true;                      // the kernel
    std::string installed_program = {};          // that C++ programs start as an agent
};

/// All findings, in the order in which they are shown.
[[nodiscard]] std::vector<detail::finding> examine(const agent_facts& facts);

}  // namespace baton::agent
