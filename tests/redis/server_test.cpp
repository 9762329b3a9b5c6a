// The private server of the fault tests.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "../contents.hpp"
#include "private_server.hpp"
#include "server_clock.hpp"

namespace baton::redis_tests {
namespace {

using namespace std::chrono_literals;

class PrivateServer : public testing::Test {
protected:
    void SetUp() override {
        if (!find_server()) GTEST_SKIP() << no_server;
    }
};

TEST_F(PrivateServer, RepliesAtItsSocketAndAtItsPort) {
    const private_server server{{.tcp = true}};
    EXPECT_EQ(server.ask({"ECHO", "hello"}).text, "hello");
    EXPECT_EQ(resp_client{server.tcp()}.call({"PING"}).value().text, "PONG");
}

TEST_F(PrivateServer, TakesSettings) {
    const private_server server{{.settings = {"--maxmemory", "5mb"}}};
    EXPECT_EQ(server.ask({"CONFIG", "GET", "maxmemory"}).items.at(1).text, "5242880");
    EXPECT_THROW((private_server{{.settings = {"--no-such-setting", "1"}}}), std::runtime_error);
}

TEST_F(PrivateServer, KeepsItsDataInItsFolderOnly) {
    for (const bool keeps : {false, true}) {
        private_server server{{.keeps_data = keeps}};
        ASSERT_EQ(server.ask({"SET", "a", "1"}).text, "OK");
        server.kill();
        EXPECT_FALSE(answers(server.at()));
        server.start();
        EXPECT_EQ(server.ask({"EXISTS", "a"}).number, keeps ? 1 : 0);
        server.kill();
        server.forget();
        server.start();
        EXPECT_EQ(server.ask({"EXISTS", "a"}).number, 0);
    }
}

TEST_F(PrivateServer, RestoresAnOlderCopyOfItsData) {
    for (const bool keeps : {false, true}) {
        private_server server{{.keeps_data = keeps}};
        ASSERT_EQ(server.ask({"SET", "a", "old"}).text, "OK");
        server.copy_aside("then");
        ASSERT_EQ(server.ask({"SET", "a", "new"}).text, "OK");
        server.kill();
        server.put_back("then");
        server.start();
        EXPECT_EQ(server.ask({"GET", "a"}).text, "old") << keeps;
    }
}

TEST_F(PrivateServer, IsSilentWhileItIsStopped) {
    const private_server server;
    resp_client client{server.at()};
    server.stop();
    ASSERT_TRUE(client.say({"PING"}));
    EXPECT_FALSE(client.hear(50ms));
    server.go_on();
    EXPECT_TRUE(client.hear());
}

TEST_F(PrivateServer, DiesWithTheTest) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const pid_t test = fork();
    if (test == 0) {
        const private_server server;
        const pid_t process = server.process();
        if (write(pipe[1], &process, sizeof process) != sizeof process) _exit(1);
        raise(SIGKILL);
    }
    pid_t process = 0;
    ASSERT_EQ(read(pipe[0], &process, sizeof process), static_cast<ssize_t>(sizeof process));
    waitpid(test, nullptr, 0);
    close(pipe[0]);
    close(pipe[1]);
    // In a container it may not be reaped: then it is a zombie, without a command line.
    EXPECT_TRUE(eventually([&] { return contents("/proc/" + std::to_string(process) + "/cmdline").empty(); }));
}

TEST_F(PrivateServer, ItsClockStepsForwardAndBack) {
    const folder files;
    server_clock clock{files.path("clock")};
    const private_server server{{.clock = &clock}};
    const auto time = [&] {
        const auto answer = server.ask({"TIME"});
        return std::chrono::seconds{std::stoll(answer.items.at(0).text)} +
               std::chrono::microseconds{std::stoll(answer.items.at(1).text)};
    };
    const auto expect_time = [&](std::chrono::microseconds offset) {
        const auto before = std::chrono::system_clock::now().time_since_epoch();
        const auto shown = time() - offset;
        const auto after = std::chrono::system_clock::now().time_since_epoch();
        EXPECT_GE(shown, std::chrono::floor<std::chrono::microseconds>(before));
        EXPECT_LE(shown, after);
    };
    expect_time(0us);
    for (const auto offset : {3'600'000'000us, -1us, 999'999us, -7'200'500'001us}) {
        clock.jump(offset);
        expect_time(offset);
        clock.jump(-offset);
    }
    expect_time(0us);
}

TEST_F(PrivateServer, KeysExpireByItsClock) {
    const folder files;
    server_clock clock{files.path("clock")};
    const private_server server{{.clock = &clock}};
    ASSERT_EQ(server.ask({"SET", "a", "1", "PX", "60000"}).text, "OK");
    clock.jump(61s);
    EXPECT_EQ(server.ask({"EXISTS", "a"}).number, 0);
}

}  // namespace
}  // namespace baton::redis_tests
