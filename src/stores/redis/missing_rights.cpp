#include "stores/redis/missing_rights.hpp"

#include <algorithm>

#include "base/ascii_case.hpp"
#include "stores/redis/function_call.hpp"

namespace baton::redis {
namespace {

const std::string& user_of(const detail::redis_address& address) {
    static const std::string by_default = "default";
    return address.user.empty() ? by_default : address.user;
}

/// The server names a command in quotes; for keys and channels it says which of the two it is.
std::string missing_rules(const detail::redis_address& address, std::string_view error) {
    constexpr std::string_view of_hello = "BATONACL ";
    if (error.starts_with(of_hello)) {
        std::string rules{error.substr(of_hello.size())};
        std::ranges::transform(rules, rules.begin(), [inside = false](char letter) mutable {
            if (letter == '+') inside = true;
            if (letter == ' ') inside = false;
            return inside ? detail::lower(letter) : letter;
        });
        return rules;
    }
    if (!error.starts_with("NOPERM ")) return {};
    if (const auto from = error.find('\''); from != std::string_view::npos) {
        const auto to = error.find('\'', from + 1);
        if (to == std::string_view::npos) return {};
        return "+" + std::string{error.substr(from + 1, to - from - 1)};
    }
    if (address.is_sentinel) return "&+switch-master";
    const std::string all = prefix_of(address.space) + "*";
    if (error.find("channel") != std::string_view::npos) return "&" + all;
    if (error.find("key") != std::string_view::npos) return "~" + all;
    return {};
}

}  // namespace

std::string missing_rights_advice(const detail::redis_address& address, std::string_view error) {
    const std::string rules = missing_rules(address, error);
    if (rules.empty()) return {};
    const std::string& user = user_of(address);
    return "the user '" + user + "' lacks the rights " + rules + "; an administrator can add them: ACL SETUSER " +
           user + " " + rules;
}

std::string may_only_inspect_text(const detail::redis_address& address) {
    return "cannot use " + address.shown() + ": the user '" + user_of(address) +
           "' may only inspect; use a user with the rights of client.acl (docs/redis.md, Rights)";
}

bool forbids_command(std::string_view error, std::string_view command) {
    return error.starts_with("NOPERM ") &&
           error.find("'" + std::string{command} + "' command") != std::string_view::npos;
}

}  // namespace baton::redis
