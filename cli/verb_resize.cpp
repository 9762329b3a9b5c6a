// `baton resize`: pins the number of permits of a name.
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
  baton resize team/gpu 4       4 permits from now on, whatever limit the claims have
  baton resize team/gpu auto    the limits of the claims apply again

Holders keep their permits, even above the new limit. Waiters that want more permits than the new limit are refused.)";

struct texts {
    std::string name;
    std::string limit;
    address_options address;
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
    open_client(in.address.made()).resize(in.name, limit);
    const std::string name = printable(in.name);
    return print(limit ? "The limit of " + name + " is pinned to " + std::to_string(*limit) + " permits.\n"
                       : "The limit of " + name + " is not pinned; the limits of the claims apply.\n");
}

}  // namespace

void add_resize(CLI::App& app, action& chosen) {
    CLI::App* const verb = app.add_subcommand("resize", "Pin the number of permits of a name, or unpin it");
    const auto in = std::make_shared<texts>();
    verb->footer(examples);
    verb->add_option("NAME", in->name, "The name")->required();
    verb->add_option("LIMIT", in->limit, "The number of permits; auto unpins it")->required()->type_name("N|auto");
    in->address.add_to(*verb);
    verb->callback([in, &chosen] { chosen = in->address.named_in([in] { return resize(*in); }); });
}

}  // namespace baton::cli
