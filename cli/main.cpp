// The program's entry. Every way out is an exit_code, and what goes to stdout has arrived there before we say ok.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "agent.hpp"
#include "exit_codes.hpp"
#include "stores/local/start_agent.hpp"
#include "version.hpp"

namespace {

using baton::cli::exit_code;

// Nothing is left to be done if stderr fails too.
void complain(std::string_view message) {
    std::fprintf(stderr, "baton: %.*s\n", static_cast<int>(message.size()), message.data());
}

// Flushes, because a full disk or a reader that has gone away may show only then.
exit_code print(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return exit_code::ok;
    const std::error_code error{errno, std::generic_category()};
    complain("cannot write to standard output: " + error.message());
    return exit_code::internal;
}

std::string allowed(const CLI::App& app) {
    std::string names;
    for (const CLI::App* verb : app.get_subcommands({})) names += " " + verb->get_name();
    for (const CLI::Option* option : app.get_options()) names += " " + option->get_name();
    return names;
}

exit_code wrong_usage(const CLI::App& app, const std::string& what) {
    complain(what + "\nallowed:" + allowed(app) + "\n`baton --help` says more");
    return exit_code::usage;
}

std::string name_unknown(const CLI::App& app, const CLI::ParseError& error) {
    const std::vector<std::string> unknown = app.remaining();
    if (unknown.empty()) return error.what();
    return (unknown.front().starts_with('-') ? "unknown option: " : "unknown verb: ") + unknown.front();
}

exit_code run(int argc, char** argv) {
    CLI::App app{
        "Baton hands ownership of named things from one program to the next: fair locks, locks over\n"
        "several names at once, read/write locks and semaphores.",
        "baton"};
    app.footer("More verbs arrive with the releases to come.");
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.set_version_flag("--version", "baton " + std::string{baton::cli::version} + "\n", "Print the version and exit");

    exit_code code = exit_code::usage;
    baton::cli::add_agent(app, code);

    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        const auto chosen = app.get_subcommands();
        return print(chosen.empty() ? app.help() : chosen.front()->help());
    } catch (const CLI::CallForVersion& version) {
        return print(version.what());
    } catch (const CLI::ParseError& error) {
        return wrong_usage(app, name_unknown(app, error));
    }
    if (app.get_subcommands().empty()) std::fputs(app.help().c_str(), stderr);
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    exit_code code = exit_code::internal;
    try {
        baton::detail::use_agent_program("/proc/self/exe");
        code = run(argc, argv);
    } catch (const std::exception& error) {
        complain(error.what());
    }
    return static_cast<int>(code);
}
