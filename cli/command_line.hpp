// The parts that the programs `baton` and `baton-bench` share: reading the command line, and exit codes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace baton::cli {

/// Performs the verb and returns the exit code. May throw `failure` and the library's `error`.
using action = std::function<int()>;

/// Parses `words`, which are in reverse order, and performs the action that the parser's callbacks put into `chosen`.
/// Returns the exit code.
int perform(CLI::App& app, std::vector<std::string> words, const action& chosen);

/// Receives a message and the exit code.
using failure_report = std::function<void(const std::string& what, int code)>;

/// Performs the action. An exception becomes a message and an exit code. Without `report` the message goes to stderr.
int guarded(const action& action, const failure_report& report = {});

/// Writes to stdout and flushes it, because a full disk or a closed pipe may only show then. Returns the exit code.
int print(const std::string& text);

/// Prints an error message to stderr. Ignores a failure of stderr.
void complain(const std::string& message);

}  // namespace baton::cli
