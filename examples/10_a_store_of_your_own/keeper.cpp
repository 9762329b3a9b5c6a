#include "keeper.hpp"

#include <algorithm>

namespace protocol = baton::protocol;

namespace {

protocol::instant wall_clock() {
    return std::chrono::time_point_cast<protocol::duration>(std::chrono::system_clock::now());
}

template <typename What> protocol::event event(What what) { return {wall_clock(), std::move(what)}; }

/// Why a request is malformed, without regard to the state.
std::optional<protocol::refusal> malformed(const protocol::enter& command) {
    if (command.claims.empty()) return protocol::refusal::no_claims;
    if (command.claims[0].resource.empty()) return protocol::refusal::name_empty;
    if (command.claims[0].resource.size() > protocol::bounds::name) return protocol::refusal::name_too_long;
    return {};
}

bool supported(const protocol::enter& command) {
    if (command.options.hold_limit || command.options.queue_bound) return false;
    return command.claims.empty() ||
           (command.claims.size() == 1 && command.claims[0].mode == baton::claim_mode::exclusive);
}

}  // namespace

std::optional<keeper::events> keeper::perform(const protocol::command& command, const listener& from) {
    if (const auto* open = std::get_if<protocol::open>(&command)) return on(*open, from);
    if (const auto* leave = std::get_if<protocol::leave>(&command)) return on(*leave);
    if (const auto* renew = std::get_if<protocol::renew>(&command)) return on(*renew);
    if (const auto* list = std::get_if<protocol::list>(&command)) return on(*list);
    if (const auto* close = std::get_if<protocol::close>(&command)) return on(*close);
    if (const auto* enter = std::get_if<protocol::enter>(&command); enter != nullptr && supported(*enter))
        return on(*enter);
    return {};
}

// Opens a session or renews it. It ends no request: if the keeper has requests that the client does not have, the
// client notices that by the digest.
keeper::events keeper::on(const protocol::open& command, const listener& from) {
    if (command.ttl < protocol::bounds::shortest_ttl)
        return {event(protocol::refused{{}, protocol::refusal::ttl_out_of_range})};
    session* session = alive(command.session);
    if (session == nullptr && (ended_.contains(command.session) || !command.live.empty()))
        return {event(protocol::refused{{}, protocol::refusal::unknown_session})};
    if (session != nullptr && command.connection_number < session->connection_number)
        return {event(protocol::refused{{}, protocol::refusal::stale_connection})};
    if (session == nullptr) session = &sessions_[command.session];
    // A copy of the last `open` has the same connection number, and only renews.
    if (command.connection_number > session->connection_number) {
        session->ttl = command.ttl;
        session->connection_number = command.connection_number;
        session->notices_to = from;
        session->highest = std::max(session->highest, command.highest);
    }
    session->deadline = clock::now() + session->ttl;
    return {state(command.session, *session)};
}

keeper::events keeper::on(const protocol::enter& command) {
    const request_id& id = command.request;
    if (const auto reason = malformed(command)) return {event(protocol::refused{id, *reason})};
    session* session = alive(id.session);
    if (session == nullptr) return {event(protocol::refused{id, protocol::refusal::unknown_session})};
    const std::string& name = command.claims[0].resource;

    // The message may arrive twice or late, and acts once.
    if (const auto found = session->requests.find(id.number); found != session->requests.end()) {
        if (found->second.name != name) return {event(protocol::refused{id, protocol::refusal::claims_differ})};
        if (found->second.fence != 0) return {granted(id, found->second)};
        return {event(protocol::queued{id, found->second.ticket})};
    }
    if (id.number <= session->highest) return {event(protocol::ended{id, protocol::end_reason::gone, 0})};
    session->highest = id.number;

    const auto queue = queues_.find(name);
    const bool free = queue == queues_.end();
    if (!free && command.options.nowait) return {event(protocol::refused{id, protocol::refusal::busy})};
    queues_[name].push_back(id);
    request& made = session->requests[id.number] = {name, next_number(), 0};
    session->digest += protocol::request_digest(id.number, 0, std::nullopt);
    if (!free) return {event(protocol::queued{id, made.ticket})};
    give(*session, id.number, made);
    return {granted(id, made)};
}

keeper::events keeper::on(const protocol::leave& command) {
    const request_id& id = command.request;
    protocol::ended ended{id, protocol::end_reason::gone, 0};
    if (session* session = alive(id.session)) {
        if (const auto found = session->requests.find(id.number); found != session->requests.end()) {
            ended.fence = found->second.fence;
            ended.reason = ended.fence != 0 ? protocol::end_reason::left : protocol::end_reason::withdrawn;
            end_request(id);
        }
        session->highest = std::max(session->highest, id.number);  // its `enter` may still arrive
    }
    return {event(ended)};
}

keeper::events keeper::on(const protocol::renew& command) {
    session* session = alive(command.session);
    if (session == nullptr) return {event(protocol::session_lost{command.session})};
    session->deadline = clock::now() + session->ttl;
    return {state(command.session, *session)};
}

// A client sends `list` when the count or the digest in `alive` is not its own.
keeper::events keeper::on(const protocol::list& command) {
    const session* session = alive(command.session);
    if (session == nullptr) return {event(protocol::session_lost{command.session})};
    protocol::listed page{command.session, command.after, {}, false};
    for (auto next = session->requests.upper_bound(command.after); next != session->requests.end(); ++next) {
        page.more = page.requests.size() == protocol::bounds::page;
        if (page.more) break;
        page.requests.push_back({next->first, next->second.ticket, next->second.fence});
    }
    return {event(std::move(page))};
}

keeper::events keeper::on(const protocol::close& command) {
    if (alive(command.session) != nullptr) end_session(command.session);
    remember_ended(command.session);  // also for an unknown session, whose `open` may still arrive
    return {event(protocol::closed{command.session})};
}

void keeper::give(session& owner, std::uint64_t number, request& request) {
    owner.digest -= protocol::request_digest(number, 0, std::nullopt);
    request.fence = next_number();
    owner.digest += protocol::request_digest(number, request.fence, std::nullopt);
}

/// The hand-off: the first request of the queue is granted, and its session is notified.
void keeper::end_request(const request_id& id) {
    session& owner = sessions_.at(id.session);
    const request over = owner.requests.at(id.number);
    const std::string& name = over.name;
    owner.digest -= protocol::request_digest(id.number, over.fence, std::nullopt);
    owner.requests.erase(id.number);
    std::deque<request_id>& queue = queues_.at(name);
    std::erase(queue, id);
    if (queue.empty()) {
        queues_.erase(name);
        return;
    }
    session& next = sessions_.at(queue.front().session);
    request& first = next.requests.at(queue.front().number);
    if (first.fence != 0) return;  // a waiter left
    give(next, queue.front().number, first);
    notices_.emplace_back(next.notices_to, granted(queue.front(), first));
}

// Waiters end before holders, so that no request of an ending session is granted.
void keeper::end_session(const session_id& id) {
    std::vector<request_id> holding;
    std::vector<request_id> waiting;
    for (const auto& [number, request] : sessions_.at(id).requests)
        (request.fence != 0 ? holding : waiting).push_back({id, number});
    for (const request_id& request : waiting) end_request(request);
    for (const request_id& request : holding) end_request(request);
    sessions_.erase(id);
    remember_ended(id);
}

/// A late `open` of an earlier connection must not start an ended session again.
void keeper::remember_ended(const session_id& id) {
    constexpr std::chrono::seconds long_enough{15};
    std::erase_if(ended_, [](const auto& entry) { return entry.second <= clock::now(); });
    ended_[id] = clock::now() + long_enough;
}

void keeper::expire() {
    while (!sessions_.empty() && *earliest() <= clock::now()) {
        const auto over =
            std::ranges::min_element(sessions_, {}, [](const auto& entry) { return entry.second.deadline; });
        const session_id id = over->first;
        notices_.emplace_back(over->second.notices_to, event(protocol::session_lost{id}));
        end_session(id);
    }
}

std::optional<keeper::clock::time_point> keeper::earliest() const {
    std::optional<clock::time_point> first;
    for (const auto& [id, session] : sessions_)
        if (!first || session.deadline < *first) first = session.deadline;
    return first;
}

keeper::session* keeper::alive(const session_id& id) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return nullptr;
    if (clock::now() < found->second.deadline) return &found->second;
    end_session(id);
    return nullptr;
}

protocol::event keeper::granted(const request_id& id, const request& request) {
    return event(protocol::granted{id, request.ticket, request.fence, {}, {}, {}});
}

protocol::event keeper::state(const session_id& id, const session& session) {
    const auto left = std::chrono::duration_cast<protocol::duration>(session.deadline - clock::now());
    protocol::alive alive{id, wall_clock() + left, session.requests.size(), session.digest};
    return event(alive);
}

/// Tickets and fences come from one counter. It follows the clock, so that they keep growing after a restart.
protocol::serial keeper::next_number() {
    const auto micros = static_cast<protocol::serial>(wall_clock().time_since_epoch().count());
    return last_number_ = std::max(last_number_ + 1, micros);
}
