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
        return teller_.reply(tag, {event(refused{{}, refusal::unknown_session})});
    }
    if (const auto* list = std::get_if<protocol::list>(&each.command)) {
        if (list->session == id_) return this->list(tag, *list);
        return teller_.reply(tag, {event(session_lost{list->session})});
    }
    teller_.fail(tag, errc::unsupported);  // operators have no say in these protocols
}

void dialect_session::connection_lost() {
    for (const auto& [number, record] : records_) {
        record->query.reset();
        record->poll_again = false;
        record->asked.reset();
        record->alarm.reset();
    }
    alarms_.clear();  // `open` looks at all that wait
}

// ---- the client's commands ----

/// Another session has nothing of what the one before had. What the client does not list of its own it finds by the
/// digest of the answer, and leaves.
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
            return teller_.reply(tag, {event(refused{command.request, refusal::busy})});
        if (command.claims != std::vector{record->claim})
            return teller_.reply(tag, {event(refused{command.request, refusal::claims_differ})});
        record->asked = tag;
        if (record->phase == phase::held) return answer(*record);
        return poll(record);
    }
    if (const auto reason = core::refusal_of(command))
        return teller_.reply(tag, {event(refused{command.request, *reason})});
    if (!dialect_.objection(command.claims, command.options).empty()) return teller_.fail(tag, errc::unsupported);
    const auto made = std::make_shared<record>();
    made->request = command.request;
    made->claim = command.claims.front();
    made->options = command.options;
    if (!made->options.hold_limit) made->options.hold_limit = dialect_.pace().hold_limit;
    made->entry = speaker_.make_entry(made->claim, made->options);
    made->entry->number = command.request.number;
    made->ticket = ++ticket_;
    made->asked = tag;
    records_.emplace(command.request.number, made);
    poll(made);
}

void dialect_session::leave(command_tag tag, const protocol::leave& command) {
    const auto found = records_.find(command.request.number);
    if (found == records_.end()) return teller_.reply(tag, {event(ended{command.request, end_reason::gone, 0})});
    const record_ptr record = found->second;
    const ended over{command.request, record->fence == 0 ? end_reason::withdrawn : end_reason::left, record->fence};
    drop(record, [this, tag, over] { teller_.reply(tag, {event(over)}); });
}

void dialect_session::close(command_tag tag, const protocol::close& command) {
    if (command.session != id_) return teller_.reply(tag, {event(closed{command.session})});  // a former one
    const auto missing = std::make_shared<std::size_t>(records_.size() + 1);
    const auto one_less = [this, missing, tag, session = command.session] {
        if (--*missing == 0) teller_.reply(tag, {event(closed{session})});
    };
    const auto records = records_;
    for (const auto& [number, record] : records) drop(record, one_less);
    talk_.ask({{"TIME"}}, [one_less](const answers&) { one_less(); });
}

// ---- what is held ----

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
    // The connection is alive as well if nothing is held.
    talk_.ask({{"TIME"}}, [this, round](const answers& answers) {
        if (const auto* error = error_in(answers)) round->error = failure_of(*error).error;
        finish(round);
    });
}

void dialect_session::renewed(const std::shared_ptr<round>& round, const record_ptr& record,
                              const claim_result& result) {
    if (result.status == claim_status::failed) round->error = result.error;
    if (result.status == claim_status::gone && record->phase == phase::held) {
        teller_.notice(event(ended{record->request, end_reason::gone, record->fence}));
        drop(record, [] {});
    }
    finish(round);
}

/// Where a renewal failed, nothing is said to be alive. A request whose `enter` came behind the renewal, and is not
/// answered, is not counted: the client counts what it was told of.
void dialect_session::finish(const std::shared_ptr<round>& round) {
    if (--round->missing != 0) return;
    if (round->error) return teller_.fail(round->tag, round->error);
    alive alive{id_, talk_.now() + dialect_.pace().ttl, 0, 0};
    for (const auto& [number, record] : records_) {
        if (record->phase == phase::leaving || (record->asked && !record->told)) continue;
        ++alive.count;
        alive.digest += request_digest(number, record->fence, std::nullopt);
    }
    teller_.reply(round->tag, {event(std::move(alive))});
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
    teller_.reply(tag, {event(std::move(page))});
}

// ---- what waits ----

void dialect_session::poll(const record_ptr& record) {
    if (record->phase != phase::waiting) return;
    if (!record->query.expired()) {
        record->poll_again = true;
        return;
    }
    const query_ptr query = begin(*record, query::poll);
    record->poll_again = false;
    record->round = round_;
    record->polled_at = talk_.now();
    record->entry->poll([this, record, query](const claim_result& result) { polled(record, query, result); });
}

void dialect_session::polled(const record_ptr& record, const query_ptr& query, const claim_result& result) {
    if (!end(*record, query)) return;
    record->poll_at = talk_.now() + record->entry->poll_delay();
    set_alarm(*record);
    switch (result.status) {
        case claim_status::failed:
            if (!record->asked) return;  // it had a place before: the next look may go well
            teller_.fail(*std::exchange(record->asked, std::nullopt), result.error);
            return drop(record, [] {});
        case claim_status::held:
            if (record->round < round_) return confirm(record, result);
            return grant(*record, result);
        case claim_status::gone:
        case claim_status::waiting:
            if (record->options.nowait) return refuse_busy(record);
            answer(*record);
            if (record->poll_again) poll(record);
    }
}

/// A renewal was sent after the look: see the head of the header. Those that are sent from now on renew this as well,
/// so one more renewal is enough, however fast they come.
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

/// False if the record does not wait for this answer any more: it was left, or asks on another connection.
bool dialect_session::end(record& record, const query_ptr& query) {
    if (record.phase != phase::waiting || record.query.lock() != query) return false;
    record.query.reset();
    return true;
}

bool dialect_session::confirming(const record& record) {
    const query_ptr asked = record.query.lock();
    return record.phase == phase::waiting && asked && *asked == query::confirm;
}

void dialect_session::grant(record& record, const claim_result& result) {
    record.phase = phase::held;
    set_alarm(record);
    record.fence = static_cast<serial>(result.at.time_since_epoch().count());
    for (const mark& mark : result.abandoned) record.abandoned.push_back({record.claim.resource, mark});
    // Its time began somewhere on the way: it is over here before it is there.
    if (record.options.hold_limit) record.hold_deadline = record.polled_at + *record.options.hold_limit;
    if (record.asked) return answer(record);
    record.told = true;
    teller_.notice(granted(record));
}

/// Who asked hears how it stands.
void dialect_session::answer(record& record) {
    if (!record.asked) return;
    const command_tag tag = *std::exchange(record.asked, std::nullopt);
    record.told = true;
    if (record.phase == phase::held)
        teller_.reply(tag, {granted(record)});
    else
        teller_.reply(tag, {event(queued{record.request, record.ticket})});
}

void dialect_session::refuse_busy(const record_ptr& record) {
    const auto tag = std::exchange(record->asked, std::nullopt);
    drop(record, [this, tag, request = record->request] {
        if (tag) return teller_.reply(*tag, {event(refused{request, refusal::busy})});
        // It asked on a connection that is gone: it hears that there is nothing to wait for, and asks again.
        teller_.notice(event(ended{request, end_reason::withdrawn, 0}));
    });
}

protocol::event dialect_session::granted(const record& record) const {
    return event(
        protocol::granted{record.request, record.ticket, record.fence, {}, record.abandoned, record.hold_deadline});
}

/// It stays known until the server has heard of it: if that is not heard, the client says it again.
void dialect_session::drop(const record_ptr& record, std::function<void()> done) {
    record->phase = phase::leaving;
    set_alarm(*record);
    record->entry->leave([this, record, done = std::move(done)] {
        forget(record);
        if (record->asked)  // the client did not wait for the answer
            teller_.reply(*record->asked, {event(ended{record->request, end_reason::withdrawn, 0})});
        done();
    });
}

void dialect_session::forget(const record_ptr& record) {
    const std::uint64_t number = record->request.number;
    records_.erase(number);
    for (const std::string& name : record->listens)
        if (const auto found = listeners_.find(name); found != listeners_.end()) {
            found->second.erase(number);
            if (found->second.empty()) listeners_.erase(found);
        }
}

// ---- what is heard ----

void dialect_session::listen(const std::string& name, const queue_entry& who) {
    const auto found = records_.find(who.number);
    if (found == records_.end()) return;
    listeners_[name].insert(who.number);
    found->second->listens.insert(name);
}

bool dialect_session::heard(const std::string& name) {
    const auto found = listeners_.find(name);
    if (found == listeners_.end()) return false;
    const std::set<std::uint64_t> numbers = std::move(found->second);
    listeners_.erase(found);
    for (const std::uint64_t number : numbers)
        if (const auto record = records_.find(number); record != records_.end()) {
            record->second->listens.erase(name);
            poll(record->second);
        }
    return true;
}

void dialect_session::name_ours(listing& listing) const {
    std::map<std::pair<std::string, std::string>, const record*> ours;
    for (const auto& [number, record] : records_)
        for (const std::string& name : record->entry->names())
            ours.emplace(std::pair{record->claim.resource, name}, record.get());
    for (dialects::listed& each : listing.requests) {
        const auto found = ours.find({each.resource, each.who});
        if (found == ours.end()) continue;
        each.who = label_;
        each.claim = found->second->claim;
    }
}

/// A record that waits and has no query under way is looked at when its time has come.
void dialect_session::set_alarm(record& record) {
    const std::uint64_t number = record.request.number;
    if (record.alarm) alarms_.erase({*record.alarm, number});
    record.alarm.reset();
    if (record.phase != phase::waiting || !record.query.expired()) return;
    record.alarm = record.poll_at;
    alarms_.emplace(record.poll_at, number);
}

void dialect_session::pass_time() {
    const instant now = talk_.now();
    while (!alarms_.empty() && alarms_.begin()->first <= now) poll(records_.at(alarms_.begin()->second));
}

std::optional<instant> dialect_session::next_poll() const {
    if (alarms_.empty()) return {};
    return alarms_.begin()->first;
}

}  // namespace baton::dialects
