// The fields of the messages and of the snapshot, in the order in which they are encoded. Encoders and decoders are
// visitors of these descriptions, so that they cannot differ: the agent's messages (stores/resp/field_writer.hpp,
// field_reader.hpp), snapshots (stores/resp/wire_snapshot.cpp), and the arguments of the functions in Redis
// (stores/redis/function_call.cpp).
//
// A visitor gets the name and the value of each field. It encodes a const message and decodes into a mutable one. An
// optional field follows the field that decides whether it is present.
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "baton/inspect.hpp"
#include "baton/protocol.hpp"

namespace baton::protocol {

/// The encoded words of the enumerators, which count from 0.
template <typename Enum> inline constexpr std::array<std::string_view, 0> words_of{};
template <>
inline constexpr auto words_of<claim_mode> = std::to_array<std::string_view>({"exclusive", "shared", "permits"});
template <>
inline constexpr auto words_of<release_kind> = std::to_array<std::string_view>({"clean", "keep", "unclean"});
template <> inline constexpr auto words_of<closing> = std::to_array<std::string_view>({"left", "gone"});
template <>
inline constexpr auto words_of<inspect_filter::match> = std::to_array<std::string_view>({"all", "prefix", "exact"});
template <>
inline constexpr auto words_of<end_reason> = std::to_array<std::string_view>(
    {"left", "withdrawn", "expired", "hold limit", "revoked", "above limit", "superseded", "gone"});
template <>
inline constexpr auto words_of<refusal> = std::to_array<std::string_view>({"no claims",
                                                                           "too many claims",
                                                                           "duplicate resource",
                                                                           "name empty",
                                                                           "name too long",
                                                                           "permits out of range",
                                                                           "above limit",
                                                                           "hold limit out of range",
                                                                           "number out of range",
                                                                           "unknown session",
                                                                           "claims differ",
                                                                           "busy",
                                                                           "paused",
                                                                           "queue full",
                                                                           "ttl out of range",
                                                                           "label too long",
                                                                           "stale connection",
                                                                           "bad reclaim",
                                                                           "not found",
                                                                           "not abandoned",
                                                                           "note too long"});
static_assert(words_of<end_reason>.size() == static_cast<std::size_t>(end_reason::gone) + 1);
static_assert(words_of<refusal>.size() == static_cast<std::size_t>(refusal::note_too_long) + 1);

template <typename Enum>
concept worded = std::is_enum_v<Enum> && !words_of<Enum>.empty();

template <worded Enum> [[nodiscard]] constexpr std::string_view word(Enum value) {
    return words_of<Enum>.at(static_cast<std::size_t>(value));
}
template <worded Enum> [[nodiscard]] constexpr std::optional<Enum> from_word(std::string_view word) {
    for (std::size_t i = 0; i < words_of<Enum>.size(); ++i)
        if (words_of<Enum>[i] == word) return static_cast<Enum>(i);
    return {};
}

/// A flag that is encoded as one of two words.
template <typename Bool> struct either {
    Bool& flag;
    std::string_view yes;
    std::string_view no;
};
template <typename Bool> either(Bool&, std::string_view, std::string_view) -> either<Bool>;

/// The names of the alternatives of a variant, in their order.
template <typename Variant> inline constexpr std::array<std::string_view, 0> names_of{};
template <>
inline constexpr auto names_of<command> = std::to_array<std::string_view>(
    {"open", "enter", "leave", "renew", "list", "close", "tick", "revoke", "mend", "resize", "pause"});
template <>
inline constexpr auto names_of<decltype(event::what)> =
    std::to_array<std::string_view>({"granted", "queued", "refused", "ended", "session_lost", "alive", "listed",
                                     "closed", "revoking", "mended", "resized", "paused"});
static_assert(names_of<command>.size() == std::variant_size_v<command>);
static_assert(names_of<decltype(event::what)>.size() == std::variant_size_v<decltype(event::what)>);

/// Makes the variant hold a default value of the alternative with this name. False: there is none.
template <typename Variant> [[nodiscard]] bool emplace_named(Variant& into, std::string_view name) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return ((name == names_of<Variant>[I] && (into.template emplace<I>(), true)) || ...);
    }(std::make_index_sequence<std::variant_size_v<Variant>>{});
}

/// `Given` is a `Type`, const or not.
template <typename Given, typename Type>
concept is = std::same_as<std::remove_const_t<Given>, Type>;

// Parts of messages.

void fields(auto& visit, is<request_id> auto& id) {
    visit("session", id.session);
    visit("number", id.number);
}
/// Permits and limit, for the mode that has them.
void permit_fields(auto& visit, auto& claim) {
    if (claim.mode != claim_mode::permits) return;
    visit("permits", claim.permits);
    visit("limit", claim.limit);
}
void fields(auto& visit, is<claim> auto& claim) {
    visit("mode", claim.mode);
    visit("resource", claim.resource);
    permit_fields(visit, claim);
}
void fields(auto& visit, is<claim_slots> auto& claim) {
    visit("resource", claim.resource);
    visit("slots", claim.slots);
}
void fields(auto& visit, is<mark> auto& mark) {
    visit("label", mark.label);
    visit("fence", mark.fence);
    visit("at", mark.at);
    visit("count", mark.count);
}
void fields(auto& visit, is<abandoned_resource> auto& abandoned) {
    visit("resource", abandoned.resource);
    visit("mark", abandoned.mark);
}
void fields(auto& visit, is<live_request> auto& live) {
    visit("number", live.number);
    visit("ticket", live.ticket);
    visit("fence", live.fence);
    visit("hold_us", live.hold);
    visit("claims", live.claims);
    visit("slots", live.slots);
}
void fields(auto& visit, is<request_state> auto& state) {
    visit("number", state.number);
    visit("ticket", state.ticket);
    visit("fence", state.fence);
    visit("revoked", state.revoked);
}

// Commands.

void fields(auto& visit, is<open> auto& command) {
    visit("session", command.session);
    visit("ttl_ms", command.ttl);
    visit("label", command.label);
    visit("connection_number", command.connection_number);
    visit("highest", command.highest);
    visit("live", command.live);
}
void fields(auto& visit, is<enter> auto& command) {
    visit("request", command.request);
    visit("nowait", either{command.options.nowait, "nowait", "wait"});
    visit("hold_us", command.options.hold_limit);
    visit("bound", command.options.queue_bound);
    visit("claims", command.claims);
}
void fields(auto& visit, is<leave> auto& command) {
    visit("request", command.request);
    visit("release_kind", command.release_kind);
}
void fields(auto& visit, is<renew> auto& command) { visit("session", command.session); }
void fields(auto& visit, is<list> auto& command) {
    visit("session", command.session);
    visit("after", command.after);
}
void fields(auto& visit, is<close> auto& command) {
    visit("session", command.session);
    visit("how", command.how);
}
void fields(auto&, is<tick> auto&) {}
void fields(auto& visit, is<revoke> auto& command) {
    visit("resource", command.resource);
    visit("ticket", command.ticket);
    visit("note", command.note);
    visit("at_once", either{command.at_once, "now", "asked"});
}
void fields(auto& visit, is<mend> auto& command) { visit("resource", command.resource); }
void fields(auto& visit, is<resize> auto& command) {
    visit("resource", command.resource);
    visit("limit", command.limit);
}
void fields(auto& visit, is<pause> auto& command) { visit("until_us", command.until); }
void fields(auto& visit, is<inspect_filter> auto& filter) {
    visit("match", filter.how);
    visit("name", filter.name);
    visit("related", either{filter.related, "related", "alone"});
}

// Events.

void fields(auto& visit, is<granted> auto& event) {
    visit("request", event.request);
    visit("ticket", event.ticket);
    visit("fence", event.fence);
    visit("slots", event.slots);
    visit("abandoned", event.abandoned);
    visit("hold_deadline", event.hold_deadline);
}
void fields(auto& visit, is<queued> auto& event) {
    visit("request", event.request);
    visit("ticket", event.ticket);
}
void fields(auto& visit, is<refused> auto& event) {
    visit("request", event.request);
    visit("reason", event.reason);
    visit("until", event.until);
}
void fields(auto& visit, is<ended> auto& event) {
    visit("request", event.request);
    visit("reason", event.reason);
    visit("fence", event.fence);
}
void fields(auto& visit, is<session_lost> auto& event) { visit("session", event.session); }
void fields(auto& visit, is<alive> auto& event) {
    visit("session", event.session);
    visit("deadline", event.deadline);
    visit("count", event.count);
    visit("digest", event.digest);
    visit("settled", either{event.settled, "settled", "unsettled"});
}
void fields(auto& visit, is<listed> auto& event) {
    visit("session", event.session);
    visit("after", event.after);
    visit("requests", event.requests);
    visit("more", either{event.more, "more", "last"});
}
void fields(auto& visit, is<closed> auto& event) { visit("session", event.session); }
void fields(auto& visit, is<revoking> auto& event) {
    visit("request", event.request);
    visit("note", event.note);
    visit("deadline", event.deadline);
}
void fields(auto& visit, is<mended> auto& event) {
    visit("resource", event.resource);
    visit("mark", event.mark);
}
void fields(auto& visit, is<resized> auto& event) {
    visit("resource", event.resource);
    visit("limit", event.limit);
}
void fields(auto& visit, is<paused> auto& event) { visit("until", event.until); }

// Snapshots.

void fields(auto& visit, is<claim_view> auto& view) {
    visit("ticket", view.ticket);
    visit("mode", view.mode);
    permit_fields(visit, view);
    visit("admitted", view.admitted);
    visit("slots", view.slots);
}
void fields(auto& visit, is<resource_view> auto& view) {
    visit("name", view.name);
    visit("holders", view.holders);
    visit("queue", view.queue);
    visit("used", view.used);
    visit("limit", view.limit);
    visit("percent", view.percent);
    visit("pinned", view.pinned);
    visit("mark", view.mark);
}
void fields(auto& visit, is<blocker> auto& blocker) {
    visit("ticket", blocker.ticket);
    visit("resource", blocker.resource);
    visit("hard", blocker.hard);
}
void fields(auto& visit, is<request_view> auto& view) {
    visit("ticket", view.ticket);
    visit("fence", view.fence);
    visit("session", view.session);
    visit("label", view.label);
    visit("claims", view.claims);
    visit("age_us", view.age);
    visit("silence_us", view.silence);
    visit("position", view.position);
    visit("blockers", view.blockers);
    visit("blockers_left_out", view.blockers_left_out);
    visit("hold_left_us", view.hold_left);
    visit("revoked_in_us", view.revoked_in);
    visit("revoke_note", view.revoke_note);
}
void fields(auto& visit, is<circle_step> auto& step) {
    visit("ticket", step.ticket);
    visit("resource", step.resource);
    visit("blocker", step.blocker);
}
void fields(auto& visit, is<snapshot> auto& seen) {
    visit("at_us", seen.at);
    visit("paused_until_us", seen.paused_until);
    visit("sessions", seen.sessions);
    visit("resources", seen.resources);
    visit("requests", seen.requests);
    visit("circles", seen.circles);
}

/// The message has a description above.
template <typename Message>
concept described = requires(int& visitor, Message& message) { fields(visitor, message); };

}  // namespace baton::protocol
