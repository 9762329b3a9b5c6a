// Programs that are hard to kill. Each ends by itself after 60 s, the chain after 10 s, even if the test fails.
//   escapee chain WORD          forks and exits, again and again, each time in a session of its own
//   escapee bomb COUNT WORD     forks until there are COUNT processes, each of which forks another one on TERM
//   escapee agent WORD          has the command line of baton's agent, in a session of its own
//   escapee daemon WORD         forks twice, leaves its session and folder, clears its environment
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

constexpr unsigned lifetime_s = 60;

[[noreturn]] void stay() {
    ::alarm(lifetime_s);
    for (;;) ::pause();
}

// The processes of a chain share their memory, so that a fork takes microseconds. A stack is reused after 64 processes.
constexpr std::size_t stacks = 64;
alignas(16) char stack[stacks][16'384];
// The chain has a time limit, because it fills the process table of the machine with zombies.
constexpr std::time_t chain_lifetime_s = 10;
std::time_t chain_end;

int forge(void* number) {
    const auto next = (reinterpret_cast<std::size_t>(number) + 1) % stacks;
    ::syscall(SYS_setsid);
    if (::time(nullptr) < chain_end)
        ::clone(forge, stack[next] + sizeof stack[next], CLONE_VM | SIGCHLD, reinterpret_cast<void*>(next));
    for (;;) ::syscall(SYS_exit_group, 0);
}

[[noreturn]] void chain() {
    chain_end = std::time(nullptr) + chain_lifetime_s;
    ::clone(forge, stack[0] + sizeof stack[0], CLONE_VM | SIGCHLD, nullptr);
    ::_exit(0);
}

void fork_another(int /*signal*/) {
    if (::fork() == 0) ::alarm(lifetime_s);
}

[[noreturn]] void bomb(int count) {
    ::signal(SIGTERM, fork_another);
    for (int made = 1; made < count; made *= 2)
        if (::fork() == 0) ::setsid();
    stay();
}

[[noreturn]] void agent(char* word) {
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    std::string address = std::string{"local:/tmp/"} + word;
    std::vector<std::string> words{"baton", "agent", "--detached-start", "--address", address};
    std::vector<char*> arguments;
    for (std::string& each : words) arguments.push_back(each.data());
    arguments.push_back(nullptr);
    ::execv("/proc/self/exe", arguments.data());
    ::_exit(127);
}

[[noreturn]] void be_daemon(char* word) {
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    if (::chdir("/") != 0) ::_exit(1);
    char* const arguments[] = {const_cast<char*>("escapee"), const_cast<char*>("stay"), word, nullptr};
    char* const environment[] = {nullptr};
    ::execve("/proc/self/exe", arguments, environment);
    ::_exit(127);
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) return 64;
    const std::string what = arguments[1];
    if (std::strcmp(arguments[0], "baton") == 0 || what == "stay") stay();
    if (what == "chain") chain();
    if (what == "bomb" && count == 4) bomb(std::atoi(arguments[2]));
    if (what == "agent") agent(arguments[2]);
    if (what == "daemon") be_daemon(arguments[2]);
    return 64;
}
