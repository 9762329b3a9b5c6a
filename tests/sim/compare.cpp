#include "compare.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "describe.hpp"

namespace baton::sim {

using namespace core;

namespace {

std::string text(const std::string& value) { return value; }
std::string text(std::uint64_t value) { return std::to_string(value); }
std::string text(std::uint32_t value) { return std::to_string(value); }
std::string text(duration value) { return describe(value); }
std::string text(instant value) { return describe(value); }
std::string text(const mark& value) { return describe(value); }
std::string text(std::span<const claim> claims) {
    std::string all;
    for (const claim& claim : claims) all += describe(claim) + "; ";
    return all;
}
std::string text(const std::vector<claim_view>& views) {
    std::string all;
    for (const claim_view& view : views) {
        all += std::to_string(view.ticket) + " " + describe(claim{"", view.mode, view.permits, view.limit}) +
               (view.admitted ? " admitted" : " waiting");
        for (const slot number : view.slots) all += " " + std::to_string(number);
        all += "; ";
    }
    return all;
}
std::string text(const std::vector<blocker>& blockers) {
    std::string all;
    for (const blocker& one : blockers)
        all += std::to_string(one.ticket) + " on " + one.resource + (one.hard ? " hard; " : " soft; ");
    return all;
}
template <typename T> std::string text(const std::optional<T>& value) { return value ? text(*value) : "none"; }

// Texts are made for differences only, because this runs at every step.
class comparison {
public:
    template <typename T> comparison& of(const char* what, const T& engine, const T& model) {
        if (!first_ && !equal(engine, model))
            first_ = std::string(what) + ":\n      engine: " + text(engine) + "\n      model:  " + text(model);
        return *this;
    }
    [[nodiscard]] const std::optional<std::string>& first() const { return first_; }

private:
    template <typename T> static bool equal(const T& a, const T& b) { return a == b; }
    static bool equal(const std::vector<claim_view>& a, const std::vector<claim_view>& b) {
        return std::ranges::equal(a, b, [](const claim_view& x, const claim_view& y) {
            return x.ticket == y.ticket && x.mode == y.mode && x.permits == y.permits && x.limit == y.limit &&
                   x.admitted == y.admitted && x.slots == y.slots;
        });
    }

    std::optional<std::string> first_;
};

// The order of blockers is not part of the rules.
std::vector<blocker> in_order(std::vector<blocker> blockers) {
    std::ranges::sort(blockers, {}, [](const blocker& one) { return std::tuple(one.resource, one.ticket, one.hard); });
    return blockers;
}

std::optional<std::string> difference(const resource_view& engine, const resource_view& model) {
    return comparison()
        .of("name", engine.name, model.name)
        .of("holders", engine.holders, model.holders)
        .of("queue", engine.queue, model.queue)
        .of("used", engine.used, model.used)
        .of("limit", engine.limit, model.limit)
        .of("percent", engine.percent, model.percent)
        .of("pinned", engine.pinned, model.pinned)
        .of("mark", engine.mark, model.mark)
        .first();
}

std::optional<std::string> difference(const request_view& engine, const request_view& model) {
    comparison all;
    all.of("ticket", engine.ticket, model.ticket)
        .of("fence", engine.fence, model.fence)
        .of("label", engine.label, model.label)
        .of("claims", engine.claims, model.claims)
        .of("position", engine.position, model.position)
        .of("age", engine.age, model.age)
        .of("silence", engine.silence, model.silence)
        .of("hold left", engine.hold_left, model.hold_left)
        .of("revoked in", engine.revoked_in, model.revoked_in)
        .of("note", engine.revoke_note, model.revoke_note)
        .of("number of blockers", engine.blockers.size() + engine.blockers_left_out,
            model.blockers.size() + model.blockers_left_out);
    if (engine.blockers_left_out == 0) all.of("blockers", in_order(engine.blockers), in_order(model.blockers));
    return all.first();
}

template <typename Views, typename Words>
std::optional<std::string> difference_in(const Views& engine, const Views& model, Words words) {
    for (std::size_t index = 0; index < std::min(engine.size(), model.size()); ++index)
        if (const auto found = difference(engine[index], model[index])) return words(model[index]) + ", " + *found;
    if (engine.size() == model.size()) return std::nullopt;
    return engine.size() > model.size() ? "only the engine has " + words(engine[model.size()])
                                        : "only the model has " + words(model[engine.size()]);
}

// Session ordinals are valid within one snapshot only; the same requests must share a session.
bool same_sessions(const std::vector<request_view>& engine, const std::vector<request_view>& model) {
    std::map<std::size_t, std::size_t> there;
    std::map<std::size_t, std::size_t> back;
    for (std::size_t index = 0; index < engine.size(); ++index) {
        if (there.try_emplace(engine[index].session, model[index].session).first->second != model[index].session)
            return false;
        if (back.try_emplace(model[index].session, engine[index].session).first->second != engine[index].session)
            return false;
    }
    return true;
}

}  // namespace

std::optional<std::string> difference(const std::vector<event>& engine, const std::vector<event>& model) {
    if (engine == model) return std::nullopt;
    std::ostringstream out;
    out << "the events differ\n    engine:";
    for (const event& event : engine) out << "\n      " << describe(event);
    out << "\n    model:";
    for (const event& event : model) out << "\n      " << describe(event);
    return out.str();
}

std::optional<std::string> difference(const snapshot& engine, const snapshot& model) {
    const auto whole = comparison()
                           .of("sessions", engine.sessions, model.sessions)
                           .of("paused until", engine.paused_until, model.paused_until)
                           .first();
    if (whole) return "the states differ: " + *whole;
    const auto in_resources = difference_in(engine.resources, model.resources,
                                            [](const resource_view& view) { return "resource " + view.name; });
    if (in_resources) return "the states differ: " + *in_resources;
    const auto in_requests = difference_in(engine.requests, model.requests, [](const request_view& view) {
        return "request with ticket " + std::to_string(view.ticket);
    });
    if (in_requests) return "the states differ: " + *in_requests;
    if (!same_sessions(engine.requests, model.requests)) return "the states differ: requests of one session";
    return std::nullopt;
}

}  // namespace baton::sim
