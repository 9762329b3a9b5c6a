// The pages of `inspect`, put together to a snapshot. A name is shown as it was at one moment, unless it alone has more
// claims than a page holds; several names were read at several moments.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/inspect.hpp"
#include "stores/redis/function_call.hpp"
#include "stores/redis/function_reply.hpp"

namespace baton::redis {

/// A claim of the caller's own that waits, in a page of which only some claims were read.
struct shown_wait {
    std::string name;
    protocol::serial ticket = 0;
    std::size_t ahead = 0;     // claims that wait before it
    std::size_t admitted = 0;  // claims that are admitted on its resource
};

class inspect_pages {
public:
    /// Takes a page in; the cursor of the next, "0" after the last; none if it is not a page. `waits`: it is the page
    /// of a waiting line, and its waits are added there.
    [[nodiscard]] std::optional<std::string> add(const resp::value& page, std::vector<shown_wait>* waits = nullptr);

    /// A name that was too large for its page: its own pages are to be added next. None if there are no more.
    [[nodiscard]] std::optional<std::string> next_large();

    /// All that was added, unfiltered. Who blocks whom is for the caller to explain.
    [[nodiscard]] snapshot take();

private:
    /// Names a request: the alias of its session, and its number there.
    using request_key = std::pair<std::string, std::uint64_t>;
    struct seen_request {
        request_view view;
        std::vector<std::optional<claim>> claims;  // those that were shown, by index
    };

    void add_name(text_reader& from, std::vector<shown_wait>* waits);
    void add_claim(text_reader& from, resource_view& resource);
    [[nodiscard]] request_view read_request(text_reader& from, const std::string& alias);
    static claim read_wanted(text_reader& from);

    reply_head head_;
    std::size_t sessions_ = 0;
    std::map<std::string, std::size_t> session_of_;  // by alias
    std::map<std::string, resource_view> resources_;
    std::vector<std::string> large_;  // names without their claims
    std::string continued_;           // the name whose pages are being added
    std::map<request_key, seen_request> requests_;
    protocol::serial last_ticket_ = 0;  // of the claim that was added last
};

/// Sets places, and how many holders are not shown, by the server's own counts: not all claims were read.
void correct(snapshot& explained, const std::vector<shown_wait>& waits);

}  // namespace baton::redis
