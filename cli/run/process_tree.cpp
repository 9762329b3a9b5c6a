#include "run/process_tree.hpp"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include "program/start_agent.hpp"

namespace baton::cli {
namespace {

constexpr int most_rounds = 200;

/// The words of a command line as /proc shows it.
std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\0'), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

}  // namespace

bool sees_processes() {
    std::array<char, 16> text{};
    return ::readlink("/proc/self", text.data(), text.size() - 1) > 0 && text.data() == std::to_string(::getpid());
}

/// The first client that needs an agent starts it, perhaps inside a command's tree, but the agent serves all clients.
/// It is recognised by what it does: the kernel names it as the process that listens at the address on its command
/// line. A process that only has the command line of an agent belongs to the tree.
seen process_tree::is_agent(const process_stat& process) {
    if (process.session != process.id) return seen::gone;
    std::string text;
    uid_t user = 0;
    const seen read = table_.contents(process.id, "cmdline", text, &user);
    if (read == seen::failed) return read;
    const auto address = detail::address_of_agent(words_of(text));
    if (read != seen::found || !address) return seen::gone;
    const process_table::loan reserve{table_};
    std::error_code error;
    const auto listener = detail::listener_at(*address, user, error);
    if (listener) return *listener == process.id ? seen::found : seen::gone;
    const bool no_descriptors = error == std::errc::too_many_files_open ||
                                error == std::errc::too_many_files_open_in_system ||
                                error == std::errc::not_enough_memory;
    return no_descriptors ? seen::failed : seen::gone;
}

process_scan process_tree::below(pid_t root) {
    bool agents = false;
    return scan_below(root, agents);
}

process_scan process_tree::scan_below(pid_t root, bool& agents) {
    process_scan tree;
    try {
        std::vector<process_stat> all;
        bool complete = true;
        table_.begin();
        while (const auto id = table_.next()) {
            process_stat found;
            const seen read = table_.read(*id, found);
            if (read == seen::found) all.push_back(found);
            if (read == seen::failed) complete = false;
        }
        complete = complete && !table_.failed();
        std::unordered_set<pid_t> inside{root};
        // Children may have smaller process ids than their parents: repeat until no process is added.
        for (bool grown = true; grown;) {
            grown = false;
            for (const process_stat& candidate : all) {
                if (inside.contains(candidate.id) || !inside.contains(candidate.parent)) continue;
                inside.insert(candidate.id);
                grown = true;
                if (candidate.ended()) continue;
                const seen agent = is_agent(candidate);
                if (agent == seen::failed) complete = false;
                if (agent == seen::gone) tree.processes.push_back(candidate);
                if (agent == seen::found) agents = true;
            }
        }
        tree.complete = complete;
    } catch (const std::bad_alloc&) {
        tree.complete = false;
    }
    return tree;
}

bool process_tree::only_agents_below(pid_t root) {
    bool agents = false;
    // Two scans, because a scan may miss a process whose parent ends while the scan reads other processes.
    return scan_below(root, agents).nothing() && agents && scan_below(root, agents).nothing();
}

signalled process_tree::signal(const process_scan& tree, int signal) {
    signalled result;
    for (const process_stat& process : tree.processes) {
        bool unknown = false;
        const seen sent = table_.signal(process.id, signal, [&] {
            process_stat now;
            const seen read = table_.read(process.id, now);
            unknown = read == seen::failed;
            return read == seen::found && !now.ended() && now.started == process.started;
        });
        if (unknown || sent == seen::failed)
            ++result.unknown;
        else if (sent == seen::found)
            ++result.reached;
        else if (sent == seen::hidden)
            ++result.refused;
    }
    if (!tree.complete) ++result.unknown;
    return result;
}

/// The process ids of the children, including zombies.
std::vector<pid_t> process_tree::children() {
    const pid_t self = ::getpid();
    const std::string file = "task/" + std::to_string(self) + "/children";
    std::string text;
    std::vector<pid_t> ids;
    if (table_.contents(self, file.c_str(), text) != seen::found) return ids;  // the kernel lacks it: below() remains
    for (const char* at = text.c_str();;) {
        char* end = nullptr;
        const auto id = static_cast<pid_t>(std::strtol(at, &end, 10));
        if (end == at) return ids;
        ids.push_back(id);
        at = end;
    }
}

/// Kills children by their process ids: these are not reused before this thread waits for the children.
signalled process_tree::kill_children() {
    signalled result;
    known_children_.clear();
    for (const pid_t id : children()) {
        known_children_.insert(id);
        process_stat child;
        const seen read = table_.read(id, child);
        if (read == seen::gone || (read == seen::found && child.ended())) continue;
        // A process that /proc hides belongs to another user; kill fails for an agent of that user anyway.
        const seen agent = read == seen::found ? is_agent(child) : seen::gone;
        if (read == seen::failed || agent == seen::failed) ++result.unknown;
        if (read == seen::failed || agent != seen::gone) continue;
        if (::kill(id, SIGKILL) == 0)
            ++result.reached;
        else if (errno == EPERM)
            ++result.refused;
    }
    // A process that forks and exits again and again ends before it can be inspected. So new children are killed
    // without inspection until no new one appears.
    for (int round = 0; round < most_rounds; ++round) {
        bool newcomers = false;
        for (const pid_t id : children()) {
            if (!known_children_.insert(id).second) continue;
            newcomers = true;
            if (::kill(id, SIGKILL) == 0) ++result.reached;
        }
        if (!newcomers) break;
    }
    return result;
}

}  // namespace baton::cli
