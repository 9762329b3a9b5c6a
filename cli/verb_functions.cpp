// `baton functions`: prints the function library for Redis and Valkey servers, for administrators whose clients may not
// load it themselves.
#include "program/function_library.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

constexpr const char* examples = R"(Examples:
  baton functions print | redis-cli -x FUNCTION LOAD     load the library, as an administrator
  redis-cli FUNCTION LIST LIBRARYNAME 'baton_*'          list all versions on a server
  redis-cli FUNCTION DELETE NAME                         remove a version that no client uses any more

Clients load the library themselves if their user has the right. Each version of Baton has a library with a name of its
own, so old and new clients can share a server. Never load with REPLACE: it clears the memory of a library in use.)";

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
