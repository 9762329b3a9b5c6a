// `baton doctor` on agents, and its command line.
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "../sockets.hpp"
#include "doctor.hpp"

namespace baton::testing {
namespace {

class DoctorOnLocal : public Doctor {
protected:
    [[nodiscard]] std::string path() const { return folder_.path("agent"); }
    [[nodiscard]] std::string address() const { return "local:" + path(); }
    void start_agent() {
        agent_.emplace(baton({"agent", "--foreground", "--address", address(), "--max-ttl-ms", "1000"}));
        ASSERT_TRUE(eventually([this] { return answers(endpoint{path()}); }));
    }

    std::optional<child> agent_;
};

TEST_F(DoctorOnLocal, NoAgentIsFineAndNoneIsStarted) {
    const doctor_report report = examined({address()});
    EXPECT_EQ(report.code, 0) << report.text;
    EXPECT_NE(report.field("agent", "text").find("the first client starts one"), std::string::npos) << report.text;
    EXPECT_NE(report.field("record", "text").find(path() + ".state"), std::string::npos) << report.text;
    EXPECT_FALSE(std::filesystem::exists(path()));
    EXPECT_FALSE(std::filesystem::exists(path() + ".state"));
}

TEST_F(DoctorOnLocal, AnAgentIsShownWithItsProcess) {
    start_agent();
    const doctor_report report = examined({address()});
    EXPECT_EQ(report.code, 0) << report.text;
    EXPECT_TRUE(report.text.starts_with(address() + "\n")) << report.text;
    EXPECT_NE(report.field("agent", "text").find("process " + std::to_string(agent_->id()) + ", baton "),
              std::string::npos)
        << report.text;
    EXPECT_NE(report.field("agent", "text").find("0 sessions"), std::string::npos) << report.text;
    EXPECT_EQ(report.verdict("protocol"), "ok") << report.text;
    EXPECT_NE(report.field("socket", "text").find("mode 0600"), std::string::npos) << report.text;
    EXPECT_NE(report.field("limits", "text").find("files are open"), std::string::npos) << report.text;
}

TEST_F(DoctorOnLocal, AHolderIsCountedAsASession) {
    start_agent();
    start_options run =
        baton({"run", "-t", "1s", "-l", "a", "--url", address(), "--", "sh", "-c", "echo up; sleep 1000"});
    child holder{run};
    ASSERT_TRUE(holder.says("up")) << holder.err();
    EXPECT_NE(examined({"--url", address()}).field("agent", "text").find("1 session "), std::string::npos);
    holder.signal(SIGTERM);
    EXPECT_TRUE(holder.wait());
}

TEST_F(DoctorOnLocal, AStoppedAgentEndsWith69) {
    start_agent();
    agent_->signal(SIGSTOP);
    ASSERT_TRUE(eventually([this] { return state_of(agent_->id()) == 'T'; }));
    const doctor_report report = examined({address()});
    agent_->signal(SIGCONT);
    EXPECT_EQ(report.code, 69) << report.text;
    EXPECT_EQ(report.json["reachable"], false);
    EXPECT_NE(report.field("agent", "text").find("does not reply in time"), std::string::npos) << report.text;
}

TEST_F(DoctorOnLocal, ADeadAgentsSocketIsAWarning) {
    start_agent();
    agent_->signal(SIGKILL);
    ASSERT_TRUE(agent_->wait());
    const doctor_report report = examined({address()});
    EXPECT_EQ(report.code, 1);
    EXPECT_EQ(report.verdict("agent"), "warn") << report.text;
    EXPECT_NE(report.field("agent", "text").find("has died"), std::string::npos) << report.text;
}

TEST_F(DoctorOnLocal, AnObstacleToTheAgentsStartIsAFault) {
    std::ofstream{path()} << "a file";
    EXPECT_EQ(examined({address()}).verdict("socket"), "wrong");
    const doctor_report missing = examined({"local:" + folder_.path("none/agent")});
    EXPECT_EQ(missing.code, 1);
    EXPECT_EQ(missing.verdict("socket"), "wrong") << missing.text;
    EXPECT_EQ(missing.verdict("record"), "") << "one cause has one finding: " << missing.text;
    const std::string open = folder_.path("open");
    std::filesystem::create_directory(open);
    ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
    EXPECT_EQ(examined({"local:" + open + "/agent"}).verdict("socket"), "warn");
    std::filesystem::create_directory(folder_.path("agent2.state"));
    EXPECT_EQ(examined({"local:" + folder_.path("agent2")}).verdict("record"), "wrong");
}

TEST_F(DoctorOnLocal, MemoryIsRefused) {
    child refused{baton({"doctor"})};  // BATON_URL is memory:
    EXPECT_EQ(refused.wait(), 64);
    EXPECT_NE(refused.err().find("memory: is inside one process, so no other program can see its locks"),
              std::string::npos)
        << refused.err();
    child wrong{baton({"doctor", "http://db"})};
    EXPECT_EQ(wrong.wait(), 78);
}

}  // namespace
}  // namespace baton::testing
