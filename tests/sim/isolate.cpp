#include "isolate.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace baton::sim {

namespace {

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

/// A number that parent and child share: it outlives the child.
class shared_number {
public:
    shared_number() {
        void* page = ::mmap(nullptr, sizeof(std::size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) fail("mmap");
        value_ = static_cast<std::size_t*>(page);
    }
    shared_number(const shared_number&) = delete;
    shared_number& operator=(const shared_number&) = delete;
    ~shared_number() { ::munmap(value_, sizeof(std::size_t)); }

    [[nodiscard]] std::size_t* get() const { return value_; }

private:
    std::size_t* value_ = nullptr;
};

void hide_output() {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
}

// The child's answer: one character, then what is wrong.
constexpr char agrees = '+';
constexpr char differs = '-';

template <typename Work> [[noreturn]] void be_child(int answer_to, child_output output, Work work) {
    std::signal(SIGABRT, SIG_DFL);
    std::signal(SIGSEGV, SIG_DFL);
    if (output == child_output::hidden) hide_output();
    const std::optional<failure> found = work();
    const std::string answer = found ? differs + found->what : std::string(1, agrees);
    for (std::size_t sent = 0; sent < answer.size();) {
        const auto count = ::write(answer_to, answer.data() + sent, answer.size() - sent);
        if (count < 0) break;
        sent += static_cast<std::size_t>(count);
    }
    ::_exit(0);
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
    if (WIFSIGNALED(status)) return std::string("the engine dies: ") + ::strsignal(WTERMSIG(status));
    return "the engine dies: exit status " + std::to_string(WEXITSTATUS(status));
}

template <typename Work> std::optional<failure> apart(std::size_t* step, child_output output, Work work) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe2");
    const pid_t child = ::fork();
    if (child < 0) fail("fork");
    if (child == 0) be_child(ends[1], output, work);
    ::close(ends[1]);
    const std::string answer = read_all(ends[0]);
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (answer.empty()) return failure{*step, death(status)};
    if (answer.front() == agrees) return std::nullopt;
    return failure{*step, answer.substr(1)};
}

}  // namespace

std::optional<failure> replay_apart(const plan& plan, run_options options, child_output output) {
    const shared_number step;
    options.progress = step.get();
    return apart(step.get(), output, [&] { return replay(plan, options); });
}

std::optional<failure> run_seed_apart(std::uint64_t seed, run_options options, plan& ran) {
    const shared_number step;
    coverage unused;
    options.progress = step.get();
    const auto found = apart(step.get(), child_output::shown, [&] { return run_seed(seed, options, unused, ran); });
    // The child took its plan with it. All steps before the failing one are harmless: drawn again up to there.
    options.trace = nullptr;
    if (found) options.stop_before = found->step;
    (void)run_seed(seed, options, unused, ran);
    return found;
}

}  // namespace baton::sim
