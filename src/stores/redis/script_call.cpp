#include "stores/redis/script_call.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "stores/resp/codec.hpp"

namespace baton::redis {
namespace {

using namespace protocol;

// One more than is allowed is refused as well as a million more.
constexpr std::size_t claims_sent = bounds::claims + 1;

std::string padded(std::uint64_t number, int width) {
    std::array<char, 24> text{};
    const int length =
        std::snprintf(text.data(), text.size(), "%0*llu", width, static_cast<unsigned long long>(number));
    return {text.data(), static_cast<std::size_t>(length)};
}

template <typename Number> void put_number(std::string& out, Number number) {
    out += std::to_string(number);
    out += ':';
}
void put_sized(std::string& out, std::string_view text) {
    put_number(out, text.size());
    out += text;
}
void put_if_any(std::string& out, const std::optional<duration>& time) {
    if (time)
        put_number(out, time->count());
    else
        out += "-:";
}

char letter(claim_mode mode) { return mode == claim_mode::exclusive ? 'x' : mode == claim_mode::shared ? 's' : 'p'; }

void put_mode(std::string& out, const claim& claim) {
    out += letter(claim.mode);
    put_number(out, claim.permits);
    put_number(out, claim.limit);
}

/// Runs of consecutive slots, first and last; whatever order they are in stays visible.
void put_slots(std::string& out, const std::vector<slot>& slots) {
    std::string runs;
    std::size_t count = 0;
    for (std::size_t i = 0; i < slots.size(); ++count) {
        const std::size_t first = i++;
        while (i < slots.size() && slots[i - 1] + 1 == slots[i]) ++i;
        put_number(runs, slots[first]);
        put_number(runs, slots[i - 1]);
    }
    put_number(out, count);
    out += runs;
}

std::string text_of(const live_request& live) {
    std::string out;
    put_number(out, live.number);
    put_number(out, live.ticket);
    put_number(out, live.fence);
    put_if_any(out, live.hold);
    const std::size_t claims = std::min(live.claims.size(), claims_sent);
    put_number(out, claims);
    for (std::size_t i = 0; i < claims; ++i) {
        put_mode(out, live.claims[i]);
        put_sized(out, live.claims[i].resource);
    }
    const std::size_t lists = std::min(live.slots.size(), claims_sent);
    put_number(out, lists);
    for (std::size_t i = 0; i < lists; ++i) {
        put_sized(out, live.slots[i].resource);
        put_slots(out, live.slots[i].slots);
    }
    return out;
}

bool is_plain_exclusive(const claim& claim) {
    return claim.mode == claim_mode::exclusive && claim.permits == 0 && claim.limit == 0;
}

void add_claims(std::vector<std::string>& out, const enter& command) {
    const auto& [nowait, hold, bound] = command.options;
    const bool plain = !nowait && !hold && !bound && !command.claims.empty() &&
                       std::ranges::all_of(command.claims, is_plain_exclusive);
    const auto& claims = command.claims;
    if (plain && claims.size() == 1 && !claims[0].resource.empty()) {
        out.push_back(claims[0].resource);
        return;
    }
    out.emplace_back();
    const std::size_t count = std::min(claims.size(), claims_sent);
    if (plain) {
        out.emplace_back("x");
        for (std::size_t i = 0; i < count; ++i) out.push_back(claims[i].resource);
        return;
    }
    std::string options{nowait ? "1:" : "0:"};
    if (hold) options += std::to_string(hold->count());
    options += ':';
    if (bound) options += std::to_string(*bound);
    out.push_back(std::move(options));
    for (std::size_t i = 0; i < count; ++i) {
        put_mode(out.emplace_back(), claims[i]);
        out.back() += claims[i].resource;
    }
}

/// Each gives the script and adds what follows the lineage.
struct writer_of_arguments {
    std::vector<std::string>& out;

    script operator()(const open& command) const {
        out.push_back(std::to_string(command.ttl.count()));
        out.push_back(padded(command.link, 20));
        out.push_back(std::to_string(command.highest));
        out.emplace_back(command.part ? "p" : "w");
        out.push_back(command.label);
        for (const live_request& live : command.live) out.push_back(text_of(live));
        return script::open;
    }
    script operator()(const enter& command) const {
        out.push_back(std::to_string(command.request.number));
        add_claims(out, command);
        return script::enter;
    }
    script operator()(const leave& command) const {
        out.push_back(std::to_string(command.request.number));
        if (command.manner == manner::keep) out.emplace_back("k");
        if (command.manner == manner::unclean) out.emplace_back("u");
        return script::leave;
    }
    script operator()(const renew&) const { return script::renew; }
    script operator()(const close& command) const {
        out.emplace_back(command.how == closing::left ? "l" : "g");
        return script::close;
    }
    script operator()(const tick&) const { return script::tick; }
    script operator()(const revoke& command) const {
        out.insert(out.end(),
                   {command.resource, std::to_string(command.ticket), command.note, command.at_once ? "1" : "0"});
        return script::revoke;
    }
    script operator()(const mend& command) const {
        out.push_back(command.resource);
        return script::mend;
    }
    script operator()(const resize& command) const {
        out.push_back(command.resource);
        out.push_back(command.limit ? std::to_string(*command.limit) : "-");
        return script::resize;
    }
    script operator()(const pause& command) const {
        const duration latest{static_cast<std::int64_t>(bounds::number - 1)};  // for ever
        out.push_back(std::to_string(std::min(command.until.time_since_epoch(), latest).count()));
        return script::pause;
    }
};

struct session_of {
    template <typename Command> const session_id* operator()(const Command& command) const {
        if constexpr (requires { command.request.session; })
            return &command.request.session;
        else if constexpr (requires { command.session; })
            return &command.session;
        else
            return nullptr;
    }
};

script_call operator_call(script script, std::string_view space, lineage lineage) {
    return {script, {prefix_of(space) + "m"}, {padded(lineage, 16)}};
}

}  // namespace

std::string prefix_of(std::string_view space) { return "baton:{" + std::string{space} + "}:"; }

std::string to_bytes(const session_id& id) {
    std::string bytes;
    for (const std::uint64_t half : {id.high, id.low})
        for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>((half >> shift) & 0xffU);
    return bytes;
}

std::string wake_channel(std::string_view space, const session_id& id) {
    return prefix_of(space) + "wake:" + to_bytes(id);
}
std::string events_channel(std::string_view space) { return prefix_of(space) + "events"; }

script_call hello_call(std::string_view space, const space_terms& terms) {
    return {script::hello,
            {prefix_of(space) + "m"},
            {std::to_string(layout_version), std::to_string(terms.max_ttl.count()), std::to_string(terms.lag.count()),
             terms.pause_after_loss ? "1" : "0"}};
}

script_call call_of(std::string_view space, lineage lineage, const command& command) {
    script_call call = operator_call({}, space, lineage);
    if (const session_id* session = std::visit(session_of{}, command))
        call.keys.push_back(prefix_of(space) + "s:" + to_bytes(*session));
    call.script = std::visit(writer_of_arguments{call.arguments}, command);
    return call;
}

script_call watch_call(std::string_view space, lineage lineage, std::chrono::milliseconds length) {
    script_call call = operator_call(script::watch, space, lineage);
    call.arguments.push_back(std::to_string(length.count()));
    return call;
}

script_call page_call(std::string_view space, lineage lineage, section section, std::string_view cursor,
                      unsigned count) {
    static constexpr std::array<std::string_view, 4> names{"sessions", "dying", "marks", "limits"};
    script_call call = operator_call(script::inspect, space, lineage);
    call.arguments.emplace_back(names.at(static_cast<std::size_t>(section)));
    call.arguments.emplace_back(cursor);
    call.arguments.push_back(std::to_string(count));
    return call;
}

void encode(std::string& out, const script_call& call, const script_table& table) {
    resp::writer write{out};
    write.array(3 + call.keys.size() + call.arguments.size());
    write.bulk("EVALSHA");
    write.bulk(text_of(call.script, table).sha1);
    write.bulk(std::to_string(call.keys.size()));
    for (const std::string& key : call.keys) write.bulk(key);
    for (const std::string& argument : call.arguments) write.bulk(argument);
}

}  // namespace baton::redis
