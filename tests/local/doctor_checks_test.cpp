// The checks of `baton doctor` for an agent: facts in, findings out.
#include <gtest/gtest.h>

#include "agent/doctor_checks.hpp"

namespace baton::agent {
namespace {

using detail::verdict;

agent_facts good_agent() {
    agent_facts facts{.address = {.path = "/run/team/agent"}};
    facts.user = 1'000;
    facts.state = agent_state::running;
    facts.process = 77;
    facts.program = "baton 1";
    facts.sessions = 2;
    facts.socket = {.exists = true, .is_socket = true, .owner = 1'000, .mode = 0600};
    facts.folder = "/run/team";
    facts.folder_exists = true;
    facts.record_path = "/run/team/agent.state";
    facts.record = {.exists = true, .is_regular = true, .owner = 1'000, .mode = 0600};
    facts.record_folder_is_writable = true;
    facts.file_system = "tmpfs";
    facts.most_files = 20'000;
    facts.open_files = 30;
    facts.installed_program = "/usr/bin/baton";
    return facts;
}

void expect(const agent_facts& facts, const std::string& id, detail::verdict expected, const std::string& part) {
    for (const detail::finding& each : examine(facts)) {
        if (each.id != id) continue;
        EXPECT_EQ(each.verdict, expected) << id << ": " << each.text;
        EXPECT_NE((each.text + " -> " + each.advice).find(part), std::string::npos)
            << each.text << " -> " << each.advice;
        if (expected != verdict::ok) {
            EXPECT_NE(each.advice, "") << id;
        }
        return;
    }
    ADD_FAILURE() << "no finding " << id;
}

TEST(AgentDoctor, FindsNothingAtAGoodAgentAndWithoutOne) {
    agent_facts facts = good_agent();
    for (const detail::finding& each : examine(facts))
        EXPECT_EQ(each.verdict, verdict::ok) << each.id << ": " << each.text;
    expect(facts, "agent", verdict::ok, "process 77, baton 1, 2 sessions");
    facts = good_agent();
    facts.state = agent_state::none;
    facts.socket = facts.record = {};
    for (const detail::finding& each : examine(facts))
        EXPECT_EQ(each.verdict, verdict::ok) << each.id << ": " << each.text;
    expect(facts, "agent", verdict::ok, "the first client starts one");
}

TEST(AgentDoctor, NamesForeignSilentAndDeadAgents) {
    agent_facts facts = good_agent();
    facts.state = agent_state::none;
    expect(facts, "agent", verdict::warn, "the agent has died");
    facts.state = agent_state::silent;
    expect(facts, "agent", verdict::wrong, "does not reply in time");
    facts.state = agent_state::foreign;
    facts.why = "local:/run/team/agent is taken by process 8 of user 7";
    expect(facts, "agent", verdict::wrong, "process 8 of user 7");
    EXPECT_EQ(examine(facts).size(), 2U) << "its record and limits are not ours";
    facts.state = agent_state::failed;
    facts.why = "Not a directory";
    expect(facts, "agent", verdict::wrong, "Not a directory");
}

TEST(AgentDoctor, ProtocolsOfOtherVersions) {
    agent_facts facts = good_agent();
    facts.own_protocol = 6;
    facts.protocol = 5;
    expect(facts, "protocol", verdict::warn, "version 5, and this program 6");
    facts.protocol = 6;
    expect(facts, "protocol", verdict::ok, "version 6");
}

TEST(AgentDoctor, SocketFiles) {
    agent_facts facts = good_agent();
    facts.others_write_folder = true;
    expect(facts, "socket", verdict::warn, "every user may make files in /run/team");
    facts.socket = {.exists = true, .is_regular = true, .owner = 0, .mode = 0644};
    expect(facts, "socket", verdict::wrong, "is not a socket");
    facts.folder_exists = false;
    expect(facts, "socket", verdict::wrong, "does not exist");
}

TEST(AgentDoctor, AMissingFolderIsOneFinding) {
    agent_facts facts = good_agent();
    facts.state = agent_state::none;
    facts.socket = facts.record = {};
    facts.folder_exists = facts.record_folder_is_writable = false;
    std::string wrong;
    for (const detail::finding& each : examine(facts))
        if (each.verdict != verdict::ok) wrong += each.id + " ";
    EXPECT_EQ(wrong, "socket ");
    expect(facts, "agent", verdict::ok, "no agent runs, and nothing is held");
}

TEST(AgentDoctor, RecordsThatCannotBeWritten) {
    agent_facts facts = good_agent();
    facts.state = agent_state::none;
    facts.record.owner = 5;
    expect(facts, "record", verdict::wrong, "user 5; no agent can start");
    facts.record = {.exists = true, .is_regular = false, .owner = 1'000, .mode = 0600};
    expect(facts, "record", verdict::wrong, "not a regular file");
    facts.record = {};
    facts.file_system_is_full = true;
    expect(facts, "record", verdict::wrong, "full; no agent can start");
    facts.record_folder_is_writable = false;
    expect(facts, "record", verdict::wrong, "BATON_URL=local:PATH");
    facts.state = agent_state::running;
    expect(facts, "record", verdict::warn, "if this agent dies");
    facts = good_agent();
    facts.file_system = "NFS";
    facts.file_system_is_remote = true;
    expect(facts, "record", verdict::warn, "on NFS");
}

TEST(AgentDoctor, LimitsAndPidfds) {
    agent_facts facts = good_agent();
    facts.most_files = 256;
    expect(facts, "limits", verdict::ok, "up to 78 clients at a time");
    facts.open_files = 210;
    expect(facts, "limits", verdict::warn, "210 of 256 files are open");
    facts.most_files = 40;
    expect(facts, "limits", verdict::wrong, "ulimit -Hn");
    facts.has_pidfds = false;
    expect(facts, "pidfd", verdict::warn, "after their ttl");
    facts.installed_program.clear();
    expect(facts, "program", verdict::ok, "install baton");
}

}  // namespace
}  // namespace baton::agent
