// Clients and leases with static or thread storage duration: their program ends with its own exit code, at once and
// without a crash. Each program runs several times, because the faults depend on the order of threads.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <optional>
#include <ostream>
#include <string>

#include "../eventually.hpp"
#include "../launch.hpp"
#include "any_store.hpp"

namespace baton::client_tests {
namespace {

/// The status of a program from waitpid; none if it was killed because it did not end.
std::optional<int> run(const std::string& program, const std::string& url) {
    const pid_t process = launch({program}, [&] { setenv("BATON_TEST_URL", url.c_str(), 1); });
    int status = 0;
    if (eventually([&] { return waitpid(process, &status, WNOHANG) == process; })) return status;
    kill(process, SIGKILL);
    waitpid(process, &status, 0);
    return {};
}

std::string described(const std::optional<int>& status) {
    if (!status) return "does not end";
    if (WIFSIGNALED(*status)) return "was ended by signal " + std::to_string(WTERMSIG(*status));
    return "ended with exit code " + std::to_string(WEXITSTATUS(*status));
}

struct exit_case {
    std::string name;
    std::string program;
    int code = 0;

    friend void PrintTo(const exit_case& shown, std::ostream* out) { *out << shown.name; }
};

class Exit : public testing::TestWithParam<exit_case> {};

/// g++ 12's sanitizers do not survive the fork of a process with threads: the child may find their allocator locked.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool can_fork = false;
#else
constexpr bool can_fork = true;
#endif

TEST_P(Exit, EndsTheProgramWithItsOwnExitCode) {
    if (!can_fork && GetParam().name == "AChildAfterFork") GTEST_SKIP() << "not with a sanitizer";
    const auto store = start_store();
    if (!store) GTEST_SKIP() << "the store is not installed";
    constexpr int runs = 20;
    for (int i = 1; i <= runs; ++i) {
        const auto status = run(GetParam().program, store->url());
        // Stop at the first failure, because each program that does not end costs the full timeout.
        ASSERT_TRUE(status && WIFEXITED(*status) && WEXITSTATUS(*status) == GetParam().code)
            << "run " << i << " of " << GetParam().name << " " << described(status);
    }
}

INSTANTIATE_TEST_SUITE_P(Of, Exit,
                         testing::Values(exit_case{"AGlobalClient", BATON_EXIT_GLOBAL},
                                         exit_case{"AStaticClientAndLease", BATON_EXIT_STATIC},
                                         exit_case{"AThreadLocalClient", BATON_EXIT_THREAD_LOCAL},
                                         exit_case{"AnotherThreadWhileOneWaits", BATON_EXIT_ELSEWHERE, 7},
                                         exit_case{"AChildAfterFork", BATON_EXIT_FORK}),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace baton::client_tests
