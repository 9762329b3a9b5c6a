#include "baton/protocol.hpp"

namespace baton::protocol {

std::string_view to_string(refusal reason) {
    switch (reason) {
        case refusal::no_claims: return "no claims";
        case refusal::too_many_claims: return "too many claims";
        case refusal::duplicate_resource: return "duplicate resource";
        case refusal::name_empty: return "name empty";
        case refusal::name_too_long: return "name too long";
        case refusal::permits_out_of_range: return "permits out of range";
        case refusal::above_limit: return "above limit";
        case refusal::hold_limit_out_of_range: return "hold limit out of range";
        case refusal::number_out_of_range: return "number out of range";
        case refusal::unknown_session: return "unknown session";
        case refusal::claims_differ: return "claims differ";
        case refusal::busy: return "busy";
        case refusal::paused: return "paused";
        case refusal::queue_full: return "queue full";
        case refusal::ttl_out_of_range: return "ttl out of range";
        case refusal::label_too_long: return "label too long";
        case refusal::late_link: return "late link";
        case refusal::bad_reclaim: return "bad reclaim";
        case refusal::not_found: return "not found";
        case refusal::not_abandoned: return "not abandoned";
        case refusal::note_too_long: return "note too long";
    }
    return "unknown refusal";
}

std::string_view to_string(end_reason reason) {
    switch (reason) {
        case end_reason::left: return "left";
        case end_reason::withdrawn: return "withdrawn";
        case end_reason::expired: return "expired";
        case end_reason::hold_limit: return "hold limit";
        case end_reason::revoked: return "revoked";
        case end_reason::above_limit: return "above limit";
        case end_reason::superseded: return "superseded";
        case end_reason::gone: return "gone";
    }
    return "unknown reason";
}

}  // namespace baton::protocol
