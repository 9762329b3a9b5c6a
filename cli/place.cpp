#include "place.hpp"

#include <cstdlib>
#include <utility>

#include "client/url.hpp"
#include "failure.hpp"
#include "stores/resp/wire.hpp"

namespace baton::cli {
namespace {

template <typename Make> auto or_fail(Make make) {
    try {
        return make();
    } catch (const error& refused) {
        throw failure{code_of(refused.code()), refused.what()};
    }
}

}  // namespace

place make_place(std::string url, std::string space) {
    if (url.empty()) url = detail::default_url();
    if (space.empty())
        if (const char* inherited = std::getenv("BATON_SPACE")) space = inherited;
    if (!space.empty() && !resp::valid_space(space)) throw failure{exit_code::usage, resp::space_rule};
    return {std::move(url), std::move(space)};
}

// `memory:` has no spaces of its own, but `memory:NAME` is a space by another word.
std::string address_of(const place& place) {
    if (place.space.empty()) return place.url;
    if (place.url.starts_with("memory:")) return place.url + "/" + place.space;
    return place.url + (place.url.find('?') == std::string::npos ? "?" : "&") + "space=" + place.space;
}

void no_answer(const place& place) {
    throw failure{exit_code::unreachable, "the engine at " + detail::shown_url(place.url) + " does not answer"};
}

store_maker& store_maker_used() {
    static store_maker maker = [](std::string_view address, companion companion, const run_tree& tree) {
        return detail::make_store(address, std::move(companion), tree);
    };
    return maker;
}

std::shared_ptr<store> open_store(const place& place, companion companion, const run_tree& tree) {
    return or_fail([&] { return store_maker_used()(address_of(place), std::move(companion), tree); });
}

client open_client(std::shared_ptr<store> store, const client_options& options) {
    return or_fail([&] { return client{std::move(store), options}; });
}

client open_client(const place& place) { return open_client(open_store(place)); }

}  // namespace baton::cli
