#include "verbs.hpp"

#include <chrono>
#include <filesystem>
#include <system_error>

#include "baton/error.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"

namespace baton::cli {

void place_options::add_to(CLI::App& verb) {
    verb.add_option("-u,--url", url, "Where the engine is; else BATON_URL, else local:, this user's agent")
        ->type_name("URL");
    verb.add_option("--space", space, "Which space of it; else BATON_SPACE")->type_name("SPACE");
}

action place_options::named_in(action asks) const {
    return [place = *this, asks = std::move(asks)] {
        try {
            return asks();
        } catch (const error& failed) {
            if (failed.code() != errc::store_unavailable) throw;
            fail_unreachable(place.made(), failed.reason());
        }
    };
}

void tell_no_agent(const place& place) {
    // An agent that ends in order removes its socket file.
    constexpr std::string_view scheme = "local:";
    const std::string path = place.url.substr(scheme.size(), place.url.find('?') - scheme.size());
    if (std::error_code none; !path.empty() && std::filesystem::is_socket(path, none))
        throw failure{exit_code::unreachable,
                      "no agent runs at " + shown(place) +
                          ", but its socket file is there: one has died, and its clients may still hold something; "
                          "`baton agent --address` starts another, to which they return"};
    complain("no agent runs at " + shown(place) + "; nothing is held there");
}

snapshot look(client& client, const place& place, const inspect_filter& filter) {
    try {
        return client.inspect(filter);
    } catch (const error& failed) {
        if (failed.code() != errc::no_agent) throw;
    }
    tell_no_agent(place);
    snapshot nothing;
    nothing.at = std::chrono::time_point_cast<protocol::duration>(std::chrono::system_clock::now());
    return nothing;
}

}  // namespace baton::cli
