#include "stores/redis/reply_class.hpp"

#include "baton/error.hpp"
#include "stores/redis/refusals.hpp"

namespace baton::detail {

reply_class classify(std::string_view error) {
    const std::string_view word = error.substr(0, error.find(' '));
    if (word == "NOSCRIPT") return reply_class::no_script;
    if (error == "ERR Function not found") return reply_class::no_function;
    if (word == "OOM") return reply_class::full;
    const auto refusal = redis::find_refusal({redis::origin::reply, error});
    if (!refusal) return reply_class::rejected;
    if (refusal->code == errc::store_unavailable) return reply_class::unavailable;
    return refusal->code == errc::not_permitted ? reply_class::denied : reply_class::rejected;
}

std::error_code error_of(reply_class what) {
    switch (what) {
        case reply_class::denied: return errc::not_permitted;
        case reply_class::full: return errc::store_full;
        case reply_class::no_script:
        case reply_class::no_function:
        case reply_class::unavailable: return errc::store_unavailable;
        case reply_class::rejected: break;
    }
    return errc::rejected;
}

}  // namespace baton::detail
