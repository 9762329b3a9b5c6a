// One agent and processes in other PID namespaces, as with a socket file on a volume that containers share. Process
// numbers differ there, so each process passes pidfds over the socket.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "actor_process.hpp"
#include "raw_client.hpp"
#include "sandbox.hpp"
#include "system/process_stat.hpp"

namespace baton::local_tests {
namespace {

/// A command line that runs a command in its own PID namespace, below `unshare`, whose death kills the command.
std::vector<std::string> contained(const std::vector<std::string>& command) {
    std::vector<std::string> words{"/usr/bin/unshare", "--pid", "--fork", "--mount-proc", "--kill-child"};
    if (geteuid() != 0) words.insert(words.end(), {"--user", "--map-root-user"});
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

/// The first process below `root` with that name, by its number in this namespace; 0 if there is none.
pid_t find_below(pid_t root, const std::string& name) {
    const auto is_below = [root](pid_t process) {
        for (auto seen = read_process_stat(process); seen && seen->parent > 0; seen = read_process_stat(seen->parent))
            if (seen->parent == root) return true;
        return false;
    };
    for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
        const std::string number = entry.path().filename();
        if (number.find_first_not_of("0123456789") != std::string::npos) continue;
        const auto process = static_cast<pid_t>(std::stol(number));
        if (contents(entry.path() / "comm") == name + "\n" && is_below(process)) return process;
    }
    return 0;
}

/// The features of the agent's kernel. They do not affect clients that pass their own pidfds.
enum class kernel : std::uint8_t { with_peer_pidfds, without };

/// Names the tests.
void PrintTo(kernel kernel, std::ostream* out) {
    *out << (kernel == kernel::with_peer_pidfds ? "WithPeerPidfds" : "WithoutPeerPidfds");
}

class Namespaces : public testing::TestWithParam<kernel> {
protected:
    void SetUp() override {
        actor_process trial{contained({"/bin/true"})};
        if (trial.wait() != 0) GTEST_SKIP() << "PID namespaces are not available here";
    }
    static std::function<void()> agent_setup() {
        if (GetParam() == kernel::with_peer_pidfds) return {};
        return [] { deny({SYS_pidfd_open}, peer_pidfd_option); };
    }
    /// `baton run` on the name `ledger`. The ttl is far longer than any test waits.
    [[nodiscard]] std::vector<std::string> run_words(std::vector<std::string> options,
                                                     const std::string& ttl = "300s") const {
        std::vector<std::string> words{BATON_PROGRAM, "run", "--url", place.url(), "--ttl", ttl, "-l", "ledger"};
        words.insert(words.end(), options.begin(), options.end());
        const std::vector<std::string> command{"--", "/bin/sh", "-c", "trap '' TERM; echo up; exec sleep 1000"};
        words.insert(words.end(), command.begin(), command.end());
        return words;
    }
    /// A shell is the first process of the namespace, so that others can be killed alone. It prepares `first`.
    [[nodiscard]] static std::vector<std::string> below_shell(std::vector<std::string> words,
                                                              const std::string& first = ":") {
        words.insert(words.begin(), {"/bin/sh", "-c", first + "; \"$@\"; exec sleep 1000", "sh"});
        return contained(words);
    }
    /// The agent's state after it has processed all earlier events.
    [[nodiscard]] snapshot inspect() const {
        snapshot seen;
        for (int i = 0; i < 3; ++i) {  // it replies to a new connection after earlier events
            raw_client later{place.path()};
            later.say({"BATON.INSPECT"});
            seen = resp::decode_snapshot(later.hear().value_or(resp::value{})).value_or(snapshot{});
        }
        return seen;
    }
    [[nodiscard]] bool wait_for_requests(std::size_t count) const {
        return eventually([&] { return inspect().requests.size() == count; });
    }
    /// The fence of the holder; 0 if there is none.
    [[nodiscard]] std::uint64_t fence() const {
        const snapshot seen = inspect();
        return seen.requests.empty() ? 0 : seen.requests.front().fence;
    }

    workplace place;
    agent_process agent{place, {"--max-ttl-ms", "600000"}, agent_setup()};
};

INSTANTIATE_TEST_SUITE_P(Kernel, Namespaces, testing::Values(kernel::with_peer_pidfds, kernel::without));

TEST_P(Namespaces, ContainersExcludeEachOtherAndAKilledHolderPassesTheLockOn) {
    actor_process holder{contained(run_words({}))};
    ASSERT_EQ(holder.hear("up"), "up");
    actor_process other{contained(run_words({"-n"}))};
    const int status = other.wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 75) << status;
    actor_process heir{contained(run_words({}))};
    ASSERT_TRUE(wait_for_requests(2));
    actor_process outside{run_words({"-k", "100ms"})};  // its command ignores TERM, and the test waits for its end
    ASSERT_TRUE(wait_for_requests(3));
    EXPECT_TRUE(heir.silent_about("up"));
    holder.end(SIGKILL);
    ASSERT_EQ(heir.hear("up"), "up");
    EXPECT_TRUE(outside.silent_about("up"));
    heir.end(SIGKILL);
    EXPECT_EQ(outside.hear("up"), "up") << "a process in the agent's own namespace";
}

TEST_P(Namespaces, ASessionOfARunLivesAsLongAsItsGuardian) {
    actor_process holder{below_shell(run_words({"-k", "100s"}))};  // the guardian's wait, because TERM is ignored
    ASSERT_EQ(holder.hear("up"), "up");
    const pid_t baton = find_below(holder.process(), "baton");
    const pid_t guardian = find_below(holder.process(), "baton-guardian");
    ASSERT_GT(baton, 0);
    ASSERT_GT(guardian, 0);
    actor_process heir{contained(run_words({}))};
    ASSERT_TRUE(wait_for_requests(2));
    const std::uint64_t held = fence();
    kill(baton, SIGKILL);
    ASSERT_TRUE(eventually([&] { return find_below(holder.process(), "baton") == 0; }));
    EXPECT_EQ(fence(), held) << "the guardian lives, and so does the command";
    kill(guardian, SIGKILL);
    EXPECT_EQ(heir.hear("up"), "up") << "both have ended";
}

// In the other namespace, baton gets the number before that of the unrelated process, and the guardian the same number.
TEST_P(Namespaces, AProcessWithTheSameNumberInTheAgentsNamespaceIsIgnored) {
    for (const bool unrelated_ends : {true, false}) {
        actor_process unrelated{{"/bin/cat"}};
        const std::string number = std::to_string(unrelated.process() - 2);
        actor_process holder{
            below_shell(run_words({"-k", "100s"}), "echo " + number + " >/proc/sys/kernel/ns_last_pid")};
        ASSERT_EQ(holder.hear("up"), "up");
        const pid_t baton = find_below(holder.process(), "baton");
        const pid_t guardian = find_below(holder.process(), "baton-guardian");
        const std::string status = contents("/proc/" + std::to_string(guardian) + "/status");
        ASSERT_NE(status.find("\t" + std::to_string(unrelated.process()) + "\n"), std::string::npos)
            << "the guardian has another number than the test needs: " << status;
        actor_process heir{contained(run_words({}))};
        ASSERT_TRUE(wait_for_requests(2));
        const std::uint64_t held = fence();
        kill(baton, SIGKILL);
        ASSERT_TRUE(eventually([&] { return find_below(holder.process(), "baton") == 0; }));
        if (unrelated_ends) unrelated.end(SIGKILL);
        EXPECT_EQ(fence(), held) << "the end of an unrelated process passed the lock on";
        kill(guardian, SIGKILL);
        EXPECT_EQ(heir.hear("up"), "up") << "the session lives on with an unrelated process";
        heir.end(SIGKILL);
        ASSERT_TRUE(wait_for_requests(0));
    }
}

// A sandbox without pidfds in the container: runs work, and the ttl alone counts.
TEST_P(Namespaces, ARunWithoutPidfdsEndsWithItsTtl) {
    const auto no_pidfds = [] { deny({SYS_pidfd_open}); };
    actor_process holder{below_shell(run_words({})), no_pidfds};
    ASSERT_EQ(holder.hear("up"), "up");
    const std::uint64_t held = fence();
    const pid_t guardian = find_below(holder.process(), "baton-guardian");
    kill(guardian, SIGSTOP);
    kill(find_below(holder.process(), "baton"), SIGKILL);
    ASSERT_TRUE(eventually([&] { return find_below(holder.process(), "baton") == 0; }));
    ASSERT_EQ(fence(), held) << "the guardian lives, and so does the command";
    holder.end(SIGKILL);
    raw_client operating{place.path()};
    operating.say({"BATON.REVOKE", "ledger", std::to_string(inspect().requests.front().ticket), "", "now"});
    ASSERT_TRUE(wait_for_requests(0));
    actor_process brief{contained(run_words({}, "1s")), no_pidfds};
    ASSERT_EQ(brief.hear("up"), "up");
    actor_process heir{contained(run_words({}))};
    ASSERT_TRUE(wait_for_requests(2));
    brief.end(SIGKILL);
    EXPECT_EQ(heir.hear("up"), "up") << "after its ttl, 1 s";
}

}  // namespace
}  // namespace baton::local_tests
