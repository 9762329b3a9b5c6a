#include "stores/redis/script_pages.hpp"

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

std::optional<std::string> script_pages::add(section section, const resp::value& page) {
    if (page.kind != resp::kind::array || page.items.size() < 2) return {};
    text_reader head{page.items[0].text};
    head_ = read_head(head);
    bool fine = !head.failed();
    for (std::size_t i = 2; i < page.items.size() && fine; ++i) {
        text_reader from{page.items[i].text};
        if (section == section::sessions || section == section::dying) {
            add_session(from);
        } else {
            resource_view& resource = resources_[std::string{from.sized()}];
            if (section == section::marks)
                resource.mark = read_mark(from);
            else
                resource.pinned = from.number<std::uint32_t>();
        }
        fine = !from.failed() && from.done();
    }
    if (!fine) return {};
    return page.items[1].text;
}

void script_pages::add_session(text_reader& from) {
    const bool is_new = seen_.insert(std::string{from.bytes(16)}).second;
    request_view request;
    request.session = seen_.size() - 1;
    const instant deadline = text_reader::to_instant(from.number<std::uint64_t>());
    const std::chrono::milliseconds ttl{from.number<std::int64_t>()};
    request.silence = since(deadline - ttl, head_.at);
    request.label = from.sized();
    if (!is_new) return (void)from.bytes(from.left());  // a page may show again what an earlier one has shown
    for (std::size_t count = from.count(8); count > 0; --count) add_request(from, request);
}

void script_pages::add_request(text_reader& from, request_view request) {
    request.ticket = from.number<serial>();
    request.fence = from.number<serial>();
    request.age = since(text_reader::to_instant(request.fence != 0 ? request.fence : request.ticket), head_.at);
    if (const auto deadline = from.instant_if_any()) request.hold_left = *deadline - head_.at;
    if (const auto deadline = from.instant_if_any()) request.revoked_in = *deadline - head_.at;
    request.revoke_note = from.sized();
    for (std::size_t count = from.count(9); count > 0; --count) {
        claim_view view;
        view.ticket = request.ticket;
        view.admitted = from.letter() == '+';
        view.mode = mode_of(from);
        view.permits = from.number<std::uint32_t>();
        view.limit = from.number<std::uint32_t>();
        std::string name{from.sized()};
        view.slots = read_slots(from);
        if (from.failed()) return;
        resource_view& resource = resources_[name];
        if (view.admitted) resource.used += view.mode == claim_mode::permits ? view.permits : 1;
        request.claims.push_back({std::move(name), view.mode, view.permits, view.limit});
        (request.fence != 0 ? resource.holders : resource.queue).push_back(std::move(view));
    }
    requests_.push_back(std::move(request));
}

snapshot script_pages::take() {
    snapshot whole{head_.at, {}, seen_.size(), {}, {}, {}};
    if (head_.at < head_.paused_until) whole.paused_until = head_.paused_until;
    for (auto& [name, resource] : resources_) {
        resource.name = name;
        std::ranges::sort(resource.holders, {}, &claim_view::ticket);
        std::ranges::sort(resource.queue, {}, &claim_view::ticket);
        show_limit(resource);
        whole.resources.push_back(std::move(resource));
    }
    whole.requests = std::move(requests_);
    std::ranges::stable_sort(whole.requests, {}, &request_view::ticket);
    return whole;
}

}  // namespace baton::redis
