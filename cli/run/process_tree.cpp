#include "run/process_tree.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

namespace baton::cli {
namespace {

// The name, in brackets, may contain anything, brackets too: what counts comes after the last one.
std::optional<process> parse(const char* text) {
    const char* const close = std::strrchr(text, ')');
    if (close == nullptr) return {};
    process found;
    found.id = static_cast<pid_t>(std::strtol(text, nullptr, 10));
    long parent = 0;
    long group = 0;
    long session = 0;
    if (std::sscanf(close + 1, " %c %ld %ld %ld %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                    &found.state, &parent, &group, &session, &found.started) != 5)
        return {};
    found.parent = static_cast<pid_t>(parent);
    found.group = static_cast<pid_t>(group);
    found.session = static_cast<pid_t>(session);
    return found;
}

std::optional<process> read_stat(const std::string& id) {
    const int file = ::open(("/proc/" + id + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    std::array<char, 1024> text{};
    const ssize_t length = ::read(file, text.data(), text.size() - 1);
    ::close(file);
    if (length <= 0) return {};
    return parse(text.data());
}

// As system calls, because the header of glibc 2.36 declares the functions for C only.
int open_handle(pid_t id) { return static_cast<int>(::syscall(SYS_pidfd_open, id, 0)); }
bool send_through(int handle, int signal) { return ::syscall(SYS_pidfd_send_signal, handle, signal, nullptr, 0) == 0; }

/// It is started by the first who needs it, perhaps inside of a tree, but serves everyone: `baton agent`, leader of a
/// session of its own.
bool is_agent(const process& process) {
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

std::vector<process> everything() {
    std::vector<process> all;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir("/proc"), ::closedir};
    if (!folder) return all;
    while (const dirent* entry = ::readdir(folder.get())) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
        if (const auto found = read_stat(entry->d_name)) all.push_back(*found);
    }
    return all;
}

}  // namespace

bool sees_processes() {
    std::array<char, 16> text{};
    return ::readlink("/proc/self", text.data(), text.size() - 1) > 0 && text.data() == std::to_string(::getpid());
}

std::optional<process> look_at(pid_t id) {
    return read_stat(std::to_string(id));
}

std::vector<process> tree_below(pid_t root) {
    const std::vector<process> all = everything();
    std::unordered_set<pid_t> inside{root};
    std::vector<process> tree;
    // Children may have smaller numbers than their parents: go round until nothing is added.
    for (bool grown = true; grown;) {
        grown = false;
        for (const process& candidate : all) {
            if (inside.contains(candidate.id) || !inside.contains(candidate.parent) || is_agent(candidate)) continue;
            inside.insert(candidate.id);
            grown = true;
            if (!candidate.ended()) tree.push_back(candidate);
        }
    }
    return tree;
}

bool only_agents_below(pid_t root) {
    const std::vector<process> all = everything();
    const auto agent = [root](const process& p) { return p.parent == root && is_agent(p); };
    // Two looks, because one may miss a process whose parent ends while it goes through the others.
    return std::ranges::any_of(all, agent) && tree_below(root).empty() && tree_below(root).empty();
}

signalled signal_all(const std::vector<process>& processes, int signal) {
    signalled result;
    for (const process& process : processes) {
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
