// `baton bench`: runs the program baton-bench, which may be missing, with the arguments that follow.
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "exit_codes.hpp"
#include "failure.hpp"
#include "find_program.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

[[noreturn]] void become_bench(std::vector<std::string> words) {
    const std::string program = program_beside_or_in_path("baton-bench");
    if (program.empty())
        throw failure{exit_code::unreachable,
                      "the program baton-bench is neither beside baton nor in PATH; in a build of Baton, "
                      "`cmake --install BUILD --component bench` installs it"};
    words.insert(words.begin(), program);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(program.c_str(), arguments.data());
    throw failure{exit_code::unreachable,
                  "cannot execute " + program + ": " + std::error_code{errno, std::generic_category()}.message()};
}

}  // namespace

void add_bench(CLI::App& app, action& chosen, const std::vector<std::string>& words) {
    CLI::App* const verb = app.add_subcommand("bench", "Measure locks on this machine or on a Redis server");
    verb->callback([words, &chosen] { chosen = [words]() -> int { become_bench(words); }; });
}

}  // namespace baton::cli
