// The agent performs the commands that a process sent before it ended, even if the process ended before the agent read
// them. Otherwise the name of a holder that released it would be marked as abandoned.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "raw_client.hpp"

namespace baton::local_tests {
namespace {

/// Runs `body` in a forked process, which exits with 0 if the body returns true.
pid_t in_child(const std::function<bool()>& body) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    try {
        _exit(body() ? 0 : 2);
    } catch (...) {
        _exit(3);
    }
}

/// Opens a session and enters `names` requests, each for its own name. All must be granted.
bool hold(raw_client& client, const std::string& session, int names) {
    if (client.ask(open_words(session)) != "alive") return false;
    std::string bytes;
    for (int i = 1; i <= names; ++i)
        bytes += raw_client::bytes_of(enter_words(session, i, session + "/" + std::to_string(i)));
    if (!client.say_bytes(bytes)) return false;
    for (int i = 1; i <= names; ++i) {
        const auto answer = client.hear();
        const auto events = answer ? resp::decode_reply(*answer) : std::nullopt;
        if (!events || events->events.empty() || !std::holds_alternative<protocol::granted>(events->events[0].what))
            return false;
    }
    return true;
}

std::string leave_bytes(const std::string& session, int number) {
    return raw_client::bytes_of({"BATON.LEAVE", session, std::to_string(number), "clean"});
}

/// Sends that many releases at a time without reading replies.
bool release(raw_client& client, const std::string& session, int names, int at_a_time) {
    for (int i = 1; i <= names;) {
        std::string bytes;
        for (const int end = i + at_a_time; i < end; ++i) bytes += leave_bytes(session, i);
        if (!client.say_bytes(bytes)) return false;
    }
    return true;
}

class LastCommands : public testing::Test {
protected:
    snapshot inspect() {
        raw_client client{place.path()};
        client.say({"BATON.INSPECT"});
        return resp::decode_snapshot(client.hear().value_or(resp::value{})).value_or(snapshot{});
    }
    /// Waits until the agent has noticed that all processes have ended.
    void expect_no_marks() {
        snapshot seen;
        ASSERT_TRUE(eventually([&] { return (seen = inspect()).sessions == 0; }))
            << seen.sessions << " sessions are left";
        const auto marked =
            std::ranges::count_if(seen.resources, [](const auto& each) { return each.mark.has_value(); });
        EXPECT_EQ(marked, 0) << "names are marked as abandoned although they were released";
        EXPECT_TRUE(seen.requests.empty());
    }
    static void expect_success(pid_t child) {
        int status = -1;
        waitpid(child, &status, 0);
        ASSERT_EQ(status, 0);
    }

    workplace place;
    agent_process agent{place};
};

TEST_F(LastCommands, EightProcessesThatReleaseAndExitLeaveNoMarks) {
    constexpr int rounds = 100;
    constexpr int names = 10;
    std::vector<pid_t> children;
    for (int each = 0; each < 8; ++each)
        children.push_back(in_child([&, each] {
            for (int round = 0; round < rounds; ++round) {
                const pid_t holder = in_child([&] {
                    raw_client client{place.path()};
                    const std::string session = numbered_session(1'000 * each + round);
                    return hold(client, session, names) && release(client, session, names, 1);
                });
                int status = -1;
                waitpid(holder, &status, 0);
                if (status != 0) return false;
            }
            return true;
        }));
    for (const pid_t child : children) expect_success(child);
    expect_no_marks();
}

TEST_F(LastCommands, ArePerformedAfterAStopOfTheAgent) {
    // A socket's buffer takes 50 messages of 1,640 bytes, so that the processes can exit while the agent reads nothing.
    constexpr int names = 1'000;
    std::array<int, 2> go{};
    ASSERT_EQ(pipe(go.data()), 0);
    std::array<int, 2> ready{};
    ASSERT_EQ(pipe(ready.data()), 0);
    std::vector<pid_t> children;
    for (int each = 0; each < 8; ++each)
        children.push_back(in_child([&, each] {
            close(go[1]);
            raw_client client{place.path()};
            const std::string session = numbered_session(each);
            if (!hold(client, session, names) || write(ready[1], "", 1) != 1) return false;
            char end = 0;
            if (read(go[0], &end, 1) != 0) return false;
            return release(client, session, names, 20);
        }));
    close(go[0]);
    close(ready[1]);
    for (char byte = 0; byte < 8; ++byte) {
        char said = 0;
        ASSERT_EQ(read(ready[0], &said, 1), 1);
    }
    close(ready[0]);
    kill(agent.process(), SIGSTOP);
    close(go[1]);
    for (const pid_t child : children) expect_success(child);
    kill(agent.process(), SIGCONT);
    expect_no_marks();
}

// The agent stops reading from a client that does not read its replies: then the releases wait in the agent's decoder,
// or in the socket.
TEST_F(LastCommands, ArePerformedIfTheProcessDidNotReadItsReplies) {
    constexpr int names = 500;
    constexpr int questions = 40;  // each reply names all requests: together more than the agent keeps for a client
    expect_success(in_child([&] {
        raw_client client{place.path()};
        const std::string session = numbered_session(1);
        if (!hold(client, session, names)) return false;
        std::string bytes;
        for (int i = 0; i < questions; ++i) bytes += raw_client::bytes_of({"BATON.INSPECT"});
        for (int i = 1; i <= names; ++i) bytes += leave_bytes(session, i);
        if (!client.say_bytes(bytes)) return false;
        // The agent has stopped reading when the first replies arrive, or it stops after this process has ended.
        pollfd some{client.socket(), POLLIN, 0};
        return poll(&some, 1, 20'000) == 1;
    }));
    expect_no_marks();
}

TEST_F(LastCommands, ArePerformedForEverySizeOfTheSocketBuffer) {
    constexpr int wanted = 16 << 20;
    std::array<int, 2> ready{};
    ASSERT_EQ(pipe(ready.data()), 0);
    std::array<int, 2> go{};
    ASSERT_EQ(pipe(go.data()), 0);
    const pid_t child = in_child([&] {
        close(go[1]);
        raw_client client{place.path()};
        const std::string session = numbered_session(1);
        if (!hold(client, session, 1) || write(ready[1], "", 1) != 1) return false;
        char end = 0;
        if (read(go[0], &end, 1) != 0) return false;
        // Only root gets a buffer of this size. Other users get the machine's maximum.
        if (setsockopt(client.socket(), SOL_SOCKET, SO_SNDBUFFORCE, &wanted, sizeof wanted) != 0)
            setsockopt(client.socket(), SOL_SOCKET, SO_SNDBUF, &wanted, sizeof wanted);
        int size = 0;
        socklen_t length = sizeof size;
        getsockopt(client.socket(), SOL_SOCKET, SO_SNDBUF, &size, &length);
        const std::string large = raw_client::bytes_of({"PING", std::string(32'000, 'x')});
        for (int sent = 0; sent < size / 3; sent += static_cast<int>(large.size()))
            if (!client.say_bytes(large)) return false;
        return client.say_bytes(leave_bytes(session, 1));
    });
    close(ready[1]);
    char said = 0;
    ASSERT_EQ(read(ready[0], &said, 1), 1);
    close(ready[0]);
    kill(agent.process(), SIGSTOP);
    close(go[0]);
    close(go[1]);
    expect_success(child);
    kill(agent.process(), SIGCONT);
    expect_no_marks();
}

}  // namespace
}  // namespace baton::local_tests
