// `baton resize`: how many permits a name has, whatever its claims say.
#include <optional>

#include "baton/printable.hpp"
#include "baton/protocol.hpp"
#include "claim_spec.hpp"
#include "failure.hpp"
#include "number.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

constexpr const char* examples = R"(Examples:
  baton resize team/gpu 4       from now on 4, whatever the claims bring
  baton resize team/gpu auto    claims bring their own limit again

Who holds more than the new limit keeps it; who waits for more than that stops waiting.)";

struct texts {
    std::string name;
    std::string limit;
    place_options place;
};

std::optional<std::uint32_t> limit_of(const std::string& text) {
    if (text == "auto") return {};
    const auto limit = parse_number<std::uint32_t>(text);
    if (!limit || *limit < 1 || *limit > protocol::bounds::limit)
        throw failure{exit_code::usage, "the limit is 1 to " + std::to_string(protocol::bounds::limit) + ", or auto"};
    return limit;
}

int resize(const texts& in) {
    check_name(in.name);
    const auto limit = limit_of(in.limit);
    open_client(in.place.made()).resize(in.name, limit);
    const std::string name = printable(in.name);
    return print(limit ? name + " has " + std::to_string(*limit) + " permits now, whatever its claims say.\n"
                       : name + " has as many permits as its claims say.\n");
}

}  // namespace

void add_resize(CLI::App& app, action& chosen) {
    CLI::App* const verb = app.add_subcommand("resize", "Pin the limit of a name, or let claims bring theirs again");
    const auto in = std::make_shared<texts>();
    verb->footer(examples);
    verb->add_option("NAME", in->name, "The name")->required();
    verb->add_option("LIMIT", in->limit, "A number, or auto")->required()->type_name("N|auto");
    in->place.add_to(*verb);
    verb->callback([in, &chosen] { chosen = in->place.named_in([in] { return resize(*in); }); });
}

}  // namespace baton::cli
