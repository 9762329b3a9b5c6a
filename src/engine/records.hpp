// The engine's state: a session has requests, a request has claims, and a claim is admitted to a resource or waits for
// it. Records point at each other and never move. Only the engine changes them; `check` and `inspect` read them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/slot_set.hpp"
#include "engine/types.hpp"
#include "protocol/modes.hpp"

namespace baton::core {

struct request_record;
struct session_record;
struct claim_record;

/// Tables within records use the memory resource of the record itself.
using allocator = std::pmr::polymorphic_allocator<>;

struct resource_record {
    using allocator_type = allocator;
    explicit resource_record(const allocator& memory) : admitted{memory}, waiting{memory}, wide{memory} {}

    std::string_view name;                                 // its key in the table of resources
    std::pmr::map<serial, claim_record*> admitted;         // by ticket
    std::pmr::map<serial, claim_record*> waiting;          // by ticket
    std::array<std::size_t, mode_count> modes{};           // how many are admitted in each mode
    std::uint64_t used = 0;                                // permits of the admitted claims
    std::size_t reserved = 0;                              // admitted claims of requests that still wait
    slot_set slots;                                        // of the admitted claims
    std::pmr::set<std::pair<std::uint32_t, serial>> wide;  // waiting claims of two permits or more: permits, ticket
    std::optional<std::uint32_t> pinned;                   // the limit that overrides all claims' (rule 10)
    std::optional<protocol::mark> mark;                    // (rule 7)
    serial mark_reported_to = 0;                           // fence of the exclusive holder whose grant carried the mark
    claim_record* owed = nullptr;                          // the first waiter, if it is in the engine's `owed_`
    std::uint64_t narrowed = 0;                            // its key in the engine's `narrowed_`; 0: it is not there

    [[nodiscard]] std::uint32_t limit_for(std::uint32_t own) const { return pinned.value_or(own); }
    /// True while a claim waits that can never fit; its end is owed (rules 4, 10).
    [[nodiscard]] bool has_too_wide() const { return pinned && !wide.empty() && wide.rbegin()->first > *pinned; }
    [[nodiscard]] bool idle() const { return admitted.empty() && waiting.empty() && !pinned && !mark; }
};

struct claim_record {
    resource_record* resource = nullptr;
    request_record* request = nullptr;
    std::uint32_t permits = 0;
    std::uint32_t limit = 0;
    std::uint32_t limit_then = 0;  // the limit that was in force when it was admitted
    baton::claim_mode mode = baton::claim_mode::exclusive;
    bool admitted = false;
    std::vector<slot> slots;  // while admitted

    [[nodiscard]] bool is(const claim& wanted) const {
        return resource->name == wanted.resource && mode == wanted.mode && permits == wanted.permits &&
               limit == wanted.limit;
    }
};

/// An operator has revoked the grant: the holder keeps the names until the deadline at the latest (rule 13).
struct revocation {
    instant deadline;
    std::string note;
};

struct request_record {
    using allocator_type = allocator;
    explicit request_record(const allocator& memory) : claim_records{memory} {}

    session_record* session = nullptr;
    std::uint64_t number = 0;
    serial ticket = 0;
    serial fence = 0;                    // 0 while it waits
    std::optional<duration> hold_limit;  // after a reclaim, what was left of it
    instant hold_deadline;               // once granted, if it has a hold limit
    std::unique_ptr<revocation> revoked;
    std::pmr::vector<claim_record> claim_records;  // their number never changes
    std::uint32_t unadmitted = 0;                  // claims that are not admitted yet
    std::uint64_t presented = 0;                   // the pause in which its client presented this grant (rule 11)
    bool reordered = false;  // a reclaim changed its queue position, so that tickets do not explain it

    [[nodiscard]] std::span<claim_record> claims() { return claim_records; }
    [[nodiscard]] std::span<const claim_record> claims() const { return claim_records; }
    [[nodiscard]] bool held() const { return fence != 0; }
    [[nodiscard]] request_id id() const;
    [[nodiscard]] std::uint64_t digest() const {
        return request_digest(number, fence, revoked ? std::optional{revoked->deadline} : std::nullopt);
    }
};

struct session_record {
    using allocator_type = allocator;
    explicit session_record(const allocator& memory) : requests{memory} {}

    session_id id;
    std::chrono::milliseconds ttl{0};
    instant deadline;
    std::string label;
    std::uint64_t connection_number = 0;
    std::uint64_t highest = 0;                              // the highest request number so far (rule 9)
    std::uint64_t digest = 0;                               // the sum of its requests' digests
    std::optional<end_reason> dying;                        // its end has begun: why its requests end
    std::pmr::map<std::uint64_t, request_record> requests;  // by number
    std::vector<decltype(event::what)> missed;              // events that the next `renew` repeats (rule 5)
};

inline request_id request_record::id() const { return {session->id, number}; }

/// The end, at a known time, of a session (number 0, expired) or of one of its requests (revoked, hold_limit).
struct due {
    instant at;
    session_record* session = nullptr;
    std::uint64_t number = 0;
    end_reason reason = end_reason::expired;

    friend bool operator<(const due& a, const due& b) {
        if (a.at != b.at) return a.at < b.at;
        if (a.session != b.session) return a.session->id < b.session->id;
        return a.number - 1 <
               b.number - 1;  // the session, 0, comes after its requests, which end for their own reasons
    }
};

/// Orders by ticket. Reclaims may bring one ticket twice, on different resources; those are ordered by id, so that the
/// order does not depend on addresses.
struct older_first {
    bool operator()(const request_record* a, const request_record* b) const {
        if (a->ticket != b->ticket) return a->ticket < b->ticket;
        return a != b && a->id() < b->id();
    }
    bool operator()(const claim_record* a, const claim_record* b) const {
        if (a->request != b->request) return (*this)(a->request, b->request);
        return std::less<>{}(a, b);  // the claims of a request are in one array, in their order
    }
};

}  // namespace baton::core
