#include "program.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "baton/error.hpp"
#include "client/printable.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"
#include "hide_passwords.hpp"
#include "stores/local/start_agent.hpp"
#include "verbs.hpp"
#include "version.hpp"

namespace baton::cli {
namespace {

/// The verbs or options that --help shows. Those without a group are for internal use.
std::string allowed(const CLI::App& app) {
    std::string names;
    for (const CLI::App* verb : app.get_subcommands({}))
        if (!verb->get_group().empty()) names += " " + verb->get_name();
    for (const CLI::Option* option : app.get_options())
        if (option->nonpositional() && !option->get_group().empty()) names += " " + option->get_name();
    return names;
}

/// The verb whose arguments were parsed, or the program itself.
const CLI::App& innermost(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : *chosen.back();
}

int wrong_usage(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& verb = innermost(app);
    std::string what = detail::printable(error.what());
    if (const std::vector<std::string> unknown = app.remaining(true); !unknown.empty()) {
        const bool option = unknown.front().starts_with('-');
        const char* const kind = option ? "unknown option: " : &verb == &app ? "unknown verb: " : "unexpected: ";
        what = kind + detail::printable(unknown.front());
        if (verb.get_name() == "run" && !option) what += "; the command comes after --, as in baton run -l NAME -- CMD";
    }
    const std::string help = &verb == &app ? "baton --help" : "baton " + verb.get_name() + " --help";
    complain(what + "\nallowed:" + allowed(verb) + "\nsee `" + help + "`");
    return number(exit_code::usage);
}

/// The arguments before and after `--`. Those after it belong to the command and are not parsed.
struct split_line {
    std::vector<std::string> own;  // in reverse order, as the parser expects them
    std::vector<std::string> command;
    bool has_command = false;
};

split_line split(int argc, char** argv) {
    split_line line;
    const bool runs = argc > 1 && std::string_view{argv[1]} == "run";
    for (int i = 1; i < argc; ++i) {
        if (line.has_command)
            line.command.emplace_back(argv[i]);
        else if (runs && std::string_view{argv[i]} == "--")
            line.has_command = true;
        else
            line.own.insert(line.own.begin(), argv[i]);
    }
    return line;
}

int perform(int argc, char** argv) {
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
    add_agent(app, chosen);
    add_bench(app, chosen);
    add_functions(app, chosen);
    app.require_subcommand(0, 1);  // otherwise an argument that is the name of a verb would be parsed as that verb
    app.footer(
        "Names at local: (the default) are shared by all programs of one user on one machine. Other users, `sudo "
        "baton`\n"
        "and other network namespaces have agents of their own; `baton agent --help` shows how to share one.\n\n"
        "`baton VERB --help` describes a verb, with examples.");
    try {
        app.parse(line.own);
    } catch (const CLI::CallForHelp&) {
        return print(app.help());
    } catch (const CLI::CallForVersion& call) {
        return print(call.what());
    } catch (const CLI::ParseError& error) {
        return wrong_usage(app, error);
    }
    if (chosen) return chosen();
    std::fputs(app.help().c_str(), stderr);
    return number(exit_code::usage);
}

}  // namespace

int program(int argc, char** argv) {
    try {
        detail::use_agent_program("/proc/self/exe");
        return perform(argc, argv);
    } catch (const failure& known) {
        complain(known.what());
        return number(known.code());
    } catch (const error& error) {
        complain(error.what());
        return number(code_of(error.code()));
    } catch (const std::exception& error) {
        complain(error.what());
        return number(exit_code::internal);
    }
}

}  // namespace baton::cli
