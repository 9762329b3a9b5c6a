#include "world.hpp"

#include <algorithm>
#include <sstream>

namespace baton::core::test {
namespace {

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
    std::string all;
    for (const std::string& part : parts) all += (all.empty() ? "" : between) + part;
    return all;
}

std::string numbers(const std::vector<slot>& slots) {
    std::string all;
    for (const slot slot : slots) all += " " + std::to_string(slot);
    return all;
}

std::string words_of(const mark& mark) {
    return "abandoned by " + mark.label + (mark.count > 1 ? ", " + std::to_string(mark.count) + " in all" : "");
}

// "A.2" is the second request of session A, "A" its first.
std::string session_part(const std::string& request) { return request.substr(0, request.find('.')); }

std::uint64_t number_part(const std::string& request) {
    const auto dot = request.find('.');
    return dot == std::string::npos ? 1 : std::stoull(request.substr(dot + 1));
}

std::uint64_t packed(std::string_view text) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i)
        value = value << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
    return value;
}

}  // namespace

world::world(engine_options options) { begin_with(options); }

void world::begin_with(engine_options options) {
    options_ = options;
    links_.clear();
    highest_.clear();
    known_.clear();
    lose_memory();
}

void world::lose_memory() { engine_ = std::make_unique<core::engine>(options_); }

std::string world::advance(duration by) {
    now += by;
    return tick();
}

std::string world::open(const std::string& session, std::vector<live_request> live, std::chrono::milliseconds ttl) {
    core::open command = open_command(session, std::move(live));
    command.ttl = ttl;
    return apply(command);
}

core::open world::open_command(const std::string& session, std::vector<live_request> live) {
    return {this->session(session), 10s, session, ++links_[session], highest_[session], std::move(live)};
}

std::string world::enter(const std::string& request, std::vector<claim> claims, enter_options options) {
    const std::string session = session_part(request);
    if (!links_.contains(session)) open(session);
    highest_[session] = std::max(highest_[session], number_part(request));
    live_request& known = known_[request];
    if (known.number == 0) known = {number_part(request), claims, 0, 0, {}, options.hold_limit};
    return apply(core::enter{id(request), std::move(claims), options});
}

std::string world::leave(const std::string& request, release_kind release_kind) {
    return apply(core::leave{id(request), release_kind});
}

std::string world::renew(const std::string& session) { return apply(core::renew{this->session(session)}); }

std::string world::list(const std::string& session, std::uint64_t after) {
    return apply(core::list{this->session(session), after});
}

std::string world::close(const std::string& session, closing how) {
    return apply(core::close{this->session(session), how});
}

std::string world::tick() { return apply(core::tick{}); }

std::string world::revoke(const std::string& resource, const std::string& request, const std::string& note,
                          bool at_once) {
    return apply(core::revoke{resource, ticket(request), note, at_once});
}

std::string world::mend(const std::string& resource) { return apply(core::mend{resource}); }

std::string world::resize(const std::string& resource, std::optional<std::uint32_t> limit) {
    return apply(core::resize{resource, limit});
}

std::string world::pause(duration length) { return apply(core::pause{now + length}); }

std::string world::apply(const command& command) {
    events_ = engine_->apply(command, now);
    std::vector<std::string> reported;
    for (const event& event : events_) {
        EXPECT_EQ(event.at, now) << "every event has the time of its step";
        remember(event);
        reported.push_back(words(event));
    }
    const auto violation = check(*engine_);
    EXPECT_FALSE(violation) << *violation;
    return joined(reported, "; ");
}

session_id world::session(const std::string& name) {
    EXPECT_LE(name.size(), 16U) << "a session id consists of the first 16 letters";
    const std::string_view letters = name;
    const session_id id{packed(letters), packed(letters.substr(std::min<std::size_t>(8, letters.size())))};
    names_[id] = name;
    return id;
}

request_id world::id(const std::string& request) { return {session(session_part(request)), number_part(request)}; }

live_request world::as_waiter(const std::string& request) const {
    live_request waiter = live(request);
    waiter.fence = 0;
    waiter.slots.clear();
    return waiter;
}

std::string world::name_of(const request_id& request) const {
    return name_of(request.session) + (request.number == 1 ? "" : "." + std::to_string(request.number));
}

std::string world::name_of(serial ticket) const {
    for (const auto& [name, known] : known_)
        if (known.ticket == ticket) return name;
    return "?";
}

void world::remember(const event& event) {
    if (const auto* reported = std::get_if<granted>(&event.what)) {
        live_request& known = known_[name_of(reported->request)];
        known.ticket = reported->ticket;
        known.fence = reported->fence;
        known.slots = reported->slots;
    } else if (const auto* waits = std::get_if<queued>(&event.what)) {
        known_[name_of(waits->request)].ticket = waits->ticket;
    } else if (const auto* lives = std::get_if<alive>(&event.what)) {
        for (const request_state& request : requests_then(*lives))
            known_[name_of(request_id{lives->session, request.number})].ticket = request.ticket;
    }
}

std::vector<request_state> world::requests_of(const session_id& session) const {
    std::vector<request_state> all;
    for (bool more = true; more;) {
        const auto events = engine_->apply(core::list{session, all.empty() ? 0 : all.back().number}, now);
        const auto* page = events.size() == 1 ? std::get_if<listed>(&events.front().what) : nullptr;
        if (page == nullptr) {
            ADD_FAILURE() << "the reply to `list` is not one page";
            return all;
        }
        all.insert(all.end(), page->requests.begin(), page->requests.end());
        more = page->more && !page->requests.empty();
    }
    return all;
}

// Grants of a step are reported after `alive`.
std::vector<request_state> world::requests_then(const alive& reported) const {
    if (options_.budget) return {};
    std::vector<request_state> all = requests_of(reported.session);
    for (request_state& each : all)
        for (const event& event : events_)
            if (const auto* grant = std::get_if<granted>(&event.what);
                grant != nullptr && grant->request == request_id{reported.session, each.number})
                each.fence = 0;
    EXPECT_EQ(all.size(), reported.count);
    return all;
}

std::string world::words(const event& event) const {
    struct {
        const world& in;

        std::string operator()(const granted& reported) const {
            std::string text = "granted " + in.name_of(reported.request);
            for (const claim_slots& each : reported.slots) text += " (" + each.resource + numbers(each.slots) + ")";
            for (const abandoned_resource& each : reported.abandoned)
                text += " (" + each.resource + " " + words_of(each.mark) + ")";
            return text;
        }
        std::string operator()(const queued& reported) const { return "queued " + in.name_of(reported.request); }
        std::string operator()(const refused& reported) const {
            const std::string whose = reported.request ? " " + in.name_of(*reported.request) : "";
            return "refused" + whose + ": " + std::string{to_string(reported.reason)};
        }
        std::string operator()(const ended& reported) const {
            return "ended " + in.name_of(reported.request) + ": " + std::string{to_string(reported.reason)};
        }
        std::string operator()(const session_lost& reported) const { return "lost " + in.name_of(reported.session); }
        std::string operator()(const alive& reported) const {
            std::vector<std::string> requests;
            for (const request_state& each : in.requests_then(reported))
                requests.push_back(in.name_of(request_id{reported.session, each.number}) +
                                   (each.fence != 0 ? " holds" : " waits"));
            return "alive " + in.name_of(reported.session) + (requests.empty() ? "" : ": " + joined(requests, ", "));
        }
        std::string operator()(const listed& reported) const {
            std::vector<std::string> requests;
            for (const request_state& each : reported.requests)
                requests.push_back(in.name_of(request_id{reported.session, each.number}) +
                                   (each.fence != 0 ? " holds" : " waits"));
            return "listed " + in.name_of(reported.session) + (requests.empty() ? "" : ": " + joined(requests, ", ")) +
                   (reported.more ? ", more" : "");
        }
        std::string operator()(const closed& reported) const { return "closed " + in.name_of(reported.session); }
        std::string operator()(const revoking& reported) const {
            const std::string owner =
                reported.request == request_id{} ? "(owner not notified)" : in.name_of(reported.request);
            return "revoking " + owner + (reported.note.empty() ? "" : ": " + reported.note);
        }
        std::string operator()(const mended& reported) const { return "mended " + reported.resource; }
        std::string operator()(const resized& reported) const {
            return "resized " + reported.resource + ": " + (reported.limit ? std::to_string(*reported.limit) : "auto");
        }
        std::string operator()(const paused&) const { return "paused"; }
    } const speak{*this};
    return std::visit(speak, event.what);
}

std::optional<resource_view> world::resource(const std::string& name) const {
    const snapshot seen = take_snapshot({inspect_filter::match::exact, name, false});
    if (seen.resources.empty()) return {};
    return seen.resources.front();
}

request_view world::view(const std::string& request) const {
    for (const request_view& each : take_snapshot().requests)
        if (each.ticket == ticket(request)) return each;
    ADD_FAILURE() << request << " is not in the snapshot";
    return {};
}

std::string world::holders(const std::string& resource) const {
    std::vector<std::string> names;
    if (const auto seen = this->resource(resource))
        for (const claim_view& claim : seen->holders) names.push_back(name_of(claim.ticket));
    return joined(names, " ");
}

std::string world::queue(const std::string& resource) const {
    std::vector<std::string> names;
    if (const auto seen = this->resource(resource))
        for (const claim_view& claim : seen->queue)
            names.push_back(name_of(claim.ticket) + (claim.admitted ? "(reserved)" : ""));
    return joined(names, " ");
}

std::string world::state() const {
    std::ostringstream out;
    const auto time = [&](const char* what, std::optional<instant> at) {
        if (at) out << what << at->time_since_epoch().count() << '\n';
    };
    const auto number = [&](const char* what, const auto& value) {
        if (value) out << what << *value;
    };
    const snapshot seen = take_snapshot();
    out << seen.sessions << " sessions\n";
    time("paused until ", seen.paused_until);
    time("due ", next_due());
    for (const resource_view& each : seen.resources) {
        out << each.name << " used " << each.used;
        number(" limit ", each.limit);
        number(" percent ", each.percent);
        number(" pinned ", each.pinned);
        if (each.mark) out << ' ' << words_of(*each.mark) << ' ' << each.mark->fence;
        for (const auto* claims : {&each.holders, &each.queue})
            for (const claim_view& claim : *claims)
                out << "\n  " << claim.ticket << ' ' << rule_of(claim.mode).name << ' ' << claim.permits << '/'
                    << claim.limit << (claim.admitted ? " admitted" : " waits") << numbers(claim.slots);
        out << '\n';
    }
    for (const request_view& each : seen.requests) {
        out << each.ticket << " fence " << each.fence << " of " << each.label << " position " << each.position
            << " silent " << each.silence.count() << ' ' << each.revoke_note;
        if (each.hold_left) out << " hold left " << each.hold_left->count();
        if (each.revoked_in) out << " revoked in " << each.revoked_in->count();
        out << '\n';
    }
    return out.str();
}

}  // namespace baton::core::test
