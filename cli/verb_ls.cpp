// `baton ls`: lists holders, waiters and abandoned names.
#include "baton/printable.hpp"
#include "claim_spec.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"
#include "inspect/show.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

constexpr const char* examples = R"(Examples:
  baton ls                    all names that are held, waited for or abandoned
  baton ls nightly            one name; the exit code is 1 if it is free
  baton ls --prefix team/     names that begin with team/
  baton ls --json             for programs: one JSON object on one line
  baton ls --dot | dot -Tsvg  a graph of holders and the next waiters

ls starts no agent. If none runs, nothing is held: ls prints that on stderr and an empty list.)";

struct texts {
    std::string name;
    std::string prefix;
    bool json = false;
    bool dot = false;
    address_options address;
};

int list(const texts& in) {
    if (!in.name.empty() && !in.prefix.empty()) throw failure{exit_code::usage, "NAME and --prefix: one or the other"};
    if (in.json && in.dot) throw failure{exit_code::usage, "--json and --dot: one or the other"};
    inspect_filter filter;
    if (!in.prefix.empty()) filter = {inspect_filter::match::prefix, in.prefix, false};
    if (!in.name.empty()) {
        check_name(in.name);
        filter = {inspect_filter::match::exact, in.name, false};
    }
    const store_address address = in.address.made();
    client client = open_inspecting_client(address);
    const snapshot seen = inspect_at(client, address, filter);
    std::string text = in.json ? list_json(seen) : in.dot ? list_dot(seen) : list_text(seen);
    // Show the agent: another user's agent may be the one that has the name.
    if (const std::string agent = agent_meant(address); !in.json && !in.dot && !agent.empty())
        text = "at " + agent + "\n" + text;
    if (!in.json && !in.dot && !in.name.empty() && find_resource(seen, in.name) == nullptr)
        text += printable(in.name) + (is_paused(seen) ? ": not granted yet\n" : ": free\n");
    const int code = print(text);
    if (code != number(exit_code::ok) || in.name.empty() || !is_free(seen, in.name)) return code;
    return number(exit_code::no);
}

}  // namespace

void add_ls(CLI::App& app, action& chosen) {
    CLI::App* const verb = app.add_subcommand("ls", "List holders, waiters and abandoned names");
    const auto in = std::make_shared<texts>();
    verb->footer(examples);
    verb->add_option("NAME", in->name, "List only this name; the exit code is 1 if it is free");
    verb->add_option("--prefix", in->prefix, "List only names that begin with TEXT")->type_name("TEXT");
    verb->add_flag("--json", in->json, "Print JSON");
    verb->add_flag("--dot", in->dot, "Print a graph for Graphviz");
    in->address.add_to(*verb);
    verb->callback([in, &chosen] { chosen = in->address.named_in([in] { return list(*in); }); });
}

}  // namespace baton::cli
