// Starts an agent as a detached process that inherits nothing. The calling program may have threads, signal handlers
// and other children. So the new process makes only system calls until exec, and an intermediate process, which ends at
// once, is its parent. That process raises no SIGCHLD, and a wait() of the program does not return it.
#include "program/start_agent.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "baton/error.hpp"

namespace baton::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto timeout = 5s;

/// The arguments between the program and the address.
constexpr std::array<std::string_view, 3> verb_words{"agent", "--detached-start", "--address"};

std::mutex known_mutex;
std::string known_program;

bool is_program(const std::string& path) {
    struct stat found {};
    return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// Searches: the program of `use_agent_program`, otherwise the installed program, then PATH.
std::string find_program() {
    {
        const std::lock_guard lock{known_mutex};
        if (!known_program.empty()) return is_program(known_program) ? known_program : std::string{};
    }
    return installed_agent_program();
}

/// Only the variables that a program needs to run: others, for instance secrets, must not stay in a long-lived process.
std::vector<std::string> environment() {
    std::vector<std::string> kept{"PATH=/usr/local/bin:/usr/bin:/bin"};
    for (const char* name : {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"})
        if (const char* value = std::getenv(name)) kept.push_back(std::string{name} + "=" + value);
    return kept;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

/// Prepared before the new process exists, which must not allocate.
struct launch {
    const char* program;
    char* const* arguments;
    char* const* environment;
    int nothing;  // /dev/null
    int report;   // becomes its standard output, where it reports that it is ready
    int most;     // descriptors below this number may be inherited
    std::array<char, 16'384> stack;
};

constexpr unsigned shared_until_exec = CLONE_VM | CLONE_VFORK;

#ifdef __SANITIZE_THREAD__
// ThreadSanitizer treats clone as fork, and then reports false races in the calling thread. It does not intercept
// __clone.
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);
constexpr auto make_process = __clone;
#else
constexpr auto make_process = clone;
#endif

/// Sanitizers intercept `_exit`, and would treat it as the end of the program that shares this memory.
[[noreturn]] __attribute__((no_sanitize("address", "thread"))) void leave(int code) {
    for (;;) syscall(SYS_exit_group, code);
}

/// The process that becomes the agent. It shares the memory of the caller until exec: system calls only.
__attribute__((no_sanitize("address", "thread"))) int become_agent(void* argument) {
    const auto* launch = static_cast<const struct launch*>(argument);
    setsid();
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; ++number) sigaction(number, &standard, nullptr);
    if (dup2(launch->nothing, 0) < 0 || dup2(launch->report, 1) < 0 || dup2(launch->nothing, 2) < 0) leave(126);
    if (syscall(SYS_close_range, 3U, ~0U, 0U) != 0)
        for (int each = 3; each < launch->most; ++each) close(each);
    if (chdir("/") != 0) leave(126);
    sigset_t none{};
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execve(launch->program, launch->arguments, launch->environment);
    leave(127);
}

/// The intermediate process: its end detaches the agent from the caller.
__attribute__((no_sanitize("address", "thread"))) int detach_agent(void* argument) {
    auto* launch = static_cast<struct launch*>(argument);
    const int made = make_process(become_agent, launch->stack.data() + launch->stack.size(),
                                  static_cast<int>(shared_until_exec) | SIGCHLD, launch);
    leave(made < 0 ? 1 : 0);
}

bool run_detached(launch& launch) {
    std::vector<char> stack(16'384);
    sigset_t all{};
    sigset_t before{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // no signal handler may run in the new processes
    const int intermediate =
        make_process(detach_agent, stack.data() + stack.size(), static_cast<int>(shared_until_exec), &launch);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (intermediate < 0) return false;
    int status = 0;  // stays 0 if another thread has waited for the process with __WALL
    while (waitpid(intermediate, &status, static_cast<int>(__WCLONE)) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// If the program has closed its standard streams, a new descriptor may have one of their numbers, which the agent
/// needs for its own streams.
int above_standard(int descriptor) {
    if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
    const int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(descriptor);
    return higher;
}

/// The limit for closing descriptors one by one, if the kernel has no close_range.
int most_descriptors() { return static_cast<int>(std::clamp(sysconf(_SC_OPEN_MAX), 256L, 65'536L)); }

/// Reads the agent's report until it closes the pipe. The report is `ready` if the agent serves.
bool read_report(int report, std::string& said) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd ready{report, POLLIN, 0};
        if (left <= 0ms || poll(&ready, 1, static_cast<int>(left.count())) == 0) return false;
        std::array<char, 512> buffer{};
        const ssize_t size = read(report, buffer.data(), buffer.size());
        if (size == 0) return true;
        if (size > 0 && said.size() < 4'096) said.append(buffer.data(), static_cast<std::size_t>(size));
        if (size < 0 && errno != EINTR) return false;
    }
}

}  // namespace

void use_agent_program(std::string path) {
    const std::lock_guard lock{known_mutex};
    known_program = std::move(path);
}

/// A setuid program ignores PATH.
std::string installed_agent_program() {
    std::vector<std::string> candidates{BATON_INSTALLED_PROGRAM};
    const char* path = getauxval(AT_SECURE) == 0 ? std::getenv("PATH") : nullptr;
    for (std::string_view rest = path == nullptr ? "" : path; !rest.empty();) {
        const std::size_t colon = rest.find(':');
        if (colon > 0 && rest.front() == '/') candidates.push_back(std::string{rest.substr(0, colon)} + "/baton");
        rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
    }
    for (const std::string& candidate : candidates)
        if (is_program(candidate)) return candidate;
    return {};
}

std::error_code start_agent(const local_address& address, std::string& said) {
    const std::string program = find_program();
    if (program.empty()) {
        said = "there is no program baton at " BATON_INSTALLED_PROGRAM ", nor in the absolute folders of PATH";
        return errc::no_agent;
    }
    std::vector<std::string> words{"baton"};
    words.insert(words.end(), verb_words.begin(), verb_words.end());
    words.push_back(address.url());
    std::vector<std::string> kept = environment();
    const std::vector<char*> arguments = pointers(words);
    const std::vector<char*> variables = pointers(kept);
    std::array<int, 2> report{};
    if (pipe2(report.data(), O_CLOEXEC) != 0) return {errno, std::generic_category()};
    report[1] = above_standard(report[1]);
    const int nothing = above_standard(open("/dev/null", O_RDWR | O_CLOEXEC));
    const auto made = std::make_unique<launch>(
        launch{program.c_str(), arguments.data(), variables.data(), nothing, report[1], most_descriptors(), {}});
    const bool started = nothing >= 0 && report[1] >= 0 && run_detached(*made);
    if (report[1] >= 0) close(report[1]);
    if (nothing >= 0) close(nothing);
    const bool reported = started && read_report(report[0], said);
    close(report[0]);
    if (!reported) return errc::store_unavailable;
    if (said.starts_with("ready")) return {};
    while (said.ends_with('\n')) said.pop_back();
    if (said.empty()) said = program + " ended before it could serve";
    return errc::no_agent;
}

std::optional<local_address> address_of_agent(std::span<const std::string_view> words) {
    constexpr std::string_view scheme = "local:";
    if (words.size() != verb_words.size() + 2 || !words.back().starts_with(scheme) ||
        !std::ranges::equal(words.subspan(1, verb_words.size()), verb_words))
        return {};
    try {
        return parse_local_address(words.back().substr(scheme.size()));
    } catch (const error&) {
        return {};
    }
}

}  // namespace baton::detail
