#include "private_server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "../contents.hpp"
#include "../eventually.hpp"
#include "../launch.hpp"
#include "server_clock.hpp"

namespace baton::redis_tests {
namespace {

namespace fs = std::filesystem;

std::uint16_t free_port() {
    endpoint any{std::uint16_t{0}};
    close(listen_at(any));
    return any.port;
}

bool answers_ping(const endpoint& where) {
    if (!answers(where)) return false;
    const auto answer = resp_client{where}.call({"PING"});
    return answer && answer->text == "PONG";  // and not LOADING
}

}  // namespace

std::optional<server_program> find_server(const std::string& wanted) {
    const char* const named = wanted.empty() ? std::getenv("BATON_REDIS_SERVER") : wanted.c_str();
    // The program selects its role by its name.
    if (named != nullptr && *named != '\0') return server_program{named};
    for (const std::string name : {"redis-server", "valkey-server"})
        for (const std::string folder : {"/usr/local/bin/", "/usr/bin/"})
            if (access((folder + name).c_str(), X_OK) == 0) return server_program{folder + name, name};
    if (access("/usr/bin/redis-check-rdb", X_OK) == 0) return server_program{"/usr/bin/redis-check-rdb"};
    return {};
}

private_server::private_server(server_options options) : options_{std::move(options)} {
    if (!options_.program) options_.program = find_server();
    if (!options_.program) throw std::runtime_error{no_server};
    fs::create_directory(data());
    // A free port may be taken before the server listens there, by another test or as the client's end of a connection.
    for (int attempts = 5;; --attempts) {
        if (options_.tcp) port_ = free_port();
        if (options_.tls) tls_port_ = free_port();
        try {
            start();
            return;
        } catch (const std::runtime_error& failure) {
            const bool is_taken = std::string_view{failure.what()}.find("Address already in use") != std::string::npos;
            if (!is_taken || attempts == 1) throw;
        }
    }
}

private_server::~private_server() { kill(); }

std::vector<std::string> private_server::words() const {
    std::vector<std::string> words{options_.program->name,
                                   "--unixsocket",
                                   at().path,
                                   "--port",
                                   std::to_string(port_),
                                   "--bind",
                                   "127.0.0.1",
                                   "--dir",
                                   data(),
                                   "--save",
                                   ""};
    if (options_.tls) words.insert(words.end(), {"--tls-port", std::to_string(tls_port_)});
    if (options_.keeps_data) words.insert(words.end(), {"--appendonly", "yes", "--appendfsync", "always"});
    words.insert(words.end(), options_.settings.begin(), options_.settings.end());
    return words;
}

void private_server::start() {
    const std::string log = place_.path("log");
    const auto setup = [this, &log] {
        const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(file, STDOUT_FILENO);
        dup2(file, STDERR_FILENO);
        if (options_.clock == nullptr) return;
        setenv("BATON_CLOCK_FILE", options_.clock->path().c_str(), 1);
        setenv("LD_PRELOAD", BATON_CLOCK_SHIM, 1);
    };
    process_ = launch(words(), setup, options_.program->path);
    const auto up_or_over = [this] {
        if (waitpid(process_, nullptr, WNOHANG) == process_) process_ = 0;
        return process_ == 0 || answers_ping(at());
    };
    if (eventually(up_or_over) && process_ != 0) return;
    kill();
    throw std::runtime_error{"the server does not come up: " + contents(log)};
}

resp::value private_server::ask(const std::vector<std::string>& words) const {
    auto answer = resp_client{at()}.call(words);
    if (!answer) throw std::runtime_error{"the server does not reply to " + words.front()};
    return std::move(*answer);
}

void private_server::kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    waitpid(std::exchange(process_, 0), nullptr, 0);
    fs::remove(at().path);
}

void private_server::forget() {
    fs::remove_all(data());
    fs::create_directory(data());
}

void private_server::stop() const { ::kill(process_, SIGSTOP); }
void private_server::go_on() const { ::kill(process_, SIGCONT); }

void private_server::copy_aside(const std::string& name) {
    if (!options_.keeps_data) static_cast<void>(ask({"SAVE"}));
    stop();  // so that the files show one moment
    const std::string aside = place_.path("aside-" + name);
    fs::remove_all(aside);
    fs::copy(data(), aside, fs::copy_options::recursive);
    go_on();
}

void private_server::put_back(const std::string& name) {
    fs::remove_all(data());
    fs::copy(place_.path("aside-" + name), data(), fs::copy_options::recursive);
}

}  // namespace baton::redis_tests
