#include "baton/error.hpp"

#include "baton/observer.hpp"

namespace baton {
namespace {

class category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "baton"; }

    [[nodiscard]] std::string message(int value) const override {
        if (value == static_cast<int>(error_kind::refused)) return "refused";
        switch (static_cast<errc>(value)) {
            case errc::timed_out: return "timed out";
            case errc::lost: return "the lease is lost";
            case errc::revoked: return "an operator revoked the request";
            case errc::store_unavailable: return "the store cannot be reached";
            case errc::would_deadlock: return "this thread holds what it wants to lock";
            case errc::unsupported: return "the store does not support this";
            case errc::closed: return "the client is closed";
            case errc::own_thread: return "a blocking call within a callback of the client would wait for itself";
            case errc::forked: return "the client belongs to the parent process; make one after fork";
            case errc::bad_url: return "the address is not understood";
            case errc::no_agent: return "no agent serves this address, and none could be started";
            case errc::not_permitted: return "not permitted";
            case errc::version_mismatch:
                return "the agent, or the space on the server, is of another version and in use";
            case errc::space_refused: return "the server's settings or the space's keys do not suit the address";
            case errc::store_full: return "the store has no room for one more";
            case errc::not_held: return "there is nothing to release";
            case errc::foreign_data: return "the server's key for this name holds data of another kind, not a lock";
            case errc::paused:
                return "the space is paused after a possible loss of state, so that holders can present what they hold";
            case errc::tls_failed: return "the TLS connection failed";
            case errc::no_claims: return "refused: nothing is claimed";
            case errc::too_many_claims: return "refused: more than 1,000 claims";
            case errc::duplicate_resource: return "refused: a name is claimed twice";
            case errc::name_empty: return "refused: a name is empty";
            case errc::name_too_long: return "refused: a name is longer than 512 bytes";
            case errc::permits_out_of_range:
                return "refused: permits must be 1 up to the limit, the limit up to 65,536";
            case errc::above_limit: return "refused: more permits than the limit that is pinned for the name";
            case errc::hold_limit_out_of_range: return "refused: a hold limit is 1 ms to 366 days";
            case errc::queue_full: return "refused: the queue is full";
            case errc::ttl_out_of_range:
                return "refused: a ttl is 100 ms to 15 s, or to the max_ttl of a space that has another";
            case errc::label_too_long: return "refused: a label is at most 1,024 bytes";
            case errc::note_too_long: return "refused: a note is at most 1,024 bytes";
            case errc::not_found: return "refused: no such request";
            case errc::not_abandoned: return "refused: the resource is not marked as abandoned";
            case errc::rejected: return "refused by the store";
        }
        return "unknown error " + std::to_string(value);
    }

    [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
        if (value == static_cast<int>(errc::would_deadlock)) return std::errc::resource_deadlock_would_occur;
        return {value, *this};
    }

    [[nodiscard]] bool equivalent(int value, const std::error_condition& condition) const noexcept override {
        if (condition == error_kind::refused) return value > static_cast<int>(error_kind::refused);
        return std::error_category::equivalent(value, condition);
    }
};

/// A store gives these codes with a sentence that says what failed, why, and what to do.
bool explains_itself(std::error_code code) {
    return code == errc::store_unavailable || code == errc::not_permitted || code == errc::unsupported ||
           code == errc::version_mismatch || code == errc::space_refused || code == errc::tls_failed ||
           code == errc::bad_url;
}

}  // namespace

std::string detail::describe(std::error_code code, const std::string& reason) {
    if (reason.empty()) return code.message();
    return explains_itself(code) ? reason : reason + ": " + code.message();
}

inline namespace v1 {

// Never destroyed: errors may be read while the program's static objects are destroyed.
const std::error_category& error_category() noexcept {
    static const auto& instance = *new category;
    return instance;
}

std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), error_category()}; }
std::error_condition make_error_condition(error_kind kind) noexcept {
    return {static_cast<int>(kind), error_category()};
}

const char* to_string(loss reason) noexcept {
    switch (reason) {
        case loss::none: return "not lost";
        case loss::expired: return "expired";
        case loss::hold_limit: return "hold limit";
        case loss::revoked: return "revoked";
        case loss::state_lost: return "the store lost its state";
        case loss::process_paused: return "the process was paused";
        case loss::closed: return "closed";
    }
    return "unknown";
}

}  // namespace v1
}  // namespace baton
