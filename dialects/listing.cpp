#include "listing.hpp"

#include <algorithm>
#include <map>

#include "protocol/limit_shown.hpp"
#include "protocol/snapshot_filter.hpp"
#include "protocol/wait_graph.hpp"
#include "stores/redis/reply_class.hpp"

namespace baton::dialects {
namespace {

constexpr const char* page_size = "1000";

void scan_from(context& context, const redis_command& command, const std::string& cursor,
               std::vector<std::string> found,
               const std::function<void(std::error_code, std::vector<std::string>)>& done) {
    redis_command page{"SCAN", cursor};
    page.insert(page.end(), command.begin(), command.end());
    page.insert(page.end(), {"COUNT", page_size});
    context.execute({page}, [&context, command, found = std::move(found), done](const replies& replies) mutable {
        if (const auto* error = error_in(replies)) return done(failure_of(*error).error, {});
        const resp::value& read = replies[0];
        if (read.items.size() != 2) return done(std::make_error_code(std::errc::protocol_error), {});
        for (const resp::value& key : read.items[1].items) found.push_back(key.text);
        if (read.items[0].text != "0") return scan_from(context, command, read.items[0].text, std::move(found), done);
        std::ranges::sort(found);  // SCAN may return a key twice
        found.erase(std::unique(found.begin(), found.end()), found.end());
        done({}, std::move(found));
    });
}

}  // namespace

void scan(context& context, redis_command command,
          std::function<void(std::error_code, std::vector<std::string>)> done) {
    scan_from(context, command, "0", {}, done);
}

void find_keys(context& context, const inspect_filter& filter, const std::string& start, const char* type,
               const std::function<void(std::error_code, std::vector<std::string>)>& done) {
    if (filter.how == inspect_filter::match::exact) return done({}, {start + filter.name});
    const std::string rest = filter.how == inspect_filter::match::prefix ? filter.name : "";
    scan(context, {"MATCH", literal(start + rest) + "*", "TYPE", type}, done);
}

std::string literal(std::string_view name) {
    std::string pattern;
    for (const char c : name) {
        if (std::string_view{"*?[]\\^"}.find(c) != std::string_view::npos) pattern += '\\';
        pattern += c;
    }
    return pattern;
}

snapshot snapshot_of(const listing& listing, const inspect_filter& filter, protocol::instant at) {
    snapshot made;
    made.at = at;
    made.foreign = true;
    std::map<std::string, resource_view> resources;
    std::map<std::string, std::uint32_t> limits{listing.limits.begin(), listing.limits.end()};
    protocol::serial ticket = 0;
    for (const listed& each : listing.requests) {
        const auto limit = limits.find(each.resource);
        const bool counted = limit != limits.end() && limit->second > 1;
        const claim claim =
            each.claim.value_or(baton::claim{each.resource, counted ? claim_mode::permits : claim_mode::exclusive,
                                             counted ? 1U : 0U, counted ? limit->second : 0U});
        request_view request;
        request.ticket = ++ticket;
        request.fence = each.held ? ticket : 0;
        request.session = ticket;
        request.label = each.label;
        request.claims = {claim};
        made.requests.push_back(request);
        resource_view& resource = resources[each.resource];
        resource.name = each.resource;
        (each.held ? resource.holders : resource.queue)
            .push_back({ticket, claim.mode, claim.permits, claim.limit, each.held, {}});
        if (each.held) ++resource.used;
    }
    for (auto& [name, resource] : resources) {
        protocol::show_limit(resource);
        made.resources.push_back(std::move(resource));
    }
    made.sessions = made.requests.size();
    protocol::explain(made);
    filter.related ? protocol::keep_related(made, filter) : protocol::keep_matching(made, filter);
    return made;
}

}  // namespace baton::dialects
