// Starts the program with an address, a HOME and an environment of its own.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "process.hpp"

namespace baton::testing {

class Cli : public ::testing::Test {
protected:
    /// The engine is `memory:`, in baton's own process, which is enough for tests without contention. The program
    /// refuses it; BATON_PROGRAM is the program with that refusal removed: see in_process.cpp.
    [[nodiscard]] std::map<std::string, std::string> environment() const {
        return {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                {"HOME", folder_.path()},
                {"TERM", "xterm"},
                {"BATON_URL", "memory:"},
                {"SHELL", "/bin/sh"},
                {"LANG", "C.UTF-8"}};
    }
    [[nodiscard]] start_options baton(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), BATON_PROGRAM);
        return {.arguments = std::move(arguments), .environment = environment(), .input = {}};
    }
    /// `baton run -l a OPTIONS -- COMMAND`
    [[nodiscard]] start_options run(std::vector<std::string> options, const std::vector<std::string>& command) const {
        std::vector<std::string> arguments{"run", "-l", "a"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        arguments.emplace_back("--");
        arguments.insert(arguments.end(), command.begin(), command.end());
        return baton(std::move(arguments));
    }
    [[nodiscard]] start_options run_shell(std::vector<std::string> options, const std::string& script) const {
        return run(std::move(options), {"/bin/sh", "-c", script});
    }
    /// An interactive bash with job control on a terminal; the variable BATON is the path of the program.
    [[nodiscard]] start_options interactive_shell() const {
        start_options options{.arguments = {"/bin/bash", "--norc", "--noprofile", "-i"},
                              .environment = environment(),
                              .input = {},
                              .on_terminal = true};
        options.environment["PS1"] = "ready> ";
        options.environment["BATON"] = BATON_PROGRAM;
        return options;
    }
    static void send(child& shell, const std::string& line) {
        shell.forget();
        shell.type(line + "\n");
    }
    static void leave(child& shell) {
        shell.type("exit\n");
        EXPECT_TRUE(shell.wait());
    }
    /// The guardian of a baton process; waits until there is one.
    static pid_t guardian_of(pid_t baton) {
        pid_t found = 0;
        eventually([&] {
            const auto children = children_of(baton);
            if (!children.empty()) found = children.front();
            return found != 0;
        });
        return found;
    }

    folder folder_;
};

}  // namespace baton::testing
