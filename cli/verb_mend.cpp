// `baton mend`: a name that was left behind is in order again.
#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "claim_spec.hpp"
#include "failure.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

constexpr const char* examples = R"(Examples:
  baton mend nightly    you have repaired what its last holder left behind

A mark stays until a holder that was told of it leaves cleanly, or until it is mended.
The exit code is 1 if there is none.)";

struct texts {
    std::string name;
    place_options place;
};

int mend(const texts& in) {
    check_name(in.name);
    const place place = in.place.made();
    client client = open_looking_client(place);
    try {
        client.mend(in.name);
    } catch (const error& refused) {
        if (refused.code() == errc::no_agent)
            tell_no_agent(place);
        else if (refused.code() != errc::not_abandoned)
            throw;
        throw failure{exit_code::no, printable(in.name) + " is not marked as abandoned"};
    }
    return print(printable(in.name) + " is not marked as abandoned any more.\n");
}

}  // namespace

void add_mend(CLI::App& app, action& chosen) {
    CLI::App* const verb = app.add_subcommand("mend", "Take the mark of an abandoned name away");
    const auto in = std::make_shared<texts>();
    verb->footer(examples);
    verb->add_option("NAME", in->name, "The name")->required();
    in->place.add_to(*verb);
    verb->callback([in, &chosen] { chosen = in->place.named_in([in] { return mend(*in); }); });
}

}  // namespace baton::cli
