// `baton why`: shows the holders of a name, its waiters, and what they wait for in turn.
#include "claim_spec.hpp"
#include "exit_codes.hpp"
#include "inspect/show.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

constexpr const char* examples = R"(Examples:
  baton why nightly    its holders, its waiters, and the names that they wait for in turn

The exit code is 1 if the name is free.)";

struct texts {
    std::string name;
    address_options address;
};

int explain(const texts& in) {
    check_name(in.name);
    const store_address address = in.address.made();
    client client = open_inspecting_client(address);
    const snapshot seen = inspect_at(client, address, {inspect_filter::match::exact, in.name, true});
    const int code = print(why_text(seen, in.name));
    if (code != number(exit_code::ok)) return code;
    return number(is_free(seen, in.name) ? exit_code::no : exit_code::ok);
}

}  // namespace

void add_why(CLI::App& app, action& chosen) {
    CLI::App* const verb =
        app.add_subcommand("why", "Show who holds a name, who waits for it, and what they wait for in turn");
    const auto in = std::make_shared<texts>();
    verb->footer(examples);
    verb->add_option("NAME", in->name, "The name")->required();
    in->address.add_to(*verb);
    verb->callback([in, &chosen] { chosen = in->address.named_in([in] { return explain(*in); }); });
}

}  // namespace baton::cli
