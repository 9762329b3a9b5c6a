// `baton functions`: the library that Baton runs inside of a Redis or Valkey server, for administrators whose clients
// may not load it themselves.
#include "program/function_library.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

constexpr const char* examples = R"(Examples:
  baton functions print | redis-cli -x FUNCTION LOAD     load them, as an administrator
  redis-cli FUNCTION LIST LIBRARYNAME 'baton_*'          all versions that a server has
  redis-cli FUNCTION DELETE NAME                         remove one that no client uses any more

Clients load the library themselves where their user may. Each version of Baton has a library of its own name, so that
old and new clients share a server. Never load with REPLACE: it clears a library's memory while clients use it.)";

}  // namespace

void add_functions(CLI::App& app, action& chosen) {
    CLI::App* const verb = app.add_subcommand("functions", "Print the functions that Baton runs in Redis and Valkey");
    verb->footer(examples);
    verb->require_subcommand(1);
    verb->add_subcommand("print", "Print the library, for FUNCTION LOAD")->callback([&chosen] {
        chosen = [] { return print(std::string{redis::server_library().text}); };
    });
    verb->add_subcommand("name", "Print the name of the library, which contains its version")->callback([&chosen] {
        chosen = [] { return print(std::string{redis::server_library().name} + "\n"); };
    });
}

}  // namespace baton::cli
