#include "process.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace baton::testing {
namespace {

using std::chrono::steady_clock;

[[noreturn]] void become(const start_options& options) {
    std::vector<std::string> entries;
    for (const auto& [name, value] : options.environment) entries.push_back(name + "=" + value);
    std::vector<char*> environment;
    std::vector<char*> arguments;
    for (std::string& entry : entries) environment.push_back(entry.data());
    environment.push_back(nullptr);
    for (const std::string& argument : options.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    if (options.close_stdin) ::close(STDIN_FILENO);
    ::execve(arguments.front(), arguments.data(), environment.data());
    ::_exit(127);
}

void replace(int descriptor, const std::string& file, int otherwise) {
    const int opened = file.empty() ? otherwise : ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    ::dup2(opened, descriptor);
}

std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error{"pipe"};
    return ends;
}

void read_into(std::string& text, int& descriptor) {
    std::array<char, 4096> bytes{};
    while (descriptor >= 0) {
        pollfd readable{descriptor, POLLIN, 0};
        if (::poll(&readable, 1, 0) <= 0) return;
        const ssize_t length = ::read(descriptor, bytes.data(), bytes.size());
        if (length > 0)
            text.append(bytes.data(), static_cast<std::size_t>(length));
        else if (length == 0 || errno != EINTR)
            ::close(std::exchange(descriptor, -1));
    }
}

std::vector<pid_t> all_processes() {
    std::vector<pid_t> ids;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc"})
        if (const std::string name = entry.path().filename(); name.find_first_not_of("0123456789") == std::string::npos)
            ids.push_back(std::stoi(name));
    return ids;
}

std::string stat_after_name(pid_t id) {
    const std::string text = contents("/proc/" + std::to_string(id) + "/stat");
    const std::size_t end = text.rfind(')');
    return end == std::string::npos ? "" : text.substr(end + 2);
}

}  // namespace

child::child(const start_options& options) {
    if (options.on_terminal) {
        const winsize size{24, 80, 0, 0};
        id_ = ::forkpty(&out_end_, nullptr, nullptr, &size);
        if (id_ == 0) become(options);
        return;
    }
    const auto in = make_pipe();
    const auto out = make_pipe();
    const auto err = make_pipe();
    id_ = ::fork();
    if (id_ == 0) {
        ::setsid();  // without a terminal, even if the tests were started from one
        ::dup2(in[0], STDIN_FILENO);
        replace(STDOUT_FILENO, options.out, out[1]);
        replace(STDERR_FILENO, options.err, err[1]);
        become(options);
    }
    static_cast<void>(!::write(in[1], options.input.data(), options.input.size()));
    for (const int end : {in[0], in[1], out[1], err[1]}) ::close(end);
    out_end_ = out[0];
    err_end_ = err[0];
}

child::~child() {
    if (!status_) {
        ::kill(id_, SIGKILL);
        ::kill(id_, SIGCONT);
        ::waitpid(id_, nullptr, 0);
    }
    for (const int end : {out_end_, err_end_})
        if (end >= 0) ::close(end);
}

void child::signal(int number) const { ::kill(id_, number); }

void child::read() {
    read_into(out_, out_end_);
    read_into(err_, err_end_);
}

std::optional<int> child::wait(milliseconds within) {
    eventually(
        [this] {
            read();
            int status = 0;
            if (!status_ && ::waitpid(id_, &status, WNOHANG) == id_) {
                if (WIFSIGNALED(status)) by_signal_ = WTERMSIG(status);
                status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            }
            return status_.has_value();
        },
        within);
    read();
    return status_;
}

const std::string& child::out() {
    read();
    return out_;
}

const std::string& child::err() {
    read();
    return err_;
}

bool child::says(const std::string& text, milliseconds within) {
    return eventually([&] { return out().find(text) != std::string::npos; }, within);
}

bool child::complains(const std::string& text, milliseconds within) {
    return eventually([&] { return err().find(text) != std::string::npos; }, within);
}

void child::type(const std::string& keys) { static_cast<void>(!::write(out_end_, keys.data(), keys.size())); }

std::vector<pid_t> processes_with(const std::string& text) {
    std::vector<pid_t> found;
    for (const pid_t id : all_processes())
        if (id != ::getpid() && contents("/proc/" + std::to_string(id) + "/cmdline").find(text) != std::string::npos)
            found.push_back(id);
    return found;
}

std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> found;
    for (const pid_t id : all_processes()) {
        std::istringstream fields{stat_after_name(id)};
        std::string state;
        pid_t its_parent = 0;
        if (fields >> state >> its_parent && its_parent == parent) found.push_back(id);
    }
    return found;
}

char state_of(pid_t id) {
    const std::string fields = stat_after_name(id);
    return fields.empty() ? '-' : fields.front();
}

std::string unique_word() {
    static int count = 0;
    return std::to_string(::getpid()) + "000" + std::to_string(++count);
}

}  // namespace baton::testing
