#include "dialect_session.hpp"

#include <algorithm>

#include "baton/error.hpp"
#include "engine/validate.hpp"

namespace baton::dialects {

using namespace protocol;

void dialect_session::perform(const tagged_command& each) {
    const command_tag tag = each.tag;
    if (const auto* open = std::get_if<protocol::open>(&each.command)) return this->open(tag, *open);
    if (const auto* enter = std::get_if<protocol::enter>(&each.command)) return this->enter(tag, *enter);
    if (const auto* leave = std::get_if<protocol::leave>(&each.command)) return this->leave(tag, *leave);
    if (const auto* close = std::get_if<protocol::close>(&each.command)) return this->close(tag, *close);
    if (const auto* renew = std::get_if<protocol::renew>(&each.command)) {
        if (renew->session == id_) return renew_all(tag);
        return listener_.reply(tag, {event(refused{{}, refusal::unknown_session})});
    }
    if (const auto* list = std::get_if<protocol::list>(&each.command)) {
        if (list->session == id_) return this->list(tag, *list);
        return listener_.reply(tag, {event(session_lost{list->session})});
    }
    listener_.fail(tag, errc::unsupported);  // these protocols have no operator commands
}

void dialect_session::connection_lost() {
    for (const auto& [number, record] : records_) {
        record->query.reset();
        record->poll_again = false;
        record->pending_enter.reset();
        record->alarm.reset();
    }
    alarms_.clear();  // `open` polls all waiters
}

// ---- the client's commands ----

/// A new session drops the requests of the former one. The client finds requests that it did not list in `open` by the
/// digest in the reply, and leaves them.
void dialect_session::open(command_tag tag, const protocol::open& command) {
    const bool another = command.session != id_;
    id_ = command.session;
    label_ = command.label;
    const auto records = records_;
    for (const auto& [number, record] : records) {
        record->request.session = id_;
        if (another || record->phase == phase::leaving) drop(record, [] {});
    }
    renew_all(tag);
}

void dialect_session::enter(command_tag tag, const protocol::enter& command) {
    if (const auto found = records_.find(command.request.number); found != records_.end()) {
        const record_ptr record = found->second;
        if (record->phase == phase::leaving)
            return listener_.reply(tag, {event(refused{command.request, refusal::busy})});
        if (command.claims != std::vector{record->claim})
            return listener_.reply(tag, {event(refused{command.request, refusal::claims_differ})});
        record->pending_enter = tag;
        if (record->phase == phase::held) return reply_to_enter(*record);
        return poll(record);
    }
    if (const auto reason = core::refusal_of(command))
        return listener_.reply(tag, {event(refused{command.request, *reason})});
    if (!dialect_.objection(command.claims, command.options).empty()) return listener_.fail(tag, errc::unsupported);
    const auto made = std::make_shared<record>();
    made->request = command.request;
    made->claim = command.claims.front();
    made->options = command.options;
    if (!made->options.hold_limit) made->options.hold_limit = dialect_.pace().hold_limit;
    made->entry = protocol_client_.make_entry(made->claim, made->options);
    made->entry->number = command.request.number;
    made->ticket = ++ticket_;
    made->pending_enter = tag;
    records_.emplace(command.request.number, made);
    poll(made);
}

void dialect_session::leave(command_tag tag, const protocol::leave& command) {
    const auto found = records_.find(command.request.number);
    if (found == records_.end()) return listener_.reply(tag, {event(ended{command.request, end_reason::gone, 0})});
    const record_ptr record = found->second;
    const ended over{command.request, record->fence == 0 ? end_reason::withdrawn : end_reason::left, record->fence};
    drop(record, [this, tag, over] { listener_.reply(tag, {event(over)}); });
}

void dialect_session::close(command_tag tag, const protocol::close& command) {
    if (command.session != id_) return listener_.reply(tag, {event(closed{command.session})});  // a former session
    const auto missing = std::make_shared<std::size_t>(records_.size() + 1);
    const auto one_less = [this, missing, tag, session = command.session] {
        if (--*missing == 0) listener_.reply(tag, {event(closed{session})});
    };
    const auto records = records_;
    for (const auto& [number, record] : records) drop(record, one_less);
    context_.execute({{"TIME"}}, [one_less](const replies&) { one_less(); });
}

// ---- renewal ----

void dialect_session::renew_all(command_tag tag) {
    ++round_;
    const auto round = std::make_shared<struct round>();
    round->tag = tag;
    round->missing = 1;
    const auto records = records_;
    for (const auto& [number, record] : records) {
        if (record->phase != phase::held && !confirming(*record)) {
            poll(record);
            continue;
        }
        ++round->missing;
        record->entry->renew([this, round, record](const claim_result& result) { renewed(round, record, result); });
    }
    // Shows that the server is reachable even if nothing is held.
    context_.execute({{"TIME"}}, [this, round](const replies& replies) {
        if (const auto* error = error_in(replies)) round->error = failure_of(*error).error;
        finish(round);
    });
}

void dialect_session::renewed(const std::shared_ptr<round>& round, const record_ptr& record,
                              const claim_result& result) {
    if (result.status == claim_status::failed) round->error = result.error;
    if (result.status == claim_status::gone && record->phase == phase::held) {
        listener_.notice(event(ended{record->request, end_reason::gone, record->fence}));
        drop(record, [] {});
    }
    finish(round);
}

/// If a renewal failed, the whole command fails. Requests whose `enter` has no reply yet are not counted, because the
/// client does not count them either.
void dialect_session::finish(const std::shared_ptr<round>& round) {
    if (--round->missing != 0) return;
    if (round->error) return listener_.fail(round->tag, round->error);
    alive alive{id_, context_.now() + dialect_.pace().ttl, 0, 0};
    for (const auto& [number, record] : records_) {
        if (record->phase == phase::leaving || (record->pending_enter && !record->reported)) continue;
        ++alive.count;
        alive.digest += request_digest(number, record->fence, std::nullopt);
    }
    listener_.reply(round->tag, {event(std::move(alive))});
}

void dialect_session::list(command_tag tag, const protocol::list& command) {
    protocol::listed page{id_, command.after, {}, false};
    for (auto next = records_.upper_bound(command.after); next != records_.end(); ++next) {
        const auto& [number, record] = *next;
        if (record->phase == phase::leaving) continue;
        page.more = page.requests.size() == bounds::page;
        if (page.more) break;
        page.requests.push_back({number, record->ticket, record->fence});
    }
    listener_.reply(tag, {event(std::move(page))});
}

// ---- polling ----

void dialect_session::poll(const record_ptr& record) {
    if (record->phase != phase::waiting) return;
    if (!record->query.expired()) {
        record->poll_again = true;
        return;
    }
    const query_ptr query = begin(*record, query::poll);
    record->poll_again = false;
    record->round = round_;
    record->polled_at = context_.now();
    record->entry->poll([this, record, query](const claim_result& result) { polled(record, query, result); });
}

void dialect_session::polled(const record_ptr& record, const query_ptr& query, const claim_result& result) {
    if (!end(*record, query)) return;
    record->poll_at = context_.now() + record->entry->poll_delay();
    set_alarm(*record);
    switch (result.status) {
        case claim_status::failed:
            if (!record->pending_enter) return;  // it is in the queue already: the next poll may succeed
            listener_.fail(*std::exchange(record->pending_enter, std::nullopt), result.error);
            return drop(record, [] {});
        case claim_status::held:
            if (record->round < round_) return confirm(record, result);
            return grant(*record, result);
        case claim_status::gone:
        case claim_status::waiting:
            if (record->options.nowait) return refuse_busy(record);
            reply_to_enter(*record);
            if (record->poll_again) poll(record);
    }
}

/// A renewal round began after the poll was sent: see the head of the header. Later rounds renew this record too, so
/// one more renewal is enough.
void dialect_session::confirm(const record_ptr& record, const claim_result& found) {
    const query_ptr query = begin(*record, query::confirm);
    record->entry->renew([this, record, query, found](const claim_result& renewed) {
        if (!end(*record, query)) return;
        if (renewed.status == claim_status::held) return grant(*record, found);
        set_alarm(*record);
        if (renewed.status == claim_status::gone) poll(record);
    });
}

dialect_session::query_ptr dialect_session::begin(record& record, query what) {
    auto made = std::make_shared<const query>(what);
    record.query = made;
    set_alarm(record);
    return made;
}

/// False if the query is out of date: the request was left, or the connection was lost.
bool dialect_session::end(record& record, const query_ptr& query) {
    if (record.phase != phase::waiting || record.query.lock() != query) return false;
    record.query.reset();
    return true;
}

bool dialect_session::confirming(const record& record) {
    const query_ptr pending = record.query.lock();
    return record.phase == phase::waiting && pending && *pending == query::confirm;
}

void dialect_session::grant(record& record, const claim_result& result) {
    record.phase = phase::held;
    set_alarm(record);
    record.fence = static_cast<serial>(result.at.time_since_epoch().count());
    for (const mark& mark : result.abandoned) record.abandoned.push_back({record.claim.resource, mark});
    // The server counts the hold limit from the grant, after the poll began: it ends here first.
    if (record.options.hold_limit) record.hold_deadline = record.polled_at + *record.options.hold_limit;
    if (record.pending_enter) return reply_to_enter(record);
    record.reported = true;
    listener_.notice(granted(record));
}

void dialect_session::reply_to_enter(record& record) {
    if (!record.pending_enter) return;
    const command_tag tag = *std::exchange(record.pending_enter, std::nullopt);
    record.reported = true;
    if (record.phase == phase::held)
        listener_.reply(tag, {granted(record)});
    else
        listener_.reply(tag, {event(queued{record.request, record.ticket})});
}

void dialect_session::refuse_busy(const record_ptr& record) {
    const auto tag = std::exchange(record->pending_enter, std::nullopt);
    drop(record, [this, tag, request = record->request] {
        if (tag) return listener_.reply(*tag, {event(refused{request, refusal::busy})});
        // The `enter` came on a connection that was lost: after this notice the client enters again.
        listener_.notice(event(ended{request, end_reason::withdrawn, 0}));
    });
}

protocol::event dialect_session::granted(const record& record) const {
    return event(
        protocol::granted{record.request, record.ticket, record.fence, {}, record.abandoned, record.hold_deadline});
}

/// The record stays until the server has replied; if the connection breaks before, `open` drops it again.
void dialect_session::drop(const record_ptr& record, std::function<void()> done) {
    record->phase = phase::leaving;
    set_alarm(*record);
    record->entry->leave([this, record, done = std::move(done)] {
        forget(record);
        if (record->pending_enter)  // the client left before the reply
            listener_.reply(*record->pending_enter, {event(ended{record->request, end_reason::withdrawn, 0})});
        done();
    });
}

void dialect_session::forget(const record_ptr& record) {
    const std::uint64_t number = record->request.number;
    records_.erase(number);
    for (const std::string& name : record->subscriptions)
        if (const auto found = subscribers_.find(name); found != subscribers_.end()) {
            found->second.erase(number);
            if (found->second.empty()) subscribers_.erase(found);
        }
}

// ---- notifications ----

void dialect_session::subscribe(const std::string& name, const queue_entry& entry) {
    const auto found = records_.find(entry.number);
    if (found == records_.end()) return;
    subscribers_[name].insert(entry.number);
    found->second->subscriptions.insert(name);
}

bool dialect_session::notify(const std::string& name) {
    const auto found = subscribers_.find(name);
    if (found == subscribers_.end()) return false;
    const std::set<std::uint64_t> numbers = std::move(found->second);
    subscribers_.erase(found);
    for (const std::uint64_t number : numbers)
        if (const auto record = records_.find(number); record != records_.end()) {
            record->second->subscriptions.erase(name);
            poll(record->second);
        }
    return true;
}

void dialect_session::add_own_labels(listing& listing) const {
    std::map<std::pair<std::string, std::string>, const record*> ours;
    for (const auto& [number, record] : records_)
        for (const std::string& name : record->entry->names())
            ours.emplace(std::pair{record->claim.resource, name}, record.get());
    for (dialects::listed& each : listing.requests) {
        const auto found = ours.find({each.resource, each.label});
        if (found == ours.end()) continue;
        each.label = label_;
        each.claim = found->second->claim;
    }
}

/// Only waiters without a pending query have an alarm.
void dialect_session::set_alarm(record& record) {
    const std::uint64_t number = record.request.number;
    if (record.alarm) alarms_.erase({*record.alarm, number});
    record.alarm.reset();
    if (record.phase != phase::waiting || !record.query.expired()) return;
    record.alarm = record.poll_at;
    alarms_.emplace(record.poll_at, number);
}

void dialect_session::poll_due() {
    const instant now = context_.now();
    while (!alarms_.empty() && alarms_.begin()->first <= now) poll(records_.at(alarms_.begin()->second));
}

std::optional<instant> dialect_session::next_poll() const {
    if (alarms_.empty()) return {};
    return alarms_.begin()->first;
}

}  // namespace baton::dialects
