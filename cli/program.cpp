#include "program.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"
#include "hide_passwords.hpp"
#include "program/start_agent.hpp"
#include "verbs.hpp"
#include "version.hpp"

namespace baton::cli {
namespace {

/// Those without a group are for the program itself, and not in --help either.
std::string allowed(const CLI::App& app) {
    std::string names;
    for (const CLI::App* verb : app.get_subcommands({}))
        if (!verb->get_group().empty()) names += " " + verb->get_name();
    for (const CLI::Option* option : app.get_options())
        if (option->nonpositional() && !option->get_group().empty()) names += " " + option->get_name();
    return names;
}

/// The verb that was being read, or the program itself.
const CLI::App& innermost(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : *chosen.back();
}

int wrong_usage(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& verb = innermost(app);
    std::string what = printable(error.what());
    if (const std::vector<std::string> unknown = app.remaining(true); !unknown.empty()) {
        const bool option = unknown.front().starts_with('-');
        const char* const kind = option ? "unknown option: " : &verb == &app ? "unknown verb: " : "unexpected: ";
        what = kind + printable(unknown.front());
        if (verb.get_name() == "run" && !option) what += "; the command comes after --, as in baton run -l NAME -- CMD";
    }
    const std::string help = &verb == &app ? "baton --help" : "baton " + verb.get_name() + " --help";
    complain(what + "\nallowed:" + allowed(verb) + "\n`" + help + "` says more");
    return number(exit_code::usage);
}

/// What comes after -- is the command's own, and none of the parser's business.
struct split_line {
    std::vector<std::string> own;  // last one first, as the parser wants it
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
    add_bench(app, chosen);
    add_functions(app, chosen);
    app.require_subcommand(0, 1);  // or the word of another verb, after the first, would be that verb
    app.footer(
        "Programs of one user on one machine meet at local:, the user's agent. Other users, `sudo baton` and other\n"
        "network namespaces have agents of their own; `baton agent --help` shows how to share one.\n\n"
        "`baton VERB --help` says more of a verb, with examples.");
    try {
        app.parse(line.own);
    } catch (const CLI::CallForHelp&) {
        return print(app.help());
    } catch (const CLI::CallForVersion& asked) {
        return print(asked.what());
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
