// Combines the pages of `inspect` to a snapshot. A page shows its names at one moment; other pages, and the further
// pages of a name with more claims than fit on a page, are of other moments.
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

/// The counts of the server for a waiting claim of the client itself, on a page that shows only some claims.
struct shown_wait {
    std::string name;
    protocol::serial ticket = 0;
    std::size_t ahead = 0;     // waiting claims before it
    std::size_t admitted = 0;  // admitted claims on its name
};

class inspect_pages {
public:
    /// Adds a page. Returns the cursor of the next page, "0" after the last page, nothing if it is not a page. If
    /// `waits` is given, the page is the reply to `wait_page_call`, and its waits are appended there.
    [[nodiscard]] std::optional<std::string> add(const resp::value& page, std::vector<shown_wait>* waits = nullptr);

    /// A name with too many claims for its page: the caller adds the pages of that name next. None if there are no
    /// more.
    [[nodiscard]] std::optional<std::string> next_large();

    /// Everything that was added, unfiltered and without blockers, which the caller adds (`protocol::explain`).
    [[nodiscard]] snapshot take();

private:
    /// The alias of the session, and the number of the request.
    using request_key = std::pair<std::string, std::uint64_t>;
    struct seen_request {
        request_view view;
        std::vector<std::optional<claim>> claims;  // by index; none: not shown
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
    protocol::serial last_ticket_ = 0;  // of the last added claim
};

/// Sets queue positions and the numbers of holders left out, from the server's counts, because not all claims were
/// read.
void correct(snapshot& explained, const std::vector<shown_wait>& waits);

}  // namespace baton::redis
