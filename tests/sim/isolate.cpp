#include "isolate.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>

namespace baton::sim {

namespace {

// A child's exit codes. A sanitizer that ends it uses 1.
constexpr int exit_agreed = 0;
constexpr int exit_differed = 2;

// The child's result over the pipe: one character, then the description of the failure.
constexpr char agrees = '+';
constexpr char differs = '-';

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

pid_t fork_bound() {
    std::cout << std::flush;
    const pid_t child = ::fork();
    if (child < 0) fail("fork");
    // The child ends with its parent.
    if (child == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) fail("waitpid");
    return status;
}

// Also prevents a core file for each attempt.
void hide_output() {
    const rlimit nothing{0, 0};
    ::setrlimit(RLIMIT_CORE, &nothing);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
}

template <typename Work> [[noreturn]] void answer_and_exit(int answer_to, child_output output, Work work) {
    if (output == child_output::hidden) hide_output();
    ::alarm(static_cast<unsigned>(timeout.count()));
    const std::optional<failure> found = work();
    const std::string answer = found ? differs + found->what : std::string(1, agrees);
    for (std::size_t sent = 0; sent < answer.size();) {
        const auto count = ::write(answer_to, answer.data() + sent, answer.size() - sent);
        if (count < 0) break;
        sent += static_cast<std::size_t>(count);
    }
    ::_exit(exit_agreed);
}

std::string read_all(int from) {
    std::string all;
    char part[4096];
    for (;;) {
        const auto count = ::read(from, part, sizeof part);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return all;
        all.append(part, static_cast<std::size_t>(count));
    }
}

std::string death(int status) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return "the engine hangs";
    if (WIFSIGNALED(status)) return std::string("the engine dies: ") + ::strsignal(WTERMSIG(status));
    return "the engine dies: exit status " + std::to_string(WEXITSTATUS(status));
}

template <typename Work>
std::optional<failure> failure_apart(const shared_numbers& step, child_output output, Work work) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe2");
    const pid_t child = fork_bound();
    if (child == 0) answer_and_exit(ends[1], output, work);
    ::close(ends[1]);
    const std::string answer = read_all(ends[0]);
    ::close(ends[0]);
    const int status = wait_for(child);
    const auto at = static_cast<std::size_t>(step.all()[0]);
    if (answer.empty()) return failure{at, death(status)};
    if (answer.front() == agrees) return std::nullopt;
    return failure{at, answer.substr(1)};
}

}  // namespace

shared_numbers::shared_numbers(std::size_t count) {
    const std::size_t bytes = count * sizeof(std::uint64_t);
    void* page = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) fail("mmap");
    all_ = {static_cast<std::uint64_t*>(page), count};
}

shared_numbers::~shared_numbers() { ::munmap(all_.data(), all_.size_bytes()); }

std::optional<bool> run_apart(const std::function<bool()>& work) {
    const pid_t child = fork_bound();
    if (child == 0) {
        const bool agreed = work();
        std::cout << std::flush;
        ::_exit(agreed ? exit_agreed : exit_differed);
    }
    const int status = wait_for(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == exit_agreed) return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == exit_differed) return false;
    return std::nullopt;
}

std::optional<failure> replay_apart(const plan& plan, run_options options, child_output output) {
    const shared_numbers step(1);
    options.progress = step.all().data();
    return failure_apart(step, output, [&] { return replay(plan, options); });
}

std::optional<failure> run_seed_apart(std::uint64_t seed, run_options options, plan& ran) {
    const shared_numbers step(1);
    coverage unused;
    options.progress = step.all().data();
    auto found = failure_apart(step, child_output::shown, [&] { return run_seed(seed, options, unused, ran); });
    // The plan was in the child's memory. It is drawn again up to the failing step; the steps before it are harmless.
    options.trace = nullptr;
    if (found) options.stop_before = found->step;
    (void)run_seed(seed, options, unused, ran);
    return found;
}

}  // namespace baton::sim
