#include "run/process_tree.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

namespace baton::cli {
namespace {

// As system calls, because the header of glibc 2.36 declares the functions for C only.
int open_handle(pid_t id) { return static_cast<int>(::syscall(SYS_pidfd_open, id, 0)); }
bool send_through(int handle, int signal) { return ::syscall(SYS_pidfd_send_signal, handle, signal, nullptr, 0) == 0; }

/// It is started by the first who needs it, perhaps inside of a tree, but serves everyone: `baton agent`, leader of a
/// session of its own.
bool is_agent(const process_stat& process) {
    if (process.session != process.id) return false;
    const int file = ::open(("/proc/" + std::to_string(process.id) + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    std::array<char, 4096> text{};  // ends with two zeros, whatever is in it
    const ssize_t length = ::read(file, text.data(), text.size() - 2);
    ::close(file);
    if (length <= 0) return false;
    const std::string_view program{text.data()};
    return program.substr(program.rfind('/') + 1) == "baton" &&
           std::string_view{text.data() + program.size() + 1} == "agent";
}

std::vector<process_stat> everything() {
    std::vector<process_stat> all;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir("/proc"), ::closedir};
    if (!folder) return all;
    while (const dirent* entry = ::readdir(folder.get())) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
        if (const auto found = look_at(std::atoi(entry->d_name))) all.push_back(*found);
    }
    return all;
}

}  // namespace

bool sees_processes() {
    std::array<char, 16> text{};
    return ::readlink("/proc/self", text.data(), text.size() - 1) > 0 && text.data() == std::to_string(::getpid());
}

std::vector<process_stat> tree_below(pid_t root) {
    const std::vector<process_stat> all = everything();
    std::unordered_set<pid_t> inside{root};
    std::vector<process_stat> tree;
    // Children may have smaller numbers than their parents: go round until nothing is added.
    for (bool grown = true; grown;) {
        grown = false;
        for (const process_stat& candidate : all) {
            if (inside.contains(candidate.id) || !inside.contains(candidate.parent) || is_agent(candidate)) continue;
            inside.insert(candidate.id);
            grown = true;
            if (!candidate.ended()) tree.push_back(candidate);
        }
    }
    return tree;
}

bool only_agents_below(pid_t root) {
    const std::vector<process_stat> all = everything();
    const auto agent = [root](const process_stat& p) { return p.parent == root && is_agent(p); };
    // Two looks, because one may miss a process whose parent ends while it goes through the others.
    return std::ranges::any_of(all, agent) && tree_below(root).empty() && tree_below(root).empty();
}

signalled signal_all(const std::vector<process_stat>& processes, int signal) {
    signalled result;
    for (const process_stat& process : processes) {
        const int handle = open_handle(process.id);
        if (handle < 0) continue;
        // The descriptor may be of a newcomer with the same number, but hardly of one that started at the same time.
        const auto now = look_at(process.id);
        if (now && !now->ended() && now->started == process.started) {
            if (send_through(handle, signal))
                ++result.reached;
            else if (errno == EPERM)
                ++result.refused;
        }
        ::close(handle);
    }
    return result;
}

}  // namespace baton::cli
