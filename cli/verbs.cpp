#include "verbs.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "baton/error.hpp"
#include "exit_codes.hpp"

namespace baton::cli {

void place_options::add_to(CLI::App& verb) {
    verb.add_option("-u,--url", url, "Where the engine is; else BATON_URL, else local:")->type_name("URL");
    verb.add_option("--space", space, "Which space of it; else BATON_SPACE")->type_name("SPACE");
}

action place_options::named_in(action asks) const {
    return [place = *this, asks = std::move(asks)] {
        try {
            return asks();
        } catch (const error& failed) {
            if (failed.code() != errc::store_unavailable) throw;
            no_answer(place.made());
        }
    };
}

int print(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
        return number(exit_code::ok);
    const std::error_code error{errno, std::generic_category()};
    complain("cannot write to standard output: " + error.message());
    return number(exit_code::internal);
}

void complain(const std::string& message) { std::fprintf(stderr, "baton: %s\n", message.c_str()); }

}  // namespace baton::cli
