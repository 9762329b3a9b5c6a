#include "bench/actors/child.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "exit_codes.hpp"
#include "failure.hpp"

namespace baton::bench {

child::child(std::vector<std::string> words, std::string program, int input, int output) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (program.empty()) program = words.front();
    if (!forks()) return;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);  // the parent blocks them and waits in a thread
    ::signal(SIGPIPE, SIG_DFL);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(input >= 0 ? input : nothing, STDIN_FILENO);
    dup2(output >= 0 ? output : nothing, STDOUT_FILENO);
    execv(program.c_str(), arguments.data());
    _exit(127);
}

bool child::forks() {
    const pid_t parent = getpid();
    id_ = fork();
    if (id_ < 0) throw cli::failure{cli::exit_code::internal, "cannot start a process"};
    if (id_ > 0) return false;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    return true;
}

void child::kill() {
    if (id_ <= 0) return;
    signal_kill();
    waitpid(std::exchange(id_, 0), nullptr, 0);
}

void child::signal_kill() const {
    if (id_ > 0) ::kill(id_, SIGKILL);
}

bool child::ended_well() {
    int status = -1;
    waitpid(std::exchange(id_, 0), &status, 0);
    return status == 0;
}

std::array<int, 2> connected_sockets() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw cli::failure{cli::exit_code::internal, "cannot create a pair of sockets"};
    return ends;
}

int free_port() {
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    auto* const address = static_cast<sockaddr*>(static_cast<void*>(&name));
    const bool bound = made >= 0 && bind(made, address, size) == 0 && getsockname(made, address, &size) == 0;
    if (made >= 0) close(made);
    if (!bound) throw cli::failure{cli::exit_code::internal, "cannot find a free port"};
    return ntohs(name.sin_port);
}

double cpu_seconds(pid_t process) {
    if (process == 0) {
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        const auto seconds = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
        };
        return seconds(used.ru_utime) + seconds(used.ru_stime);
    }
    std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
    std::string text;
    std::getline(file, text);
    // After the name, which may contain any characters: state, then ten more fields, then user and system time in
    // ticks.
    std::istringstream fields{text.substr(std::min(text.rfind(')') + 1, text.size()))};
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0;
    double system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace baton::bench
