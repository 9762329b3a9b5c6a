// The facts that `baton doctor` judges: the settings of the client, and the replies of the server.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/redis/address.hpp"
#include "stores/resp/encryption.hpp"

namespace baton::redis {

using std::chrono::microseconds;

/// Begins `missing`, if the user lacks a right.
inline constexpr std::string_view may_not_run = "the user may not run ";

/// A reply, or why there is none: `missing` completes the sentence "not checked: …".
template <typename Value> struct answer {
    std::optional<Value> value = {};
    std::string missing = {};

    explicit operator bool() const { return value.has_value(); }
    const Value& operator*() const { return *value; }
    const Value* operator->() const { return &*value; }
};

/// The fields of INFO or of CONFIG GET.
using field_map = std::map<std::string, std::string, std::less<>>;

/// The text of a field; empty if the server does not have it.
[[nodiscard]] inline std::string_view text_of(const answer<field_map>& fields, std::string_view name) {
    if (!fields) return {};
    const auto found = fields->find(name);
    return found == fields->end() ? std::string_view{} : std::string_view{found->second};
}

/// Numbers from a server are limited to this, so that the arithmetic of the checks cannot overflow.
inline constexpr std::int64_t largest_number = std::int64_t{1} << 42;

/// The number that a field begins with; none if the server does not have it.
[[nodiscard]] std::optional<std::int64_t> number_of(const answer<field_map>& fields, std::string_view name);

struct clock_reading {
    microseconds ahead{};  // of the server, compared with this machine
    microseconds error{};  // half of the round trip
    microseconds server{};
};

struct user_facts {
    std::string name;
    bool no_password = false;
    bool all_commands = false;
    bool all_keys = false;
    bool is_on = true;
};

/// The rights that Baton needs in this space and the user lacks.
struct rights_facts {
    bool only_inspects = false;              // it may not run FCALL, and needs only the rights that `look` checks
    std::vector<std::string> commands = {};  // that ACL DRYRUN denies
    std::string refusal = {};                // the server's or a function's error that names the rules; empty: none
};

/// The slow log of the last 24 hours.
struct slow_facts {
    std::size_t own_calls = 0;  // of Baton's functions
    microseconds own_slowest{};
    microseconds other_slowest{};
    std::string other_command;  // its name, without arguments
};

struct space_facts {
    bool exists = false;
    bool is_foreign = false;  // the keys hold data that is not Baton's
    std::optional<unsigned> layout = {};
    std::chrono::milliseconds max_ttl{};
    std::chrono::milliseconds lag{};
    bool pause = true;
    std::int64_t pauses = 0;
    std::int64_t sessions = 0;
    microseconds paused_until{};
    std::string epoch = {};
};

/// What one Sentinel replied.
struct sentinel_facts {
    detail::host_and_port at;
    store_error failure = {};                           // without an error, it replied
    std::optional<detail::host_and_port> primary = {};  // none: it watches no primary with the name
    answer<field_map> settings = {};                    // of the primary with the name
    answer<std::string> quorum = {};                    // why no failover is possible; empty: one is
};

struct server_facts {
    // The client's side.
    detail::redis_address address;
    std::chrono::milliseconds ttl{10'000};
    bool is_on_this_machine = false;  // a socket file, or a loopback address
    std::optional<resp::encryption_details> tls = {};
    bool in_cluster = false;   // the server is a node of a cluster
    std::string library = {};  // the name of the function library of this version

    // The server's side.
    std::vector<microseconds> round_trips = {};  // in ascending order
    answer<clock_reading> clock = {};
    answer<field_map> info = {};
    answer<field_map> config = {};
    answer<user_facts> user = {};
    answer<user_facts> default_user = {};  // of clients that give no name
    answer<rights_facts> rights = {};
    std::vector<std::string> other_users = {};  // without `default`; also empty if this user may not read them
    answer<bool> has_library = {};              // the function library of this version
    answer<bool> may_load = {};                 // whether this user may load the function library
    answer<slow_facts> slow = {};
    answer<std::vector<std::string>> libraries = {};  // names of Baton's libraries of all versions
    answer<space_facts> space = {};
};

}  // namespace baton::redis
