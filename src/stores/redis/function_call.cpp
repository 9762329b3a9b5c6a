#include "stores/redis/function_call.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace baton::redis {
namespace {

using namespace protocol;

// One more than is allowed is refused as well as a million more.
constexpr std::size_t claims_sent = bounds::claims + 1;

/// With leading zeros, all numbers of a kind are of one length.
template <std::size_t Width> class padded {
public:
    static constexpr std::uint64_t end = 10'000'000'000'000'000U;  // of 16 digits

    explicit padded(std::uint64_t number) {
        for (auto at = digits_.rbegin(); at != digits_.rend(); ++at, number /= 10)
            *at = static_cast<char>('0' + number % 10);
    }
    operator std::string_view() const {  // NOLINT(google-explicit-constructor): it is text
        return {digits_.data(), Width};
    }

private:
    std::array<char, Width> digits_;
};

std::array<char, 16> bytes_of(const session_id& id) {
    std::array<char, 16> bytes;
    for (unsigned i = 0; i < 8; ++i) {
        bytes[i] = static_cast<char>((id.high >> (56 - 8 * i)) & 0xffU);
        bytes[8 + i] = static_cast<char>((id.low >> (56 - 8 * i)) & 0xffU);
    }
    return bytes;
}
template <std::size_t Size> std::string_view text(const std::array<char, Size>& bytes) { return {bytes.data(), Size}; }

constexpr std::string_view before_space = "baton:{";
constexpr std::string_view after_space = "}:";

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

/// A claim without numbers is a letter and the name; that of an exclusive claim is also the field of its resource. With
/// numbers, the letter of a mode that has none is a capital.
void add_claim(word_list& out, const claim& claim) {
    if (claim.mode != claim_mode::permits && claim.permits == 0 && claim.limit == 0)
        return out.add({claim.mode == claim_mode::exclusive ? "n" : "s", claim.resource});
    std::string start;
    put_mode(start, claim);
    if (claim.mode != claim_mode::permits) start[0] = claim.mode == claim_mode::exclusive ? 'X' : 'S';
    out.add({start, claim.resource});
}

void add_options(word_list& out, const enter_options& options) {
    const auto& [nowait, hold, bound] = options;
    if (!nowait && !hold && !bound) return;
    out.add(
        {nowait ? "1:" : "0:", hold ? std::to_string(hold->count()) : "", ":", bound ? std::to_string(*bound) : ""});
}

/// Each gives the verb and adds what follows the lineage.
struct writer_of_arguments {
    word_list& out;

    void add(const session_id& session) const { out.add(text(bytes_of(session))); }
    void add(const request_id& request) const {
        const std::array<char, 16> session = bytes_of(request.session);
        if (request.number < padded<16>::end)
            out.add({"x", text(session), padded<16>{request.number}});
        else  // which is refused
            out.add({"x", text(session), std::to_string(request.number)});
    }

    verb operator()(const open& command) const {
        add(command.session);
        out.add(command.ttl.count());
        out.add(padded<20>{command.link});
        out.add(command.highest);
        out.add(command.label);
        for (const live_request& live : command.live) out.add(text_of(live));
        return verb::open;
    }
    verb operator()(const enter& command) const {
        add(command.request);
        add_options(out, command.options);
        const std::size_t count = std::min(command.claims.size(), claims_sent);
        for (std::size_t i = 0; i < count; ++i) add_claim(out, command.claims[i]);
        return verb::enter;
    }
    verb operator()(const leave& command) const {
        add(command.request);
        if (command.manner == manner::keep) out.add("k");
        if (command.manner == manner::unclean) out.add("u");
        return verb::leave;
    }
    verb operator()(const renew& command) const {
        add(command.session);
        return verb::renew;
    }
    verb operator()(const list& command) const {
        add(command.session);
        out.add(command.after);
        return verb::list;
    }
    verb operator()(const close& command) const {
        add(command.session);
        out.add(command.how == closing::left ? "l" : "g");
        return verb::close;
    }
    verb operator()(const tick&) const { return verb::tick; }
    verb operator()(const revoke& command) const {
        out.add(command.resource);
        out.add(command.ticket);
        out.add(command.note);
        out.add(command.at_once ? "1" : "0");
        return verb::revoke;
    }
    verb operator()(const mend& command) const {
        out.add(command.resource);
        return verb::mend;
    }
    verb operator()(const resize& command) const {
        out.add(command.resource);
        out.add(command.limit ? std::to_string(*command.limit) : "-");
        return verb::resize;
    }
    verb operator()(const pause& command) const {
        const duration latest{static_cast<std::int64_t>(bounds::number - 1)};  // for ever
        out.add(std::min(command.until.time_since_epoch(), latest).count());
        return verb::pause;
    }
};

/// With the keys and arguments that all verbs but `hello` begin with.
function_call operator_call(verb verb, std::string_view space, lineage lineage, function_call used = {}) {
    used.verb = verb;
    used.keys.clear();
    used.keys.add({before_space, space, after_space, "m"});
    used.arguments.clear();
    used.arguments.add(padded<16>{lineage});
    return used;
}

}  // namespace

std::string prefix_of(std::string_view space) {
    return std::string{before_space} + std::string{space} + std::string{after_space};
}

std::string to_bytes(const session_id& id) { return std::string{text(bytes_of(id))}; }

std::string wake_channel(std::string_view space, const session_id& id) {
    return prefix_of(space) + "wake:" + to_bytes(id);
}
std::string events_channel(std::string_view space) { return prefix_of(space) + "events"; }

function_call hello_call(std::string_view space, const space_terms& terms, const known_history& known) {
    function_call call{verb::hello, {prefix_of(space) + "m"}, {}};
    call.arguments.add(layout_version);
    call.arguments.add(terms.max_ttl.count());
    call.arguments.add(terms.lag.count());
    call.arguments.add(terms.pause_after_loss ? "1" : "0");
    call.arguments.add(padded<16>{known.lineage});
    call.arguments.add(padded<16>{known.highest});
    return call;
}

function_call call_of(std::string_view space, lineage lineage, const command& command, function_call used) {
    function_call call = operator_call({}, space, lineage, std::move(used));
    call.verb = std::visit(writer_of_arguments{call.arguments}, command);
    return call;
}

function_call renew_call(std::string_view space, lineage lineage, const renew& command,
                         std::span<const std::uint64_t> waiting, function_call used) {
    function_call call = call_of(space, lineage, command, std::move(used));
    for (const std::uint64_t number : waiting) call.arguments.add(number);
    return call;
}

function_call watch_call(std::string_view space, lineage lineage, std::chrono::milliseconds length) {
    function_call call = operator_call(verb::watch, space, lineage);
    call.arguments.add(length.count());
    return call;
}

namespace {

function_call page_call(std::string_view space, lineage lineage, std::string_view what, std::string_view cursor,
                        page_size size) {
    function_call call = operator_call(verb::inspect, space, lineage);
    call.arguments.add(size.claims);
    call.arguments.add(what);
    call.arguments.add(cursor);
    return call;
}

/// A pattern of the server's that matches what begins with `prefix`; empty: everything.
std::string pattern_of(std::string_view prefix) {
    std::string pattern;
    for (const char letter : prefix) {
        if (std::string_view{"*?[]\\^-"}.find(letter) != std::string_view::npos) pattern += '\\';
        pattern += letter;
    }
    return pattern.empty() ? pattern : pattern + '*';
}

}  // namespace

function_call space_page_call(std::string_view space, lineage lineage, std::string_view prefix, std::string_view cursor,
                              page_size size) {
    function_call call = page_call(space, lineage, "space", cursor, size);
    call.arguments.add(pattern_of(prefix));
    return call;
}

function_call name_page_call(std::string_view space, lineage lineage, std::string_view name, std::string_view cursor,
                             page_size size) {
    function_call call = page_call(space, lineage, "name", cursor, size);
    call.arguments.add(name);
    return call;
}

function_call wait_page_call(std::string_view space, lineage lineage, const session_id& session,
                             std::span<const std::uint64_t> waiting, page_size holders) {
    function_call call = page_call(space, lineage, "wait", "0", holders);
    call.arguments.add(text(bytes_of(session)));
    for (const std::uint64_t number : waiting) call.arguments.add(number);
    return call;
}

void encode(std::string& out, const function_call& call, const function_library& library) {
    resp::writer write{out};
    write.array(3 + call.keys.size() + call.arguments.size());
    write.bulk(call.verb == verb::inspect ? "FCALL_RO" : "FCALL");
    write.bulk({library.name, "_", name_of(call.verb)});
    write.bulk(std::to_string(call.keys.size()));
    out += call.keys.bytes();
    out += call.arguments.bytes();
}

}  // namespace baton::redis
