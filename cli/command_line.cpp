#include "command_line.hpp"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"

namespace baton::cli {
namespace {

/// The verbs and options that --help shows. Those without a group are internal.
std::string allowed(const CLI::App& app) {
    std::string names;
    for (const CLI::App* verb : app.get_subcommands({}))
        if (!verb->get_group().empty()) names += " " + verb->get_name();
    for (const CLI::Option* option : app.get_options())
        if (option->nonpositional() && !option->get_group().empty()) names += " " + option->get_name();
    return names;
}

/// The verb whose arguments were being parsed, or the program itself.
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
    const std::string help = app.get_name() + (&verb == &app ? "" : " " + verb.get_name()) + " --help";
    complain(what + "\nallowed:" + allowed(verb) + "\nsee `" + help + "`");
    return number(exit_code::usage);
}

}  // namespace

int perform(CLI::App& app, std::vector<std::string> words, const action& chosen) {
    try {
        app.parse(std::move(words));
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

int guarded(const action& action, const failure_report& report) {
    const auto ended = [&report](const std::string& what, exit_code code) {
        report ? report(what, number(code)) : complain(what);
        return number(code);
    };
    try {
        return action();
    } catch (const failure& known) {
        return ended(known.what(), known.code());
    } catch (const error& error) {
        return ended(error.what(), code_of(error.code()));
    } catch (const std::exception& error) {
        return ended(error.what(), exit_code::internal);
    }
}

int print(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
        return number(exit_code::ok);
    const std::error_code error{errno, std::generic_category()};
    complain("cannot write to standard output: " + error.message());
    return number(exit_code::internal);
}

void complain(const std::string& message) { std::fprintf(stderr, "baton: %s\n", message.c_str()); }

}  // namespace baton::cli
