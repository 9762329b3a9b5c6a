// What the programs `baton` and `baton-bench` share: how they read their command lines, and how they end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace baton::cli {

/// Performs the verb; the exit code. May throw `failure` and the library's `error`.
using action = std::function<int()>;

/// Parses `words`, which come in reverse order, and performs what the parser's callbacks put into `chosen`. Gives the
/// exit code.
int perform(CLI::App& app, std::vector<std::string> words, const action& chosen);

/// Receives a message and the exit code.
using failure_report = std::function<void(const std::string& what, int code)>;

/// Performs the action. What it throws becomes a message and an exit code. Without `report` the message goes to stderr.
int guarded(const action& action, const failure_report& report = {});

/// Writes to stdout, and makes sure that it arrived: a full disk, or a reader that has gone away, may show only then.
/// The exit code.
int print(const std::string& text);

/// Nothing is left to be done if stderr fails too.
void complain(const std::string& message);

}  // namespace baton::cli
