#include "client/refusal_error.hpp"

#include "baton/error.hpp"

namespace baton::detail {

std::error_code error_of(protocol::refusal reason) {
    using protocol::refusal;
    switch (reason) {
        case refusal::no_claims: return errc::no_claims;
        case refusal::too_many_claims: return errc::too_many_claims;
        case refusal::duplicate_resource: return errc::duplicate_resource;
        case refusal::name_empty: return errc::name_empty;
        case refusal::name_too_long: return errc::name_too_long;
        case refusal::permits_out_of_range: return errc::permits_out_of_range;
        case refusal::above_limit: return errc::above_limit;
        case refusal::hold_limit_out_of_range: return errc::hold_limit_out_of_range;
        case refusal::queue_full: return errc::queue_full;
        case refusal::ttl_out_of_range: return errc::ttl_out_of_range;
        case refusal::label_too_long: return errc::label_too_long;
        case refusal::note_too_long: return errc::note_too_long;
        case refusal::not_found: return errc::not_found;
        case refusal::not_abandoned: return errc::not_abandoned;
        case refusal::paused: return errc::paused;
        case refusal::busy:
        case refusal::claims_differ:
        case refusal::stale_connection:
        case refusal::bad_reclaim:
        case refusal::number_out_of_range:
        case refusal::unknown_session: return errc::rejected;
    }
    return errc::rejected;
}

}  // namespace baton::detail
