// `baton mend`: removes the mark of an abandoned name.
#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "claim_spec.hpp"
#include "failure.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

constexpr const char* examples = R"(Examples:
  baton mend nightly    after you have repaired the damage of its last holder

A mark stays until it is mended, or until a later holder ends cleanly (a `baton run` whose command exits with 0).
The exit code is 1 if the name has no mark.)";

struct texts {
    std::string name;
    address_options address;
};

int mend(const texts& in) {
    check_name(in.name);
    const store_address address = in.address.made();
    client client = open_inspecting_client(address);
    try {
        client.mend(in.name);
    } catch (const error& refused) {
        if (refused.code() == errc::no_agent)
            report_no_agent(address);
        else if (refused.code() != errc::not_abandoned)
            throw;
        throw failure{exit_code::no, "cannot mend " + printable(in.name) + ": it is not marked as abandoned"};
    }
    return print(printable(in.name) + " is no longer marked as abandoned.\n");
}

}  // namespace

void add_mend(CLI::App& app, action& chosen) {
    CLI::App* const verb = app.add_subcommand("mend", "Remove the mark of an abandoned name");
    const auto in = std::make_shared<texts>();
    verb->footer(examples);
    verb->add_option("NAME", in->name, "The name")->required();
    in->address.add_to(*verb);
    verb->callback([in, &chosen] { chosen = in->address.named_in([in] { return mend(*in); }); });
}

}  // namespace baton::cli
