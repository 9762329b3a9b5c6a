// The verbs of the program: one file each. A verb describes itself to the parser; what it does runs after the whole
// command line was understood.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "command_line.hpp"
#include "place.hpp"

namespace baton::cli {

/// `command` is what came after `--`, for the verb that takes one.
void add_run(CLI::App& app, action& chosen, const std::vector<std::string>& command, bool has_command);
void add_agent(CLI::App& app, action& chosen);
/// `words` came after it, and are for the program that it runs.
void add_bench(CLI::App& app, action& chosen, const std::vector<std::string>& words);
void add_functions(CLI::App& app, action& chosen);
void add_ls(CLI::App& app, action& chosen);
void add_why(CLI::App& app, action& chosen);
void add_revoke(CLI::App& app, action& chosen);
void add_mend(CLI::App& app, action& chosen);
void add_resize(CLI::App& app, action& chosen);

/// --url and --space, as every verb has them.
struct place_options {
    std::string url;
    std::string space;

    void add_to(CLI::App& verb);
    [[nodiscard]] place made() const { return make_place(url, space); }
    /// The same action, but if the engine does not answer it says which one.
    [[nodiscard]] action named_in(action asks) const;
};

/// What `client` sees there. Where no agent runs, nothing is held, waited for or marked: that is said on stderr, and
/// the snapshot is empty. Throws `failure` (unreachable) where an agent has died and its clients may still hold
/// something.
[[nodiscard]] snapshot look(client& client, const place& place, const inspect_filter& filter);
/// The same sentence, for an action that failed with errc::no_agent.
void tell_no_agent(const place& place);

}  // namespace baton::cli
