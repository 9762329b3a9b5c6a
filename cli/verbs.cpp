#include "verbs.hpp"

#include <chrono>
#include <filesystem>
#include <system_error>

#include "baton/error.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"

namespace baton::cli {

void address_options::add_to(CLI::App& verb) {
    verb.add_option("-u,--url", url, "The address of the store; default: BATON_URL, else local: (this user's agent)")
        ->type_name("URL");
    verb.add_option("--space", space, "The space there; default: BATON_SPACE")->type_name("SPACE");
}

action address_options::named_in(action perform) const {
    return [address = *this, perform = std::move(perform)] {
        try {
            return perform();
        } catch (const error& failed) {
            const store_address at = address.made();
            const bool names_it = failed.reason().find(shown(at)) != std::string::npos;
            if (!names_it && !is_about_store(failed.code())) throw;
            fail_at(at, failed.code(), failed.reason());
        }
    };
}

void report_no_agent(const store_address& address) {
    // An agent that ends normally removes its socket file.
    constexpr std::string_view scheme = "local:";
    const std::string path = address.url.substr(scheme.size(), address.url.find('?') - scheme.size());
    if (std::error_code none; !path.empty() && std::filesystem::is_socket(path, none))
        throw failure{exit_code::unreachable,
                      "no agent runs at " + shown(address) +
                          ", but its socket file exists: the agent has died, and its clients may still hold names; "
                          "start another with `baton agent --address`, and they reconnect to it"};
    complain("no agent runs at " + shown(address) + "; nothing is held there");
}

snapshot inspect_at(client& client, const store_address& address, const inspect_filter& filter) {
    try {
        return client.inspect(filter);
    } catch (const error& failed) {
        if (failed.code() != errc::no_agent) throw;
    }
    report_no_agent(address);
    snapshot nothing;
    nothing.at = std::chrono::time_point_cast<protocol::duration>(std::chrono::system_clock::now());
    return nothing;
}

}  // namespace baton::cli
