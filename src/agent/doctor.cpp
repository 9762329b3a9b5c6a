// Collects the facts that `baton doctor` judges of an agent: from the agent, /proc and the file system. Starts no
// agent, and sends no BATON.HELLO, because an idle agent of another version would end.
#include "program/doctor.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "agent/doctor_checks.hpp"
#include "agent/state_file.hpp"
#include "baton/error.hpp"
#include "program/start_agent.hpp"
#include "stores/local/address.hpp"
#include "stores/resp/exchange.hpp"
#include "stores/resp/wire.hpp"
#include "system/pidfd.hpp"

namespace baton::agent {
namespace {

file_facts look_at(const std::string& path) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0) return {};
    return {true, S_ISSOCK(found.st_mode), S_ISREG(found.st_mode), found.st_uid, found.st_mode & 07777U};
}

std::string folder_of(const std::string& path) { return std::filesystem::path{path}.parent_path().string(); }

struct file_system_kind {
    std::uint64_t magic;
    const char* name;
    bool is_remote;
};
constexpr std::array file_systems{file_system_kind{0x01021994, "tmpfs", false},
                                  file_system_kind{0xEF53, "ext4", false},
                                  file_system_kind{0x58465342, "xfs", false},
                                  file_system_kind{0x9123683E, "btrfs", false},
                                  file_system_kind{0x794C7630, "overlayfs", false},
                                  file_system_kind{0x2FC12FC1, "zfs", false},
                                  file_system_kind{0x6969, "NFS", true},
                                  file_system_kind{0xFF534D42, "SMB", true},
                                  file_system_kind{0xFE534D42, "SMB", true},
                                  file_system_kind{0x65735546, "FUSE", true}};

void read_record(agent_facts& facts) {
    facts.record_path = state_file::path_for(facts.address);
    facts.record = look_at(facts.record_path);
    const std::string folder = folder_of(facts.record_path);
    facts.record_folder_is_writable = access(folder.c_str(), W_OK | X_OK) == 0;
    struct statvfs space {};
    if (statvfs(folder.c_str(), &space) == 0)
        facts.file_system_is_full = space.f_bavail == 0 || (space.f_files != 0 && space.f_favail == 0);
    struct statfs kind {};
    if (statfs(folder.c_str(), &kind) != 0) return;
    const auto magic = static_cast<std::uint64_t>(kind.f_type) & 0xFFFFFFFFU;
    for (const file_system_kind& each : file_systems) {
        if (each.magic != magic) continue;
        facts.file_system = each.name;
        facts.file_system_is_remote = each.is_remote;
    }
}

void read_socket(agent_facts& facts) {
    if (facts.address.is_own()) return;
    facts.socket = look_at(facts.address.path);
    facts.folder = folder_of(facts.address.path);
    struct stat folder {};
    facts.folder_exists = stat(facts.folder.c_str(), &folder) == 0 && S_ISDIR(folder.st_mode);
    facts.others_write_folder = facts.folder_exists && (folder.st_mode & S_IWOTH) != 0;
}

std::size_t as_count(rlim_t limit) {
    return limit == RLIM_INFINITY ? std::numeric_limits<std::size_t>::max() / 16 : limit;
}

/// A new agent inherits the hard limit, and raises its soft limit to it.
void read_limits(agent_facts& facts) {
    rlimit own{};
    getrlimit(RLIMIT_NOFILE, &own);
    facts.most_files = as_count(own.rlim_max);
    if (!facts.process) return;
    const std::string process = "/proc/" + std::to_string(*facts.process);
    std::ifstream limits{process + "/limits"};
    constexpr std::string_view name = "Max open files";
    for (std::string line; std::getline(limits, line);) {
        if (!line.starts_with(name)) continue;
        std::istringstream{line.substr(name.size())} >> facts.most_files;
    }
    std::error_code failed;
    std::size_t count = 0;
    for (std::filesystem::directory_iterator each{process + "/fd", failed}, end; !failed && each != end;
         each.increment(failed))
        ++count;
    if (!failed) facts.open_files = count;
}

const resp::value* field(const resp::value& map, std::string_view name) {
    for (std::size_t i = 0; i + 1 < map.items.size(); i += 2)
        if (map.items[i].text == name) return &map.items[i + 1];
    return nullptr;
}

void ask_agent(agent_facts& facts, int socket, resp::exchange::clock::time_point deadline) {
    resp::exchange exchange{resp::bounds{}};
    exchange.open(descriptor{socket});
    // No program uses this name, so the reply is short. It has the number of sessions.
    const auto replies = exchange.ask({{"HELLO", "3"}, {"BATON.INSPECT", "exact", "baton-doctor", "alone"}}, deadline);
    if (replies.empty()) {
        facts.state = agent_state::silent;
        return;
    }
    facts.state = agent_state::running;
    if (const resp::value* version = field(replies[0], "version")) facts.program = version->text.substr(0, 100);
    const resp::value* protocol = field(replies[0], "wire");
    if (protocol != nullptr && protocol->kind == resp::kind::number && protocol->number >= 0)
        facts.protocol = static_cast<std::uint64_t>(protocol->number);
    const resp::value* sessions = replies.size() > 1 ? field(replies[1], "sessions") : nullptr;
    if (sessions != nullptr && sessions->kind == resp::kind::number && sessions->number >= 0)
        facts.sessions = static_cast<std::size_t>(sessions->number);
}

/// Whether the error means that no process listens: the name is free, or a process has left its socket file behind.
bool means_no_agent(std::error_code error) {
    return error == std::errc::no_such_file_or_directory || error == std::errc::connection_refused;
}

}  // namespace
}  // namespace baton::agent

namespace baton::detail {

diagnosis examine_agent(const local_address& address, const doctor_options& options) {
    using agent::agent_facts;
    using agent::agent_state;
    agent_facts facts{.address = address};
    facts.user = geteuid();
    facts.own_protocol = resp::wire_version;
    agent::read_socket(facts);
    std::error_code error;
    const int socket = connect_local(address, error, facts.why);
    if (socket >= 0) {
        std::error_code ignored;
        facts.process = listener_at(address, geteuid(), ignored);
        agent::ask_agent(facts, socket, resp::exchange::clock::now() + options.timeout);
    } else if (error == errc::not_permitted) {
        facts.state = agent_state::foreign;
    } else if (!agent::means_no_agent(error)) {
        facts.state = agent_state::failed;
        facts.why = error.message();
    }
    agent::read_record(facts);
    agent::read_limits(facts);
    facts.has_pidfds = pidfd_of(getpid()).is_open();
    facts.installed_program = installed_agent_program();
    return {agent::examine(facts), facts.state != agent_state::silent};
}

}  // namespace baton::detail
