#include "stores/redis/function_call.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <utility>

#include "protocol/fields.hpp"

namespace baton::redis {
namespace {

using namespace protocol;

// The server refuses one claim too many, so further ones need not be sent.
constexpr std::size_t claims_sent = bounds::claims + 1;

/// A number with leading zeros.
template <std::size_t Width> class padded {
public:
    static constexpr std::uint64_t end = 10'000'000'000'000'000U;  // of 16 digits

    explicit padded(std::uint64_t number) {
        for (auto at = digits_.rbegin(); at != digits_.rend(); ++at, number /= 10)
            *at = static_cast<char>('0' + number % 10);
    }
    operator std::string_view() const {  // NOLINT(google-explicit-constructor)
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

char letter(claim_mode mode) { return mode == claim_mode::exclusive ? 'x' : mode == claim_mode::shared ? 's' : 'p'; }

/// Writes fields as text: a number ends with a colon, a string follows its length, a list follows its number of items.
/// Visits the fields of `live_request`.
class text_writer {
public:
    template <typename Field> void operator()(std::string_view /*name*/, const Field& field) { put(field); }

    template <std::integral Number> void put(Number number) {
        text_ += std::to_string(number);
        text_ += ':';
    }
    void put(const std::optional<duration>& time) {
        if (time)
            put(time->count());
        else
            text_ += "-:";
    }
    void put(const std::string& text) {
        put(text.size());
        text_ += text;
    }
    void put_mode(const claim& claim) {
        text_ += letter(claim.mode);
        put(claim.permits);
        put(claim.limit);
    }
    void put(const claim& claim) {
        put_mode(claim);
        put(claim.resource);
    }
    void put(const claim_slots& claim) {
        put(claim.resource);
        put_runs(claim.slots);
    }
    template <std::ranges::sized_range List> void put(const List& list) {
        const std::size_t count = std::min(std::ranges::size(list), claims_sent);
        put(count);
        for (std::size_t i = 0; i < count; ++i) put(list[i]);
    }

    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    /// Writes runs of consecutive slots, first and last, in the given order.
    void put_runs(const std::vector<slot>& slots) {
        text_writer runs;
        std::size_t count = 0;
        for (std::size_t i = 0; i < slots.size(); ++count) {
            const std::size_t first = i++;
            while (i < slots.size() && slots[i - 1] + 1 == slots[i]) ++i;
            runs.put(slots[first]);
            runs.put(slots[i - 1]);
        }
        put(count);
        text_ += runs.text_;
    }

    std::string text_;
};

/// Without numbers, a claim is a letter and the name; for an exclusive claim this text is also the field of the
/// name in the space's hash. With numbers, exclusive and shared claims have a capital letter.
void add_claim(word_list& out, const claim& claim) {
    if (claim.mode != claim_mode::permits && claim.permits == 0 && claim.limit == 0)
        return out.add({claim.mode == claim_mode::exclusive ? "n" : "s", claim.resource});
    text_writer mode;
    mode.put_mode(claim);
    std::string start = mode.take();
    if (claim.mode != claim_mode::permits) start[0] = claim.mode == claim_mode::exclusive ? 'X' : 'S';
    out.add({start, claim.resource});
}

void add_options(word_list& out, const enter_options& options) {
    const auto& [nowait, hold, bound] = options;
    if (!nowait && !hold && !bound) return;
    out.add(
        {nowait ? "1:" : "0:", hold ? std::to_string(hold->count()) : "", ":", bound ? std::to_string(*bound) : ""});
}

/// Adds the arguments after the epoch: one for each field of the command. Frequent commands and lists have a shorter
/// form, which costs the server less time (docs/redis-keys.md).
class argument_writer {
public:
    explicit argument_writer(word_list& out) : out_{out} {}

    template <typename Command> void add(const Command& command) { protocol::fields(*this, command); }
    void add(const open& command) {
        put(command.session);
        put(command.ttl);
        out_.add(padded<20>{command.connection_number});
        put(command.highest);
        put(command.label);
        for (const live_request& live : command.live) {
            text_writer text;
            protocol::fields(text, live);
            out_.add(text.take());
        }
    }
    void add(const enter& command) {
        put(command.request);
        add_options(out_, command.options);
        const std::size_t count = std::min(command.claims.size(), claims_sent);
        for (std::size_t i = 0; i < count; ++i) add_claim(out_, command.claims[i]);
    }
    void add(const leave& command) {
        put(command.request);
        if (command.release_kind != release_kind::clean) out_.add(word(command.release_kind).substr(0, 1));
    }

    template <typename Field> void operator()(std::string_view /*name*/, const Field& field) { put(field); }

private:
    void put(const std::string& text) { out_.add(text); }
    template <std::integral Number> void put(Number number) { out_.add(number); }
    void put(std::chrono::milliseconds time) { out_.add(time.count()); }
    void put(instant time) {
        const duration latest{static_cast<std::int64_t>(bounds::number - 1)};
        out_.add(std::min(time.time_since_epoch(), latest).count());
    }
    void put(closing how) { out_.add(word(how).substr(0, 1)); }
    void put(const either<const bool>& choice) { out_.add(choice.flag ? "1" : "0"); }
    void put(const std::optional<std::uint32_t>& limit) { out_.add(limit ? std::to_string(*limit) : "-"); }
    void put(const session_id& session) { out_.add(text(bytes_of(session))); }
    void put(const request_id& request) {
        const std::array<char, 16> session = bytes_of(request.session);
        if (request.number < padded<16>::end)
            out_.add({"x", text(session), padded<16>{request.number}});
        else  // the server refuses it
            out_.add({"x", text(session), std::to_string(request.number)});
    }

    word_list& out_;
};

/// The verbs of the commands follow `hello`, in the order of the commands.
constexpr verb verb_of(std::size_t command) { return static_cast<verb>(command + 1); }
static_assert([] {
    for (std::size_t i = 0; i < names_of<command>.size(); ++i)
        if (name_of(verb_of(i)) != names_of<command>[i]) return false;
    return true;
}());

/// Adds the key and the first argument of all verbs except `hello`.
function_call operator_call(verb verb, std::string_view space, epoch epoch, function_call used = {}) {
    used.verb = verb;
    used.keys.clear();
    used.keys.add({before_space, space, after_space, "m"});
    used.arguments.clear();
    used.arguments.add(padded<16>{epoch});
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
    call.arguments.add(padded<16>{known.epoch});
    call.arguments.add(padded<16>{known.highest});
    return call;
}

function_call look_call(std::string_view space) {
    function_call call{verb::look, {prefix_of(space) + "m"}, {}};
    call.arguments.add(layout_version);
    return call;
}

function_call call_of(std::string_view space, epoch epoch, const command& command, function_call used) {
    function_call call = operator_call(verb_of(command.index()), space, epoch, std::move(used));
    std::visit([&call](const auto& what) { argument_writer{call.arguments}.add(what); }, command);
    return call;
}

function_call renew_call(std::string_view space, epoch epoch, const renew& command,
                         std::span<const std::uint64_t> waiting, function_call used) {
    function_call call = call_of(space, epoch, command, std::move(used));
    for (const std::uint64_t number : waiting) call.arguments.add(number);
    return call;
}

namespace {

function_call page_call(std::string_view space, epoch epoch, std::string_view what, std::string_view cursor,
                        page_size size) {
    function_call call = operator_call(verb::inspect, space, epoch);
    call.arguments.add(size.claims);
    call.arguments.add(what);
    call.arguments.add(cursor);
    return call;
}

/// A pattern for HSCAN that matches names which begin with `prefix`. An empty prefix gives no pattern.
std::string pattern_of(std::string_view prefix) {
    std::string pattern;
    for (const char letter : prefix) {
        if (std::string_view{"*?[]\\^-"}.find(letter) != std::string_view::npos) pattern += '\\';
        pattern += letter;
    }
    return pattern.empty() ? pattern : pattern + '*';
}

}  // namespace

function_call space_page_call(std::string_view space, epoch epoch, std::string_view prefix, std::string_view cursor,
                              page_size size) {
    function_call call = page_call(space, epoch, "space", cursor, size);
    call.arguments.add(pattern_of(prefix));
    return call;
}

function_call name_page_call(std::string_view space, epoch epoch, std::string_view name, std::string_view cursor,
                             page_size size) {
    function_call call = page_call(space, epoch, "name", cursor, size);
    call.arguments.add(name);
    return call;
}

function_call wait_page_call(std::string_view space, epoch epoch, const session_id& session,
                             std::span<const std::uint64_t> waiting, page_size holders) {
    function_call call = page_call(space, epoch, "wait", "0", holders);
    call.arguments.add(text(bytes_of(session)));
    for (const std::uint64_t number : waiting) call.arguments.add(number);
    return call;
}

void encode(std::string& out, const function_call& call, const function_library& library) {
    resp::writer write{out};
    write.array(3 + call.keys.size() + call.arguments.size());
    write.bulk(call.verb == verb::inspect || call.verb == verb::look ? "FCALL_RO" : "FCALL");
    write.bulk({library.name, "_", name_of(call.verb)});
    write.bulk(std::to_string(call.keys.size()));
    out += call.keys.bytes();
    out += call.arguments.bytes();
}

}  // namespace baton::redis
