#include "run/launch.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace baton::cli {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

/// Executes the command; returns errno if that fails. It allocates no memory between fork and exec, because the
/// guardian may have a second thread.
int become(char** arguments, char** environment, bool take_terminal, const guardian_setting& setting, pid_t guardian) {
    ::setpgid(0, 0);
    // All signals are still blocked, so taking the terminal from the background does not stop this process.
    if (take_terminal && setting.terminal >= 0) ::tcsetpgrp(setting.terminal, ::getpid());
    // If baton and the guardian are killed at once, the kernel kills at least the command itself.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != guardian) ::_exit(0);
    if (setting.ignore_children) ::signal(SIGCHLD, SIG_IGN);
    ::sigprocmask(SIG_SETMASK, &setting.original_mask, nullptr);
    // execvpe searches the PATH of this process, which is the same as the command's.
    ::execvpe(arguments[0], arguments, environment);
    return errno;
}

/// Forks a child that is in the control group from its start; clears `inside` if that is not permitted. The child makes
/// only system calls until it executes the command.
pid_t fork_into(int control_group, bool& inside) {
    clone_args how{};
    how.flags = CLONE_INTO_CGROUP;
    how.exit_signal = SIGCHLD;
    how.cgroup = static_cast<decltype(how.cgroup)>(control_group);
    const long id = control_group < 0 ? -1 : ::syscall(SYS_clone3, &how, sizeof how);
    inside = id >= 0;
    return inside ? static_cast<pid_t>(id) : ::fork();
}

}  // namespace

launched launch(const start_command& order, const guardian_setting& setting, int control_group) {
    std::array<int, 2> news{};
    if (::pipe2(news.data(), O_CLOEXEC) != 0) return {0, errno};
    std::vector<char*> arguments = pointers_to(order.arguments);
    std::vector<char*> environment = pointers_to(order.environment);
    const pid_t guardian = ::getpid();
    bool inside = false;
    const pid_t id = fork_into(control_group, inside);
    if (id < 0) {
        const int error = errno;
        ::close(news[0]);
        ::close(news[1]);
        return {0, error};
    }
    if (id == 0) {
        const int error = become(arguments.data(), environment.data(), order.take_terminal, setting, guardian);
        static_cast<void>(!::write(news[1], &error, sizeof error));
        ::_exit(127);
    }
    ::setpgid(id, id);  // also here, so that the group exists when this function returns
    ::close(news[1]);
    int error = 0;
    ssize_t length = 0;
    do length = ::read(news[0], &error, sizeof error);
    while (length < 0 && errno == EINTR);
    ::close(news[0]);
    if (length <= 0) return {id, 0, inside};
    ::waitpid(id, nullptr, 0);
    return {id, error};
}

}  // namespace baton::cli
