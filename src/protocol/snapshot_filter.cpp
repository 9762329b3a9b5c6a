#include "protocol/snapshot_filter.hpp"

#include <algorithm>
#include <set>

namespace baton::protocol {

bool matches(const inspect_filter& filter, std::string_view resource) {
    switch (filter.how) {
        case inspect_filter::match::all: return true;
        case inspect_filter::match::prefix: return resource.starts_with(filter.name);
        case inspect_filter::match::exact: return resource == filter.name;
    }
    return false;
}

void keep_matching(snapshot& snapshot, const inspect_filter& filter) {
    const auto is_out = [&filter](std::string_view name) { return !matches(filter, name); };
    std::erase_if(snapshot.resources, [&](const resource_view& resource) { return is_out(resource.name); });
    std::erase_if(snapshot.requests, [&](const request_view& request) {
        return std::ranges::all_of(request.claims, is_out, &claim::resource);
    });
    std::erase_if(snapshot.circles,
                  [&](const circle& circle) { return std::ranges::all_of(circle, is_out, &circle_step::resource); });
}

void keep_related(snapshot& snapshot, const inspect_filter& filter) {
    std::set<std::string_view> names;
    std::set<std::size_t> sessions;
    for (const resource_view& resource : snapshot.resources)
        if (matches(filter, resource.name)) names.insert(resource.name);
    for (bool grown = true; grown;) {
        grown = false;
        for (const request_view& request : snapshot.requests) {
            const bool named = std::ranges::any_of(
                request.claims, [&names](const claim& claim) { return names.contains(claim.resource); });
            if (named) grown = sessions.insert(request.session).second || grown;
            if (!sessions.contains(request.session)) continue;
            for (const claim& claim : request.claims) grown = names.insert(claim.resource).second || grown;
        }
    }
    std::erase_if(snapshot.requests, [&](const request_view& request) { return !sessions.contains(request.session); });
    std::erase_if(snapshot.circles, [&](const circle& circle) {
        return std::ranges::none_of(circle,
                                    [&names](const circle_step& step) { return names.contains(step.resource); });
    });
    std::erase_if(snapshot.resources, [&](const resource_view& resource) { return !names.contains(resource.name); });
}

}  // namespace baton::protocol
