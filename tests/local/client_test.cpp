// Programs that use local: through the library.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "actor_process.hpp"
#include "baton/baton.hpp"
#include "program/start_agent.hpp"
#include "sandbox.hpp"
#include "stores/local/local_store.hpp"

namespace {
std::atomic<int> detached_threads{0};
}

/// Replaces the function of the C library and calls it.
extern "C" int pthread_detach(pthread_t thread) noexcept {
    ++detached_threads;
    using function = int (*)(pthread_t);
    return reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_detach"))(thread);
}

namespace baton::local_tests {
namespace {

class Local : public testing::Test {
protected:
    void SetUp() override { detail::use_agent_program(BATON_PROGRAM); }
    void TearDown() override { detail::use_agent_program({}); }
    workplace place;
};

template <typename Function> std::error_code error_of(Function function) {
    try {
        function();
    } catch (const error& caught) {
        return caught.code();
    }
    return {};
}

TEST_F(Local, TheFirstUseStartsAnAgent) {
    client client{place.url()};
    const lease lease = client.acquire(exclusive("ledger"));
    EXPECT_TRUE(lease.valid());
    EXPECT_GT(lease.fence(), 0U);
    EXPECT_EQ(place.agents().size(), 1U);
}

TEST_F(Local, OperatorCommandsWorkAsTheFirstCommand) {
    client client{place.url()};
    EXPECT_TRUE(client.inspect().resources.empty());
    client.resize("gpu", 2);
    EXPECT_EQ(client.inspect().resources.size(), 1U);
}

// A busy machine may take long to start a program; the first command must not fail because of that.
TEST_F(Local, ClientsWaitForAnAgentThatStartsSlowly) {
    const std::string slow = place.path("slow");
    std::ofstream{slow} << "#!/bin/sh\nsleep 1.3\nexec " << BATON_PROGRAM << " \"$@\"\n";
    std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
    detail::use_agent_program(slow);
    client client{place.url()};
    EXPECT_TRUE(client.inspect().resources.empty());
}

// A program may end right after its client: a thread that is not joined would run during static destruction.
TEST_F(Local, ADestroyedClientHasJoinedItsThreads) {
    const int before = detached_threads;
    for (int round = 0; round < 300; ++round) {
        client client{place.url()};
        const lease lease = client.acquire(exclusive("ledger"));
    }
    EXPECT_EQ(detached_threads, before);
}

TEST_F(Local, ProgramsShareLocks) {
    client mine{place.url()};
    lease held = mine.acquire(exclusive("ledger"));
    actor_process other{place.url(), "ledger"};
    EXPECT_EQ(other.hear("queued"), "queued");
    EXPECT_EQ(mine.inspect().requests.size(), 2U);
    held.release();
    EXPECT_NE(other.hear("held"), "");
    EXPECT_FALSE(mine.try_acquire(exclusive("ledger")));
}

TEST_F(Local, WithoutAnAgentAndAProgramTheErrorIsNoAgent) {
    detail::use_agent_program("/nonexistent/baton");
    client client{place.url()};
    std::error_code error;
    static_cast<void>(client.acquire(exclusive("ledger"), {}, error));
    EXPECT_EQ(error, errc::no_agent);
    EXPECT_EQ(error_of([&] { static_cast<void>(client.inspect()); }), errc::no_agent);
    EXPECT_EQ(error_of([&] { client.mend("ledger"); }), errc::no_agent);
}

TEST_F(Local, IfNoAgentCanServeTheErrorNamesTheReason) {
    client client{"local:" + place.path("no/such/folder")};
    std::error_code error;
    static_cast<void>(client.acquire(exclusive("ledger"), {}, error));
    EXPECT_EQ(error, errc::no_agent);
}

TEST_F(Local, AClientThatMayNotStartAnAgentStartsNone) {
    client client{detail::local_store(detail::parse_local_address(place.path()), {.companion = {}, .start = false})};
    std::error_code error;
    static_cast<void>(client.acquire(exclusive("ledger"), {}, error));
    EXPECT_EQ(error, errc::no_agent);
    EXPECT_TRUE(place.agents().empty());
}

// Daemons close their standard streams, and the descriptors that are opened next get those numbers.
TEST_F(Local, AProgramWithoutStandardStreamsStartsAnAgent) {
    const pid_t child = launch({BATON_PROGRAM, "agent", "--address", place.url()}, [] {
        for (const int each : {0, 1, 2}) close(each);
    });
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(answers(place.path()));
}

TEST_F(Local, WithoutCloseRangeNoDescriptorIsInherited) {
    const int secret = open("/dev/zero", O_RDONLY);  // without FD_CLOEXEC
    const pid_t child = launch({BATON_PROGRAM, "agent", "--address", place.url()}, [] { deny({SYS_close_range}); });
    int status = -1;
    waitpid(child, &status, 0);
    close(secret);
    EXPECT_EQ(status, 0);
    const auto agents = place.agents();
    ASSERT_EQ(agents.size(), 1U);
    for (const auto& each : std::filesystem::directory_iterator{"/proc/" + std::to_string(agents[0]) + "/fd"})
        EXPECT_NE(std::filesystem::read_symlink(each.path()), "/dev/zero");
}

TEST_F(Local, TheProgramIsFoundInPath) {
    detail::use_agent_program({});
    const std::string before = getenv("PATH");
    std::filesystem::create_directories(place.path("other/baton"));
    const std::filesystem::path program = BATON_PROGRAM;
    setenv("PATH", (".:relative:" + place.path("other") + "::" + program.parent_path().string()).c_str(), 1);
    client client{place.url()};
    std::error_code error;
    static_cast<void>(client.acquire(exclusive("ledger"), {}, error));
    setenv("PATH", before.c_str(), 1);
    EXPECT_FALSE(error) << error.message();
}

/// Replies to every handshake with one line and disconnects, like an agent of another version.
class other_version {
public:
    /// With `leaves`, it frees its address with its first reply.
    other_version(const std::string& path, std::string answer, bool leaves)
        : path_{path}, answer_{std::move(answer)}, leaves_{leaves} {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        if (bind(socket_, static_cast<sockaddr*>(static_cast<void*>(&address)), sizeof address) != 0 ||
            listen(socket_, 8) != 0)
            throw std::runtime_error{"cannot listen"};
        thread_ = std::jthread{[this] { serve(); }};
    }
    other_version(const other_version&) = delete;
    other_version& operator=(const other_version&) = delete;
    ~other_version() {
        shutdown(socket_, SHUT_RDWR);
        thread_.join();
        close(socket_);
    }
    [[nodiscard]] int handshakes() const { return handshakes_; }

private:
    void serve() {
        for (int peer = accept(socket_, nullptr, nullptr); peer >= 0; peer = accept(socket_, nullptr, nullptr)) {
            std::array<char, 1'024> handshake{};
            if (recv(peer, handshake.data(), handshake.size(), 0) <= 0) return;
            ++handshakes_;
            if (leaves_) {
                std::filesystem::remove(path_);
                shutdown(socket_, SHUT_RDWR);
            }
            if (send(peer, answer_.data(), answer_.size(), MSG_NOSIGNAL) < 0) return;
            close(peer);
        }
    }

    std::string path_;
    std::string answer_;
    bool leaves_;
    std::atomic<int> handshakes_{0};
    int socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::jthread thread_;
};

TEST_F(Local, AnIdleAgentOfAnotherVersionIsReplaced) {
    const other_version old{place.path(), "-RETIRING this agent makes way\r\n", true};
    client client{place.url()};
    EXPECT_TRUE(client.acquire(exclusive("ledger"), {.wait = 10s}).valid());
    EXPECT_EQ(old.handshakes(), 1);
    EXPECT_EQ(place.agents().size(), 1U);
}

TEST_F(Local, AnAgentOfAnotherVersionThatIsInUseIsAClearError) {
    const other_version old{place.path(), "-VERSION this agent is in use and cannot make way\r\n", false};
    client client{place.url()};
    std::error_code error;
    static_cast<void>(client.acquire(exclusive("ledger"), {.wait = 10s}, error));
    EXPECT_EQ(error, errc::version_mismatch);
    EXPECT_NE(error.message().find("another version"), std::string::npos);
    EXPECT_TRUE(place.agents().empty());
}

// The program that clients find has another version than the clients: its agents end for them again and again.
TEST_F(Local, AgentsOfAnotherVersionAreNotStartedForEver) {
    const other_version old{place.path(), "-RETIRING this agent makes way\r\n", false};
    client client{place.url()};
    std::error_code error;
    static_cast<void>(client.acquire(exclusive("ledger"), {.wait = 10s}, error));
    EXPECT_EQ(error, errc::version_mismatch);
    EXPECT_LE(old.handshakes(), 4);
}

TEST_F(Local, InvalidAddressesAreRefused) {
    for (const std::string& url :
         {"local:" + std::string(200, 'x'), std::string{"local:?space="}, std::string{"local:?space=a b"},
          std::string{"local:?colour=red"}, "local:?space=" + std::string(65, 'x')})
        EXPECT_EQ(error_of([&] { static_cast<void>(make_store(url)); }), errc::bad_url) << url;
    EXPECT_EQ(detail::parse_local_address("sock").path, std::filesystem::current_path() / "sock");
    EXPECT_EQ(detail::parse_local_address("/a/../b?space=jobs").path, "/b");
    EXPECT_EQ(detail::parse_local_address("?space=jobs").space, "jobs");
}

/// One socket file has one address, whatever path leads to it.
TEST_F(Local, SymbolicLinksAreResolvedWhereTheResultFits) {
    const std::filesystem::path folder = std::filesystem::path{place.path()}.parent_path();
    const std::filesystem::path link = folder / "link";
    std::filesystem::create_directory(folder / "real");
    std::filesystem::create_directory_symlink(folder / "real", link);
    EXPECT_EQ(detail::parse_local_address((link / "sock").native()).path, folder / "real/sock");
    EXPECT_EQ(detail::parse_local_address((link / "../sock").native()).path, folder / "sock") << "as the kernel goes";
    EXPECT_EQ(detail::parse_local_address((folder / "no/such/../sock").native()).path, folder / "no/sock");
    // A link may make a long path short enough for a socket.
    const std::filesystem::path deep = folder / std::string(100, 'x');
    std::filesystem::create_directory(deep);
    std::filesystem::create_directory_symlink(deep, folder / "short");
    EXPECT_EQ(detail::parse_local_address((folder / "short/sock").native()).path, folder / "short/sock");
}

TEST_F(Local, AShortStopOfTheAgentHasNoEffect) {
    agent_process agent{place};
    client client{place.url()};
    const lease held = client.acquire(exclusive("ledger"));
    kill(agent.process(), SIGSTOP);
    std::error_code error;
    static_cast<void>(client.acquire(exclusive("other"), {.wait = 100ms}, error));
    EXPECT_EQ(error, errc::store_unavailable);
    EXPECT_TRUE(held.valid());
    kill(agent.process(), SIGCONT);
    EXPECT_TRUE(client.acquire(exclusive("other")).valid());
    EXPECT_TRUE(held.valid());
}

TEST_F(Local, AForkedChildDoesNotReleaseItsParentsLeases) {
    client client{place.url()};
    const lease held = client.acquire(exclusive("ledger"));
    const pid_t child = fork();
    if (child == 0) {
        std::error_code error;
        static_cast<void>(client.acquire(exclusive("other"), {}, error));
        _exit(error == errc::forked ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(held.valid());
    actor_process other{place.url(), "ledger"};
    EXPECT_EQ(other.hear("queued"), "queued");
}

// The pidfd that a client passes is that of the connecting process, not of the process that forked it.
TEST_F(Local, TheLeasesOfAForkedChildEndWithTheChild) {
    client mine{place.url()};
    const lease held = mine.acquire(exclusive("ledger"));
    std::array<int, 2> news{};
    ASSERT_EQ(pipe2(news.data(), O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        client own{place.url()};
        const lease other = own.acquire(exclusive("other"));
        if (write(news[1], "", 1) == 1) pause();
        _exit(1);
    }
    close(news[1]);
    char said = 0;
    ASSERT_EQ(read(news[0], &said, 1), 1);
    close(news[0]);
    EXPECT_FALSE(mine.try_acquire(exclusive("other")));
    kill(child, SIGKILL);
    const auto start = std::chrono::steady_clock::now();
    const lease heir = mine.acquire(exclusive("other"));
    EXPECT_EQ(heir.abandoned().size(), 1U);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s) << "its ttl is 10 s; no waiter may wait for that";
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(held.valid());
}

TEST_F(Local, StartingAnAgentAddsNoChildToTheProgram) {
    client client{place.url()};
    EXPECT_TRUE(client.acquire(exclusive("ledger")).valid());
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

TEST_F(Local, ManyThreadsShareOneConnection) {
    client client{place.url()};
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&] {
                for (int round = 0; round < 100; ++round) {
                    const lease lease = client.acquire(exclusive("ledger"));
                    most = std::max(most.load(), ++inside);
                    --inside;
                }
            });
    }
    EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace baton::local_tests
