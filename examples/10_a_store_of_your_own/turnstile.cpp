// The state is two maps. A session has a deadline and its requests; a name has the queue of its requests, and whoever
// is first in the queue holds it. Everything happens under one mutex, and what is to be told is told after it.
#include "turnstile.hpp"

#include <baton/error.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace protocol = baton::protocol;
using baton::protocol::request_id;
using baton::protocol::session_id;
using std::chrono::steady_clock;
using events = std::vector<protocol::event>;
using listener = std::weak_ptr<baton::store_listener>;

class keeper {
public:
    void perform(const listener& from, const std::vector<baton::message>& messages);
    void expire(const std::stop_token& stop);

private:
    struct request {
        std::string name;
        protocol::serial ticket = 0;
        protocol::serial fence = 0;  // 0: it waits
    };

    struct session {
        std::chrono::milliseconds ttl{0};
        steady_clock::time_point deadline;
        std::uint64_t link = 0;     // of the newest `open`: older ones are late
        std::uint64_t highest = 0;  // of all requests so far: what is not alive up to here never lives again
        listener told;              // where its notices go
        std::map<std::uint64_t, request> requests;
    };

    struct delivery {
        listener to;
        std::function<void(baton::store_listener&)> tell;
    };

    // One function for each command that is supported; all others are answered as unsupported.
    events on(const protocol::open& command, const listener& from);
    events on(const protocol::enter& command, const listener& from);
    events on(const protocol::leave& command, const listener& from);
    events on(const protocol::renew& command, const listener& from);
    events on(const protocol::close& command, const listener& from);

    session* alive(const session_id& id);
    void renew(session& session);
    void end_session(const session_id& id);
    void end_request(const request_id& id);
    void notify(const session& session, protocol::event event);
    [[nodiscard]] std::optional<steady_clock::time_point> earliest() const;
    [[nodiscard]] protocol::serial next_number();
    static protocol::event granted(const request_id& id, const request& request);
    static protocol::event state(const session_id& id, const session& session);
    static void deliver(const std::vector<delivery>& deliveries);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<session_id, session> sessions_;
    std::map<std::string, std::deque<request_id>> queues_;
    protocol::serial last_number_ = 0;
    std::vector<delivery> outbox_;
};

namespace {

protocol::instant wall_clock() {
    return std::chrono::time_point_cast<protocol::duration>(std::chrono::system_clock::now());
}

template <typename What> protocol::event event(What what) { return {wall_clock(), std::move(what)}; }

/// What is wrong with a request, whatever the state.
std::optional<protocol::refusal> malformed(const protocol::enter& command) {
    if (command.claims.empty()) return protocol::refusal::no_claims;
    if (command.claims[0].resource.empty()) return protocol::refusal::name_empty;
    if (command.claims[0].resource.size() > protocol::bounds::name) return protocol::refusal::name_too_long;
    return {};
}

bool supported(const protocol::enter& command) {
    if (command.options.hold_limit || command.options.queue_bound) return false;
    return command.claims.empty() || (command.claims.size() == 1 && command.claims[0].mode == baton::mode::exclusive);
}

/// The store's end of a line: all that it knows is whom to answer.
class line final : public baton::store_line {
public:
    line(std::shared_ptr<turnstile> store, std::weak_ptr<baton::store_listener> listener)
        : store_{std::move(store)}, listener_{std::move(listener)} {}

    void send(std::vector<baton::message> messages) override { store_->perform(listener_, messages); }
    void reset() override {}  // a function call is never silent
    void inspect(const baton::inspect_filter&, std::function<void(std::error_code, baton::snapshot)> answer) override {
        answer(baton::errc::unsupported, {});
    }

private:
    std::shared_ptr<turnstile> store_;
    std::weak_ptr<baton::store_listener> listener_;
};

}  // namespace

void keeper::perform(const listener& from, const std::vector<baton::message>& messages) {
    std::vector<delivery> deliveries;
    {
        const std::lock_guard lock{mutex_};
        for (const baton::message& message : messages) {
            const baton::message_tag tag = message.tag;
            const auto answer = std::visit(
                [&](const auto& command) -> std::optional<events> {
                    using command_type = std::decay_t<decltype(command)>;
                    if constexpr (std::is_same_v<command_type, protocol::enter>) {
                        if (!supported(command)) return {};
                    }
                    if constexpr (requires { on(command, from); })
                        return on(command, from);
                    else
                        return {};
                },
                message.command);
            if (answer)
                outbox_.push_back({from, [tag, answer](auto& heard) { heard.replied(tag, 1, *answer); }});
            else
                outbox_.push_back({from, [tag](auto& heard) {
                                       heard.failed(tag, baton::failure::rejected, baton::errc::unsupported);
                                   }});
        }
        deliveries.swap(outbox_);
    }
    deliver(deliveries);
}

// Opens a session or renews it. What it does not list has been left; what it lists is still here, or is over.
events keeper::on(const protocol::open& command, const listener& from) {
    if (command.ttl < protocol::bounds::shortest_ttl)
        return {event(protocol::refused{{}, protocol::refusal::ttl_out_of_range})};
    session* session = alive(command.session);
    if (session == nullptr && !command.live.empty())
        return {event(protocol::refused{{}, protocol::refusal::unknown_session})};
    if (session != nullptr && command.link < session->link)
        return {event(protocol::refused{{}, protocol::refusal::late_link})};
    if (session == nullptr) session = &sessions_[command.session];
    if (command.link > session->link) {  // else it is the same message again, and only renews
        session->ttl = command.ttl;
        session->link = command.link;
        session->told = from;
        for (auto next = session->requests.begin(); next != session->requests.end();) {
            const std::uint64_t number = (next++)->first;
            const bool listed =
                std::ranges::find(command.live, number, &protocol::live_request::number) != command.live.end();
            if (number <= command.highest && !listed) end_request({command.session, number});
        }
        session->highest = std::max(session->highest, command.highest);
    }
    renew(*session);
    return {state(command.session, *session)};
}

events keeper::on(const protocol::enter& command, const listener&) {
    const request_id& id = command.request;
    if (const auto reason = malformed(command)) return {event(protocol::refused{id, *reason})};
    session* session = alive(id.session);
    if (session == nullptr) return {event(protocol::refused{id, protocol::refusal::unknown_session})};
    const std::string& name = command.claims[0].resource;

    // The same message may come twice, or late: it acts once.
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
    if (!free) return {event(protocol::queued{id, made.ticket})};
    made.fence = next_number();
    return {granted(id, made)};
}

events keeper::on(const protocol::leave& command, const listener&) {
    const request_id& id = command.request;
    protocol::ended ended{id, protocol::end_reason::gone, 0};
    if (session* session = alive(id.session)) {
        if (const auto found = session->requests.find(id.number); found != session->requests.end()) {
            ended.fence = found->second.fence;
            ended.reason = ended.fence != 0 ? protocol::end_reason::left : protocol::end_reason::withdrawn;
            end_request(id);
        }
        session->highest = std::max(session->highest, id.number);  // its `enter` may still be on the way
    }
    return {event(ended)};
}

events keeper::on(const protocol::renew& command, const listener&) {
    session* session = alive(command.session);
    if (session == nullptr) return {event(protocol::session_lost{command.session})};
    renew(*session);
    return {state(command.session, *session)};
}

events keeper::on(const protocol::close& command, const listener&) {
    if (alive(command.session) != nullptr) end_session(command.session);
    return {event(protocol::closed{command.session})};
}

/// The hand-off: whoever is first now owns the name, and is told.
void keeper::end_request(const request_id& id) {
    auto& requests = sessions_.at(id.session).requests;
    const std::string name = requests.at(id.number).name;
    requests.erase(id.number);
    std::deque<request_id>& queue = queues_.at(name);
    std::erase(queue, id);
    if (queue.empty()) {
        queues_.erase(name);
        return;
    }
    session& next = sessions_.at(queue.front().session);
    request& first = next.requests.at(queue.front().number);
    if (first.fence != 0) return;  // it was a waiter that left
    first.fence = next_number();
    notify(next, granted(queue.front(), first));
}

// Waiters go before holders, so that nothing is granted to a session that ends.
void keeper::end_session(const session_id& id) {
    std::vector<request_id> holding;
    std::vector<request_id> waiting;
    for (const auto& [number, request] : sessions_.at(id).requests)
        (request.fence != 0 ? holding : waiting).push_back({id, number});
    for (const request_id& request : waiting) end_request(request);
    for (const request_id& request : holding) end_request(request);
    sessions_.erase(id);
}

keeper::session* keeper::alive(const session_id& id) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return nullptr;
    if (steady_clock::now() < found->second.deadline) return &found->second;
    end_session(id);
    return nullptr;
}

void keeper::renew(session& session) {
    session.deadline = steady_clock::now() + session.ttl;
    changed_.notify_one();
}

std::optional<steady_clock::time_point> keeper::earliest() const {
    std::optional<steady_clock::time_point> first;
    for (const auto& [id, session] : sessions_)
        if (!first || session.deadline < *first) first = session.deadline;
    return first;
}

/// The timer: ends the sessions whose time is over.
void keeper::expire(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (!stop.stop_requested()) {
        const auto next = earliest();
        if (!next) {
            changed_.wait(lock, stop, [this] { return !sessions_.empty(); });
        } else if (steady_clock::now() < *next) {
            changed_.wait_until(lock, stop, *next, [&] { return earliest() != next; });
        } else {
            const auto over =
                std::ranges::find(sessions_, *next, [](const auto& entry) { return entry.second.deadline; });
            notify(over->second, event(protocol::session_lost{over->first}));
            end_session(session_id{over->first});
            const std::vector<delivery> deliveries = std::exchange(outbox_, {});
            lock.unlock();
            deliver(deliveries);
            lock.lock();
        }
    }
}

void keeper::notify(const session& session, protocol::event event) {
    outbox_.push_back({session.told, [event = std::move(event)](auto& heard) { heard.noticed(1, event); }});
}

protocol::event keeper::granted(const request_id& id, const request& request) {
    return event(protocol::granted{id, request.ticket, request.fence, {}, {}, {}});
}

protocol::event keeper::state(const session_id& id, const session& session) {
    const auto left = std::chrono::duration_cast<protocol::duration>(session.deadline - steady_clock::now());
    protocol::alive alive{id, wall_clock() + left, {}};
    for (const auto& [number, request] : session.requests)
        alive.requests.push_back({number, request.ticket, request.fence});
    return event(std::move(alive));
}

/// Tickets and fences come from one counter. The clock in it lets them grow over a restart as well.
protocol::serial keeper::next_number() {
    const auto micros = static_cast<protocol::serial>(wall_clock().time_since_epoch().count());
    return last_number_ = std::max(last_number_ + 1, micros);
}

/// Without the mutex: whoever is told may ask again at once.
void keeper::deliver(const std::vector<delivery>& deliveries) {
    for (const delivery& delivery : deliveries)
        if (const auto heard = delivery.to.lock()) delivery.tell(*heard);
}

turnstile::turnstile()
    : keeper_{std::make_shared<keeper>()},
      timer_{[keeper = keeper_](const std::stop_token& stop) { keeper->expire(stop); }} {}

/// A client may let go of the store while the timer tells it something: then the timer must not wait for itself.
turnstile::~turnstile() {
    timer_.request_stop();
    if (timer_.get_id() == std::this_thread::get_id()) timer_.detach();
}

std::unique_ptr<baton::store_line> turnstile::connect(std::weak_ptr<baton::store_listener> listener) {
    auto made = std::make_unique<line>(shared_from_this(), listener);
    if (const auto heard = listener.lock()) heard->up(1);  // it never loses its memory: one lineage for ever
    return made;
}

void turnstile::perform(const listener& from, const std::vector<baton::message>& messages) {
    keeper_->perform(from, messages);
}
