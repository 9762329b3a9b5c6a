// The verbs of the program, one file each. A verb adds its options to the parser and sets an action, which runs after
// the whole command line has been parsed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "command_line.hpp"
#include "store_address.hpp"

namespace baton::cli {

/// `command` contains the arguments after `--`.
void add_run(CLI::App& app, action& chosen, const std::vector<std::string>& command, bool has_command);
void add_agent(CLI::App& app, action& chosen);
/// `words` are the arguments after `bench`, for the program baton-bench.
void add_bench(CLI::App& app, action& chosen, const std::vector<std::string>& words);
void add_doctor(CLI::App& app, action& chosen);
void add_functions(CLI::App& app, action& chosen);
void add_ls(CLI::App& app, action& chosen);
void add_why(CLI::App& app, action& chosen);
void add_revoke(CLI::App& app, action& chosen);
void add_mend(CLI::App& app, action& chosen);
void add_resize(CLI::App& app, action& chosen);

/// The options --url and --space, which every verb has.
struct address_options {
    std::string url;
    std::string space;

    void add_to(CLI::App& verb);
    [[nodiscard]] store_address made() const { return make_address(url, space); }
    /// Wraps the action: if the store cannot be reached, the error names its address.
    [[nodiscard]] action named_in(action perform) const;
};

/// Inspects the store. If no agent runs, nothing is held, waited for or marked: prints that on stderr and returns an
/// empty snapshot. Throws `failure` (unreachable) if an agent has died and its clients may still hold names.
[[nodiscard]] snapshot inspect_at(client& client, const store_address& address, const inspect_filter& filter);
/// Prints that no agent runs, or throws `failure` as above, after an action failed with errc::no_agent.
void report_no_agent(const store_address& address);

}  // namespace baton::cli
