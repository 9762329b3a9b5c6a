#include "program.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "hide_passwords.hpp"
#include "program/start_agent.hpp"
#include "verbs.hpp"
#include "version.hpp"

namespace baton::cli {
namespace {

/// What comes after --, or after `bench`, is for another program, and not parsed here.
struct split_line {
    std::vector<std::string> own;  // last one first, as the parser wants it
    std::vector<std::string> command;
    bool has_command = false;
};

split_line split(int argc, char** argv) {
    split_line line;
    const std::string_view verb = argc > 1 ? argv[1] : "";
    for (int i = 1; i < argc; ++i) {
        if (line.has_command)
            line.command.emplace_back(argv[i]);
        else if (verb == "run" && std::string_view{argv[i]} == "--")
            line.has_command = true;
        else
            line.own.insert(line.own.begin(), argv[i]);
        line.has_command = line.has_command || verb == "bench";
    }
    return line;
}

int read(int argc, char** argv) {
    CLI::App app{
        "Baton hands ownership of named things from one program to the next: fair locks, locks over\n"
        "several names at once, read/write locks and semaphores.",
        "baton"};
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.set_version_flag("--version", "baton " + std::string{version} + "\n", "Print the version and exit");
    split_line line = split(argc, argv);
    hide_passwords(argc, argv);
    action chosen;
    add_run(app, chosen, line.command, line.has_command);
    add_ls(app, chosen);
    add_why(app, chosen);
    add_revoke(app, chosen);
    add_mend(app, chosen);
    add_resize(app, chosen);
    add_agent(app, chosen);
    add_bench(app, chosen, line.command);
    add_functions(app, chosen);
    app.require_subcommand(0, 1);  // or the word of another verb, after the first, would be that verb
    app.footer(
        "Programs of one user on one machine meet at local:, the user's agent. Other users, `sudo baton` and other\n"
        "network namespaces have agents of their own; `baton agent --help` shows how to share one.\n\n"
        "`baton VERB --help` says more of a verb, with examples.");
    return perform(app, std::move(line.own), chosen);
}

}  // namespace

int program(int argc, char** argv) {
    return guarded([=] {
        detail::use_agent_program("/proc/self/exe");
        return read(argc, argv);
    });
}

}  // namespace baton::cli
