// `baton agent`: serves `local:`.

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "baton/error.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"
#include "program/agent.hpp"
#include "program/start_agent.hpp"
#include "system/control_group.hpp"
#include "verbs.hpp"
#include "version.hpp"

namespace baton::cli {
namespace {

constexpr const char* examples = R"(Examples:
  baton agent                                                   start it in the background, as clients do
  baton agent --foreground                                      under a supervisor
  baton agent --foreground --address local:/run/team --mode 0660    for a group of users

One agent for all users of a machine, including `sudo baton`:
  sudo install -d /run/baton
  sudo baton agent --foreground --address local:/run/baton/agent.sock --mode 0666
Clients set BATON_URL=local:/run/baton/agent.sock. packaging/baton-agent.service does this under systemd.
)";

struct arguments {
    bool foreground = false;
    bool detached_start = false;
    std::string address = "local:";
    std::string mode = "0600";
    std::uint64_t idle_ms = 10'000;
    std::optional<std::uint64_t> max_ttl_ms;
};

/// Notifies a supervisor (systemd) with one datagram to the socket in NOTIFY_SOCKET.
void notify_supervisor(const std::string& message) {
    const char* name = std::getenv("NOTIFY_SOCKET");
    sockaddr_un address{};
    const std::size_t length = name == nullptr ? 0 : std::strlen(name);
    if (length < 2 || length >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@')) return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name, length);
    if (name[0] == '@') address.sun_path[0] = '\0';
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
    if (sendto(socket, message.data(), message.size(), MSG_NOSIGNAL,
               static_cast<sockaddr*>(static_cast<void*>(&address)), size) < 0)
        std::perror("baton: cannot notify the supervisor that the agent is ready");
    close(socket);
}

/// The process that started the agent reads this word and then waits for the end of the output.
void say_ready() {
    constexpr std::string_view word = "ready\n";
    if (write(STDOUT_FILENO, word.data(), word.size()) < 0) return;  // the starter has ended
}

void leave_standard_output() {
    say_ready();
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) {
        close(STDOUT_FILENO);
        return;
    }
    dup2(nothing, STDOUT_FILENO);
    if (nothing > STDERR_FILENO) close(nothing);
}

detail::local_address address_of(const arguments& arguments) {
    constexpr std::string_view scheme = "local:";
    if (!arguments.address.starts_with(scheme)) throw failure{exit_code::usage, "--address must begin with local:"};
    return detail::parse_local_address(std::string_view{arguments.address}.substr(scheme.size()));
}

/// The error if another process serves the address. It names the process if clients of this user would refuse it.
failure served_already(const detail::local_address& address) {
    std::string why;
    if (detail::reach_agent(address, why) == errc::not_permitted) return {exit_code::not_permitted, why};
    return {exit_code::unreachable, "another agent serves " + address.url() + " already"};
}

int serve(const arguments& arguments) {
    agent::options options;
    options.address = address_of(arguments);
    options.mode = static_cast<mode_t>(std::stoul(arguments.mode, nullptr, 8));
    options.idle_end = std::chrono::milliseconds{arguments.idle_ms};
    if (arguments.max_ttl_ms) options.max_ttl = std::chrono::milliseconds{*arguments.max_ttl_ms};
    options.program = "baton " + std::string{version};
    if (arguments.foreground) {
        options.idle_end.reset();
        options.ready = [] { notify_supervisor("READY=1\nSTATUS=serving\n"); };
    } else {
        options.ready = leave_standard_output;
        umask(0077);
    }
    // A client below a `baton run` may have started this agent. The agent serves other clients too, so it must not be
    // killed with the control group of that run.
    if (arguments.detached_start) leave_control_groups_of_runs();
    prctl(PR_SET_NAME, "baton-agent");  // without this, a start through /proc/self/exe is named exe
    std::string why;
    switch (agent::serve(options, why)) {
        case agent::result::done: return number(exit_code::ok);
        case agent::result::taken:
            // If several clients start agents at once, one agent serves and the others end here; all clients find it.
            if (!arguments.detached_start) throw served_already(options.address);
            say_ready();
            return number(exit_code::ok);
        case agent::result::failed: break;
    }
    if (arguments.detached_start) std::puts(why.c_str());
    throw failure{exit_code::unreachable, why};
}

/// `baton agent` by the user: starts an agent in the background, as a client does that finds none.
int start(const arguments& arguments) {
    const detail::local_address address = address_of(arguments);
    std::string why;
    std::error_code error = detail::reach_agent(address, why);
    if (!error) {
        complain("an agent serves " + address.url() + " already");
        return number(exit_code::ok);
    }
    if (error == errc::not_permitted) throw failure{exit_code::not_permitted, why};
    error = detail::start_agent(address, why);
    if (error)
        throw failure{exit_code::unreachable,
                      "cannot start an agent at " + address.url() + ": " + (why.empty() ? error.message() : why)};
    return number(exit_code::ok);
}

}  // namespace

void add_agent(CLI::App& app, action& chosen) {
    const auto arguments = std::make_shared<cli::arguments>();
    CLI::App* verb = app.add_subcommand("agent", "Start the agent that serves local:; clients start one when needed");
    verb->footer(examples);
    verb->add_flag("--foreground", arguments->foreground,
                   "Stay in the foreground, do not end when idle, and notify a supervisor "
                   "(systemd) when ready; TERM ends it");
    verb->add_option("--address", arguments->address, "local: or local:PATH, a socket file")->capture_default_str();
    verb->add_option("--mode", arguments->mode, "Mode of the socket file, in octal: which users may connect")
        ->capture_default_str()
        ->check(CLI::Validator(
            [](const std::string& text) -> std::string {
                const bool octal =
                    text.size() <= 4 && !text.empty() && text.find_first_not_of("01234567") == std::string::npos;
                return octal ? "" : "a mode is octal, as in 0660";
            },
            "OCTAL"));
    // Only tests use these: clients start an agent with the defaults.
    verb->add_option("--idle-ms", arguments->idle_ms)->group("");
    verb->add_option("--max-ttl-ms", arguments->max_ttl_ms)->check(CLI::Range(100, 86'400'000))->group("");
    verb->add_flag("--detached-start", arguments->detached_start)->group("");
    verb->callback([arguments, &chosen] {
        chosen = [arguments] {
            return arguments->foreground || arguments->detached_start ? serve(*arguments) : start(*arguments);
        };
    });
}

}  // namespace baton::cli
