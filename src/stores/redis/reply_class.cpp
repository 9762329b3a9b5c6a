#include "stores/redis/reply_class.hpp"

#include <algorithm>
#include <array>

#include "baton/error.hpp"

namespace baton::detail {
namespace {

/// The server starts, runs a slow script, cannot write to disk, is a replica, or fails over. With BATON*, the space has
/// a new epoch or may have lost state: the handshake of a new connection finds out.
constexpr std::array<std::string_view, 14> unavailable{
    "LOADING",    "BUSY",        "READONLY",  "MASTERDOWN", "MISCONF",    "TRYAGAIN",    "CLUSTERDOWN",
    "NOREPLICAS", "NOGOODSLAVE", "UNBLOCKED", "EXECABORT",  "BATONEPOCH", "BATONUNSURE", "BATONROLE"};
constexpr std::array<std::string_view, 3> denied{"NOAUTH", "WRONGPASS", "NOPERM"};

template <std::size_t Size> bool contains(const std::array<std::string_view, Size>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

}  // namespace

reply_class classify(std::string_view error) {
    const std::string_view word = error.substr(0, error.find(' '));
    if (word == "NOSCRIPT") return reply_class::no_script;
    if (error == "ERR Function not found") return reply_class::no_function;
    if (word == "OOM") return reply_class::full;
    if (contains(unavailable, word)) return reply_class::unavailable;
    if (contains(denied, word)) return reply_class::denied;
    // The server closes the connection after this error.
    if (error.starts_with("ERR max number of clients")) return reply_class::unavailable;
    // A script that runs a command which the user may not run fails with these texts.
    if (error.find("can't run this command") != std::string_view::npos ||
        error.find("No permissions") != std::string_view::npos || error.find("ACL failure") != std::string_view::npos)
        return reply_class::denied;
    return reply_class::rejected;
}

bool is_unknown_command(std::string_view error) { return error.starts_with("ERR unknown "); }

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
