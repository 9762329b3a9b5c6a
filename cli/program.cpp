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

/// The arguments before and after `--`, or after `bench`. Those after it belong to another program and are not parsed.
struct split_line {
    std::vector<std::string> own;  // in reverse order, as the parser expects them
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
        "Baton is a lock manager: fair locks, locks over several names at once, read/write locks and\n"
        "semaphores.",
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
    add_doctor(app, chosen);
    add_agent(app, chosen);
    add_bench(app, chosen, line.command);
    add_functions(app, chosen);
    app.require_subcommand(0, 1);  // otherwise an argument that is the name of a verb would be parsed as that verb
    app.footer(
        "Names at local: (the default) are shared by all programs of one user on one machine. Other users, `sudo "
        "baton`\n"
        "and other network namespaces have agents of their own; `baton agent --help` shows how to share one.\n\n"
        "`baton VERB --help` describes a verb, with examples.");
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
