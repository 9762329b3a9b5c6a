#include "failure.hpp"

#include "baton/error.hpp"

namespace baton::cli {

exit_code code_of(std::error_code error) {
    if (error == errc::not_permitted || error == std::errc::permission_denied ||
        error == std::errc::operation_not_permitted)
        return exit_code::not_permitted;
    if (error == errc::bad_url || error == errc::unsupported || error == errc::version_mismatch ||
        error == errc::space_refused || error == errc::foreign_data || error == errc::tls_failed)
        return exit_code::configuration;
    if (error == errc::store_unavailable || error == errc::store_full || error == errc::no_agent)
        return exit_code::unreachable;
    if (error == errc::timed_out || error == errc::revoked || error == errc::queue_full || error == errc::above_limit ||
        error == errc::paused)
        return exit_code::not_acquired;
    if (error == errc::lost) return exit_code::lost;
    if (error == errc::not_found || error == errc::not_abandoned) return exit_code::no;
    if (error == errc::rejected) return exit_code::internal;
    if (error == error_kind::refused) return exit_code::usage;  // names, limits and times out of range
    return exit_code::internal;
}

}  // namespace baton::cli
