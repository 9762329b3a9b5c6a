// A client whose only job is to be stopped, continued and killed. It prints events and executes commands.
//   actor URL TTL_MS NAME [COMPANION]
//       acquires NAME, and prints queued, held FENCE ABANDONED, lost, reconnected, failed WHY. Commands on its standard
//       input: release, vanish (release and exit at once), valid?, quit
//   actor --ask PATH|@NAME WORD…
//       sends a command and prints the reply
//   actor --squat @NAME
//       listens there, prints that, and never replies
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <utility>

#include "baton/baton.hpp"
#include "program/start_agent.hpp"
#include "stores/local/local_store.hpp"
#include "stores/resp/codec.hpp"
#include "system/pidfd.hpp"

namespace {

void say(const std::string& line) {
    const std::string whole = line + "\n";
    if (write(STDOUT_FILENO, whole.data(), whole.size()) < 0) _exit(1);
}

struct speaker final : baton::observer {
    void queued(const baton::claim_list&) override { say("queued"); }
    void lost(const baton::claim_list&, std::uint64_t, baton::loss) override { say("lost"); }
    void reconnected() override { say("reconnected"); }

private:
};

/// A socket that is connected to a name, or listens there; abstract ones are written with an @.
int socket_at(std::string name, bool listening) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    auto* const any = static_cast<sockaddr*>(static_cast<void*>(&address));
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listening ? bind(socket, any, size) != 0 || listen(socket, 8) != 0 : connect(socket, any, size) != 0) {
        std::perror(name.c_str());
        std::exit(1);
    }
    return socket;
}

int ask(int argc, char** argv) {
    const int socket = socket_at(argv[2], false);
    std::string command;
    baton::resp::encode_command(command, std::vector<std::string>{argv + 3, argv + argc});
    if (send(socket, command.data(), command.size(), MSG_NOSIGNAL) < 0 && errno != EPIPE) return 1;
    baton::resp::decoder decoder;
    std::array<char, 4096> buffer{};
    for (std::string answer;;) {
        const ssize_t size = recv(socket, buffer.data(), buffer.size(), 0);
        if (size <= 0) return 1;
        answer.append(buffer.data(), static_cast<std::size_t>(size));
        decoder.feed({buffer.data(), static_cast<std::size_t>(size)});
        if (decoder.next()) {
            say(answer);
            return 0;
        }
    }
}

int squat(char** argv) {
    socket_at(argv[2], true);
    say("listening");
    for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 3 && std::string_view{argv[1]} == "--ask") return ask(argc, argv);
    if (argc == 3 && std::string_view{argv[1]} == "--squat") return squat(argv);
    if (argc < 4) return 64;
    baton::detail::use_agent_program(BATON_PROGRAM);
    const std::string url = argv[1];
    baton::detail::local_options local;
    if (argc > 4)
        local.companion =
            std::make_shared<baton::descriptor>(baton::detail::pidfd_of(static_cast<pid_t>(std::atoi(argv[4]))));
    baton::client_options options;
    options.ttl = std::chrono::milliseconds{std::atoi(argv[2])};
    options.observer = std::make_shared<speaker>();
    baton::client client{
        baton::detail::local_store(baton::detail::parse_local_address(url.substr(url.find(':') + 1)), local), options};
    std::error_code error;
    baton::lease lease = client.acquire(baton::exclusive(argv[3]), {}, error);
    if (error) {
        say("failed " + error.message());
        return 1;
    }
    say("held " + std::to_string(lease.fence()) + " " + std::to_string(lease.abandoned().size()));
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "valid?") say(lease.valid() ? "valid" : "invalid");
        if (line == "release") {
            lease.release();
            say("released");
        }
        if (line == "vanish") {
            lease.release();
            _exit(0);
        }
        if (line == "quit") break;
    }
}
