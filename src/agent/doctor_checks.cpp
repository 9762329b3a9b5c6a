#include "agent/doctor_checks.hpp"

#include <array>
#include <cstdio>

#include "agent/process_limits.hpp"
#include "baton/printable.hpp"
#include "program/agent.hpp"

namespace baton::agent {
namespace {

using detail::finding;
using detail::verdict;
using state = agent_state;

std::string text_of(mode_t mode) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode));
    return text.data();
}

bool is_stale(const agent_facts& facts) { return facts.state == state::none && facts.socket.is_socket; }

finding check_agent(const agent_facts& facts) {
    const std::string at = facts.address.url();
    const std::string process = facts.process ? "process " + std::to_string(*facts.process) : "a process";
    switch (facts.state) {
        case state::running:
            return {
                "agent", verdict::ok,
                process + ", " + printable(facts.program) +
                    (facts.sessions ? ", " + std::to_string(*facts.sessions) +
                                          (*facts.sessions == 1 ? " session" : " sessions") + " in the space default"
                                    : "")};
        case state::none:
            if (!facts.address.is_own() && !facts.folder_exists)
                return {"agent", verdict::ok,
                        "no agent runs, and nothing is held"};  // the check of the socket says why
            if (is_stale(facts))
                return {"agent", verdict::warn,
                        "no agent runs, but its socket file exists: the agent has died, and its clients may still hold "
                        "names",
                        "nothing, if clients run: they start another; else remove " + printable(facts.address.path)};
            return {"agent", verdict::ok, "no agent runs; the first client starts one, and nothing is held"};
        case state::silent:
            return {"agent", verdict::wrong, process + " accepts connections and does not reply in time",
                    "check whether it is stopped (SIGSTOP) or busy; clients wait for it"};
        case state::foreign:
            return {"agent", verdict::wrong, facts.why,
                    facts.address.is_own() ? "use a socket file that all programs share: BATON_URL=local:PATH"
                                           : "serve the address as this user, root or the owner of its folder, with a "
                                             "mode that lets this user connect (baton agent --mode)"};
        case state::failed: break;
    }
    return {"agent", verdict::wrong, "cannot connect to " + at + ": " + facts.why, "check the path of the address"};
}

/// Clients of another version are refused while the agent is in use.
std::optional<finding> check_protocol(const agent_facts& facts) {
    if (!facts.protocol) return {};
    if (*facts.protocol == facts.own_protocol)
        return finding{"protocol", verdict::ok, "version " + std::to_string(*facts.protocol) + ", as this program"};
    return finding{"protocol", verdict::warn,
                   "the agent speaks version " + std::to_string(*facts.protocol) + ", and this program " +
                       std::to_string(facts.own_protocol) + ": while the agent is in use, it refuses this program",
                   "use one version of Baton; an agent that is not in use makes way by itself"};
}

std::optional<finding> check_socket(const agent_facts& facts) {
    if (facts.address.is_own()) return {};
    const std::string folder = printable(facts.folder);
    if (!facts.folder_exists)
        return finding{"socket", verdict::wrong, "the folder " + folder + " does not exist",
                       "make it, or name another path"};
    if (facts.socket.exists && !facts.socket.is_socket)
        return finding{"socket", verdict::wrong, printable(facts.address.path) + " exists and is not a socket",
                       "remove it, or name another path"};
    if (facts.others_write_folder)
        return finding{
            "socket", verdict::warn,
            "every user may make files in " + folder + ", also the socket; clients refuse it then, and have no agent",
            "use a folder that only the agent's user may write to"};
    if (!facts.socket.exists) return finding{"socket", verdict::ok, "the agent will make it in " + folder};
    return finding{"socket", verdict::ok,
                   "of user " + std::to_string(facts.socket.owner) + ", mode " + text_of(facts.socket.mode)};
}

std::optional<finding> check_record(const agent_facts& facts) {
    // The record is in the folder of the socket, whose check reports a missing folder.
    if (!facts.address.is_own() && !facts.folder_exists) return {};
    const bool runs = facts.state == state::running;
    const std::string path = printable(facts.record_path);
    const auto cannot = [&](const std::string& why, const std::string& advice) {
        return finding{"record", runs ? verdict::warn : verdict::wrong,
                       path + ": " + why + (runs ? "; if this agent dies, no other can start" : "; no agent can start"),
                       advice};
    };
    const std::string elsewhere = "use a socket file on another file system: BATON_URL=local:PATH, for all programs";
    if (facts.record.exists && !facts.record.is_regular) return cannot("it is not a regular file", "remove it");
    if (facts.record.exists && facts.record.owner != facts.user && !runs)
        return cannot("it belongs to user " + std::to_string(facts.record.owner), "remove it, or " + elsewhere);
    const std::string where = path + (facts.file_system.empty() ? "" : ", on " + facts.file_system);
    if (facts.record.exists && facts.record.owner != facts.user)
        return finding{"record", verdict::ok, where + ", of user " + std::to_string(facts.record.owner)};
    if (!facts.record.exists && !facts.record_folder_is_writable)
        return cannot("this user may not make it, or the file system is read-only", elsewhere);
    if (!facts.record.exists && facts.file_system_is_full)
        return cannot("the file system is full", "free space, or " + elsewhere);
    if (facts.file_system_is_remote)
        return finding{"record", verdict::warn, where + ", which other machines may share",
                       "use a path on a file system of this machine"};
    return finding{"record", verdict::ok, where + (facts.record.exists ? "" : " (not made yet)")};
}

finding check_limits(const agent_facts& facts) {
    const agent::limits usual;
    const client_room room = room_for_clients(usual.clients, facts.most_files);
    if (room.clients == 0)
        return {"limits", verdict::wrong, "the agent cannot serve: " + room.why,
                "raise the limit of open files (ulimit -Hn) where the first client or the agent starts"};
    std::string text = "up to " + std::to_string(room.clients) + " clients at a time";
    if (room.clients < usual.clients) text += ", because " + room.why;
    if (facts.open_files) {
        text +=
            "; " + std::to_string(*facts.open_files) + " of " + std::to_string(facts.most_files) + " files are open";
        if (*facts.open_files * 10 >= facts.most_files * 8)
            return {"limits", verdict::warn, text, "start the agent with a higher limit (ulimit -Hn, LimitNOFILE=)"};
    }
    return {"limits", verdict::ok, text};
}

finding check_pidfds(const agent_facts& facts) {
    if (facts.has_pidfds) return {"pidfd", verdict::ok, "the agent learns at once when a client dies"};
    return {
        "pidfd", verdict::warn,
        "pidfds do not work here (Linux before 5.3, or a sandbox): names of dead clients pass on after their ttl only",
        "allow pidfd_open, or use short ttls"};
}

finding check_program(const agent_facts& facts) {
    if (!facts.installed_program.empty())
        return {"program", verdict::ok, "C++ programs start " + printable(facts.installed_program)};
    return {"program", verdict::ok,
            "C++ programs find no program baton to start as an agent; this program finds itself",
            "if C++ programs use local:, install baton, or put it into PATH"};
}

}  // namespace

std::vector<finding> examine(const agent_facts& facts) {
    std::vector<finding> all{check_agent(facts)};
    if (auto protocol = check_protocol(facts)) all.push_back(std::move(*protocol));
    if (auto socket = check_socket(facts)) all.push_back(std::move(*socket));
    if (facts.state == state::foreign) return all;  // the rest is about another user's agent
    if (auto record = check_record(facts)) all.push_back(std::move(*record));
    for (const auto check : {check_limits, check_pidfds, check_program}) all.push_back(check(facts));
    return all;
}

}  // namespace baton::agent
