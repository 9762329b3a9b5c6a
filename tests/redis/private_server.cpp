#include "private_server.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "server_line.hpp"

namespace baton::redis {
namespace {

namespace fs = std::filesystem;

fs::path in_path(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::string folders = path != nullptr ? path : "/usr/bin";
    for (std::size_t at = 0; at <= folders.size();) {
        const std::size_t end = std::min(folders.find(':', at), folders.size());
        const fs::path found = fs::path{folders.substr(at, end - at)} / name;
        if (::access(found.c_str(), X_OK) == 0) return found;
        at = end + 1;
    }
    return {};
}

[[noreturn]] void run(const fs::path& program, const fs::path& folder, const std::string& socket) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(nowhere, STDIN_FILENO);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    // Called by this name it is a server, whatever the file is called.
    ::execl(program.c_str(), "redis-server", "--port", "0", "--unixsocket", socket.c_str(), "--save", "",
            "--appendonly", "no", "--dir", folder.c_str(), nullptr);
    ::_exit(127);
}

}  // namespace

fs::path find_server(const std::string& wanted) {
    if (!wanted.empty()) return wanted;
    if (const char* named = std::getenv("BATON_TEST_SERVER"); named != nullptr && *named != '\0') return named;
    if (fs::path found = in_path("redis-server"); !found.empty()) return found;
    return in_path("redis-check-rdb");
}

private_server::private_server(const fs::path& program) {
    std::string folder = (fs::temp_directory_path() / "baton-redis-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp");
    folder_ = folder;
    socket_ = folder_ / "socket";
    process_ = ::fork();
    if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (process_ == 0) run(program, folder_, socket_);
    for (const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{20};;) {
        try {
            server_line{socket_}.ask({"PING"});
            return;
        } catch (const std::system_error&) {
            if (::waitpid(process_, nullptr, WNOHANG) == process_) {
                process_ = -1;
                throw std::runtime_error("the server " + program.string() + " ended at once");
            }
            if (std::chrono::steady_clock::now() > give_up) throw;
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
    }
}

private_server::~private_server() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

}  // namespace baton::redis
