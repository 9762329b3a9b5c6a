#include "stores/redis/inspect_pages.hpp"

#include <algorithm>

#include "protocol/limit_shown.hpp"

namespace baton::redis {
namespace {

using namespace protocol;

claim_mode mode_of(text_reader& from) {
    switch (from.letter()) {
        case 'x': return claim_mode::exclusive;
        case 's': return claim_mode::shared;
        case 'p': return claim_mode::permits;
        default: from.fail(); return {};
    }
}

duration since(instant then, instant now) { return std::max(duration{0}, now - then); }

}  // namespace

std::optional<std::string> inspect_pages::add(const resp::value& page, std::vector<shown_wait>* waits) {
    constexpr std::size_t first_name = 3;
    if (page.kind != resp::kind::array || page.items.size() < first_name) return {};
    text_reader head{page.items[0].text};
    head_ = read_head(head);
    text_reader sessions{page.items[2].text};
    sessions_ = sessions.whole_number<std::size_t>();
    bool fine = !head.failed() && !sessions.failed();
    for (std::size_t i = first_name; i < page.items.size() && fine; ++i) {
        text_reader from{page.items[i].text};
        add_name(from, waits);
        fine = !from.failed() && from.done();
    }
    if (!fine) return {};
    return page.items[1].text;
}

void inspect_pages::add_name(text_reader& from, std::vector<shown_wait>* waits) {
    const std::string name{from.sized()};
    if (from.failed()) return;
    resource_view& resource = resources_[name];
    if (name != continued_) resource = {};  // HSCAN may return a name twice
    resource.name = name;
    resource.pinned = from.number_if_any<std::uint32_t>();
    resource.mark = from.letter() == '+' ? std::optional{read_mark(from)} : std::nullopt;
    resource.used = from.number<std::uint64_t>();
    const auto admitted = from.number<std::size_t>();
    const auto waiting = from.number<std::size_t>();
    if (from.letter() != '+' && name != continued_) large_.push_back(name);
    constexpr std::size_t least_bytes = 80;
    for (std::size_t count = from.count(least_bytes); count > 0 && !from.failed(); --count) add_claim(from, resource);
    if (waits != nullptr) waits->push_back({name, last_ticket_, waiting, admitted});
}

request_view inspect_pages::read_request(text_reader& from, const std::string& alias) {
    request_view request;
    request.session = session_of_.try_emplace(alias, session_of_.size()).first->second;
    request.ticket = from.digits();
    request.fence = from.digits();
    request.age = since(text_reader::to_instant(request.fence != 0 ? request.fence : request.ticket), head_.at);
    if (const auto deadline = from.instant_if_any()) request.hold_left = *deadline - head_.at;
    if (const auto deadline = from.instant_if_any()) request.revoked_in = *deadline - head_.at;
    request.revoke_note = from.sized();
    const instant deadline = from.instant();
    const std::chrono::milliseconds ttl{from.number<std::int64_t>()};
    request.silence = since(deadline - ttl, head_.at);
    request.label = from.sized();
    return request;
}

/// Reads mode, permits and limit, without the name.
claim inspect_pages::read_wanted(text_reader& from) {
    claim wanted;
    wanted.mode = mode_of(from);
    wanted.permits = from.number<std::uint32_t>();
    wanted.limit = from.number<std::uint32_t>();
    return wanted;
}

void inspect_pages::add_claim(text_reader& from, resource_view& resource) {
    const std::string alias{from.bytes(16)};
    const auto number = from.number<std::uint64_t>();
    request_view about = read_request(from, alias);
    const auto index = from.number<std::size_t>();
    const auto total = from.number<std::size_t>();
    if (index < 1 || index > total || total > bounds::claims) from.fail();
    const bool admitted = from.letter() == '+';
    claim wanted = read_wanted(from);
    wanted.resource = resource.name;
    std::vector<slot> slots = read_slots(from);
    const bool with_others = from.letter() == '+';
    if (from.failed()) return;

    seen_request& seen = requests_[{alias, number}];
    last_ticket_ = about.ticket;
    seen.view = std::move(about);
    seen.claims.resize(total);
    (seen.view.fence != 0 ? resource.holders : resource.queue)
        .push_back({seen.view.ticket, wanted.mode, wanted.permits, wanted.limit, admitted, std::move(slots)});
    seen.claims[index - 1] = std::move(wanted);
    for (std::size_t i = 1; with_others && i <= total; ++i) {
        if (i == index) continue;
        claim other = read_wanted(from);
        other.resource = from.sized();
        if (from.failed()) return;
        seen.claims[i - 1] = std::move(other);
    }
}

std::optional<std::string> inspect_pages::next_large() {
    if (large_.empty()) return {};
    continued_ = std::move(large_.back());
    large_.pop_back();
    resources_.erase(continued_);
    return continued_;
}

snapshot inspect_pages::take() {
    snapshot whole{head_.at, {}, sessions_, {}, {}, {}};
    if (head_.at < head_.paused_until) whole.paused_until = head_.paused_until;
    for (auto& [name, resource] : resources_) {
        std::ranges::sort(resource.holders, {}, &claim_view::ticket);
        std::ranges::sort(resource.queue, {}, &claim_view::ticket);
        show_limit(resource);
        whole.resources.push_back(std::move(resource));
    }
    for (auto& [key, seen] : requests_) {
        for (std::optional<claim>& claim : seen.claims)
            if (claim) seen.view.claims.push_back(std::move(*claim));
        whole.requests.push_back(std::move(seen.view));
    }
    std::ranges::stable_sort(whole.requests, {}, &request_view::ticket);
    return whole;
}

void correct(snapshot& explained, const std::vector<shown_wait>& waits) {
    for (const shown_wait& wait : waits) {
        const auto request = std::ranges::find(explained.requests, wait.ticket, &request_view::ticket);
        const auto resource = std::ranges::find(explained.resources, wait.name, &resource_view::name);
        if (request == explained.requests.end() || resource == explained.resources.end()) continue;
        request->position = std::max(request->position, wait.ahead + 1);
        const std::size_t shown = std::min(resource->holders.size(), blockers_shown);
        request->blockers_left_out = wait.admitted > shown ? wait.admitted - shown : 0;
    }
}

}  // namespace baton::redis
