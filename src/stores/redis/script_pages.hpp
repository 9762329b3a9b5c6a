// The pages of `inspect`, put together to a snapshot. Each page is one moment, all of them together are not: whoever
// moved meanwhile may be seen twice or not at all.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baton/inspect.hpp"
#include "stores/redis/script_call.hpp"
#include "stores/redis/script_reply.hpp"

namespace baton::redis {

class script_pages {
public:
    /// Takes a page of a section in; the cursor of the next, "0" after the last; none if it is not a page.
    [[nodiscard]] std::optional<std::string> add(section section, const resp::value& page);

    /// All that was added, whole and unfiltered. Who blocks whom is for the caller to explain.
    [[nodiscard]] snapshot take();

private:
    void add_session(text_reader& from);
    void add_request(text_reader& from, request_view request);

    script_head head_;
    std::set<std::string> seen_;  // aliases of sessions
    std::map<std::string, resource_view> resources_;
    std::vector<request_view> requests_;
};

}  // namespace baton::redis
