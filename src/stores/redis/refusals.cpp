#include "stores/redis/refusals.hpp"

#include <netdb.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/ascii_case.hpp"
#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "stores/redis/missing_rights.hpp"
#include "stores/redis/url_text.hpp"

namespace baton::redis {
namespace {

using enum origin;
using enum persistence;

struct row {
    origin from;
    std::string_view words;  // the words begin with it; with a leading * they contain the rest
    int number;
    errc code;
    redis::persistence persistence;
    // {space} stands for the space, {missing} for the rights that the user lacks, {word} for the second word.
    std::string_view advice;
};

/// Errors of Baton's own functions whose words are for the client. The user sees the advice alone.
constexpr std::array<std::string_view, 5> explained{"BATONVERSION ", "BATONSPACE ", "BATONEVICTION ", "BATONACL ",
                                                    "BATONROLE "};

constexpr std::string_view client_acl = "client.acl has the rights of a user of Baton (docs/redis.md, Rights)";
constexpr std::string_view missing_right = "{missing}";
constexpr std::string_view needs_seven = "Baton needs Redis 7.0 or newer, or Valkey, and no proxy that lacks functions";
constexpr std::string_view renamed_command =
    "the server does not have a command that Baton needs: see rename-command in its configuration";
constexpr std::string_view is_replica = "the server is a replica: connect to its primary";
constexpr std::string_view wrong_server = "another program listens on this port: check host and port";
constexpr std::string_view is_cluster =
    "this is a node of a cluster, and another node has the keys of this space: name that node; Baton does not follow a "
    "cluster to other nodes yet";

/// The first row that fits counts.
constexpr std::array table{
    // Baton's own functions.
    row{reply, "BATONVERSION ", 0, errc::version_mismatch, permanent,
        "the keys of the space have the version {word}, which another version of Baton uses: use that Baton, or "
        "another "
        "space"},
    row{reply, "BATONSPACE ", 0, errc::space_refused, permanent, "all clients of a space give the same"},
    row{reply, "BATONEVICTION ", 0, errc::space_refused, permanent,
        "the server may evict keys, and an evicted key is a lost lock: set maxmemory-policy to noeviction on the "
        "server, "
        "or no maxmemory"},
    row{reply, "BATONHEAD ", 0, errc::space_refused, permanent,
        "delete the keys baton:{{space}}:* while no client uses the space, or use another space"},
    row{reply, "BATONACL ", 0, errc::not_permitted, permanent, missing_right},
    row{reply, "BATONROLE ", 0, errc::store_unavailable, lasting, is_replica},
    row{reply, "BATONEPOCH ", 0, errc::store_unavailable, passing, ""},
    row{reply, "BATONUNSURE ", 0, errc::store_unavailable, passing, ""},
    // The state of the server.
    row{reply, "READONLY ", 0, errc::store_unavailable, lasting, is_replica},
    row{reply, "MASTERDOWN ", 0, errc::store_unavailable, lasting, is_replica},
    row{reply, "LOADING ", 0, errc::store_unavailable, passing,
        "the server has started and loads its data: wait for it"},
    row{reply, "BUSY ", 0, errc::store_unavailable, passing,
        "a script of another client runs for too long: SCRIPT KILL or FUNCTION KILL ends it"},
    row{reply, "MISCONF ", 0, errc::store_unavailable, lasting,
        "the server cannot save its data and takes no writes: its log says why"},
    row{reply, "NOREPLICAS ", 0, errc::store_unavailable, lasting,
        "the server takes no writes without its replicas: see min-replicas-to-write"},
    row{reply, "NOGOODSLAVE ", 0, errc::store_unavailable, lasting, "the server takes no writes without its replicas"},
    row{reply, "OOM ", 0, errc::store_unavailable, lasting, "the server is out of memory: raise maxmemory"},
    row{reply, "UNBLOCKED ", 0, errc::store_unavailable, passing, ""},
    row{reply, "EXECABORT ", 0, errc::store_unavailable, passing, ""},
    // Deleted again since this attempt has loaded it.
    row{reply, "ERR Function not found", 0, errc::store_unavailable, passing, ""},
    row{reply, "NOSCRIPT ", 0, errc::store_unavailable, passing, ""},
    row{reply, "ERR max number of clients", 0, errc::store_unavailable, lasting,
        "the server has its maximum of connections: raise maxclients, or close some"},
    // Clusters and Sentinel.
    row{reply, "CLUSTERDOWN ", 0, errc::store_unavailable, lasting,
        "the cluster does not serve all slots: redis-cli CLUSTER INFO shows its state"},
    row{reply, "TRYAGAIN ", 0, errc::store_unavailable, passing, "the cluster moves the keys to another node"},
    row{reply, "ASK ", 0, errc::store_unavailable, passing, "the cluster moves the keys to another node"},
    row{reply, "MOVED ", 0, errc::unsupported, permanent, is_cluster},
    row{reply, "CROSSSLOT ", 0, errc::unsupported, permanent, is_cluster},
    row{reply, "ERR SELECT is not allowed in cluster mode", 0, errc::unsupported, permanent,
        "a cluster has database 0 only"},
    row{mode, "sentinel", 0, errc::unsupported, permanent,
        "this is the port of a Sentinel: use an address with redis+sentinel: and the name of the primary"},
    // The user and its rights.
    row{reply, "NOAUTH ", 0, errc::not_permitted, permanent,
        "give a password with BATON_REDIS_PASSWORD, or in a file that BATON_REDIS_PASSWORD_FILE names"},
    row{reply, "WRONGPASS ", 0, errc::not_permitted, permanent,
        "check BATON_REDIS_USER, and BATON_REDIS_PASSWORD or the file that BATON_REDIS_PASSWORD_FILE names, or user "
        "and "
        "password in the address"},
    row{reply, "DENIED Redis is running in protected mode", 0, errc::not_permitted, permanent,
        "the server takes no connections from other machines: set a password on the server, or connect on its machine"},
    row{reply, "DENIED ", 0, errc::not_permitted, permanent, ""},
    row{reply, "*'select' command", 0, errc::not_permitted, permanent,
        "{missing}; or use database 0, which needs no SELECT"},
    row{viewers_library, "NOPERM ", 0, errc::not_permitted, permanent,
        "the server does not have Baton's functions: the first client that acquires loads them, or an administrator "
        "with: baton functions print | redis-cli -x FUNCTION LOAD"},
    row{library, "NOPERM ", 0, errc::not_permitted, permanent,
        "the server does not have Baton's functions, and this user may not load them: allow +function|load, or let an "
        "administrator run: baton functions print | redis-cli -x FUNCTION LOAD"},
    row{reply, "NOPERM ", 0, errc::not_permitted, permanent, missing_right},
    // A function that runs a command which its user may not run.
    row{reply, "*can't run this command", 0, errc::not_permitted, permanent, client_acl},
    row{reply, "*No permissions", 0, errc::not_permitted, permanent, client_acl},
    row{reply, "*ACL failure", 0, errc::not_permitted, permanent, client_acl},
    // Features that the server does not have.
    row{reply, "ERR DB index is out of range", 0, errc::unsupported, permanent,
        "the server has fewer databases: take a smaller number, or raise `databases` in its configuration"},
    row{reply, "NOPROTO ", 0, errc::unsupported, permanent, needs_seven},
    row{reply, "ERR unknown ", 0, errc::unsupported, permanent, needs_seven},
    // A function that ran, and failed on data that are not Baton's.
    row{reply, "WRONGTYPE ", 0, errc::space_refused, permanent,
        "another program's data stand under the keys baton:{{space}}:*: use another space"},
    row{reply, "*Invalid command passed to", 0, errc::unsupported, permanent, renamed_command},
    row{reply, "*Unknown Redis command called", 0, errc::unsupported, permanent, renamed_command},
    row{reply, "*script: ", 0, errc::space_refused, permanent,
        "a function of Baton failed: if other programs use the keys baton:{{space}}:*, use another space"},
    // The way to the server.
    row{lookup, "", EAI_NONAME, errc::store_unavailable, lasting, "check the host name"},
    row{lookup, "", EAI_AGAIN, errc::store_unavailable, lasting, "check the host name, and whether DNS works here"},
    row{lookup, "", 0, errc::store_unavailable, lasting, "check the host name"},
    row{origin::system, "", ECONNREFUSED, errc::store_unavailable, lasting,
        "is the server running, and does it listen on this address?"},
    row{origin::system, "", ENOENT, errc::store_unavailable, lasting,
        "is the server running, with this path as its unixsocket?"},
    row{origin::system, "", EACCES, errc::not_permitted, lasting,
        "may this user write to the socket file? see unixsocketperm in the server's configuration"},
    row{origin::system, "", ETIMEDOUT, errc::store_unavailable, lasting,
        "is the host up, and does no firewall drop the packets?"},
    row{origin::system, "", EHOSTUNREACH, errc::store_unavailable, lasting, "check the address and the network"},
    row{origin::system, "", ENETUNREACH, errc::store_unavailable, lasting, "check the address and the network"},
    row{origin::system, "", 0, errc::store_unavailable, lasting, ""},
    row{bytes, "HTTP/", 0, errc::unsupported, lasting, "an HTTP server listens on this port: check host and port"},
    row{bytes, "\x15\x03", 0, errc::unsupported, lasting, "this is a TLS port: use rediss:// in place of redis://"},
    row{bytes, "", 0, errc::unsupported, lasting, wrong_server},
    row{closed, "", 0, errc::store_unavailable, lasting,
        "if this is its TLS port, use rediss://; if it is a proxy, is the server behind it running?"},
    row{silent, "", 0, errc::store_unavailable, lasting,
        "is this the port of a Redis server that runs, and not a TLS port (rediss://)?"},
    row{tls_silent, "", 0, errc::store_unavailable, lasting, "if this is not its TLS port, use redis://"},
};

[[nodiscard]] bool fits(const row& row, const symptom& symptom) {
    if (row.from != symptom.from || (row.number != 0 && row.number != symptom.number)) return false;
    if (row.words.starts_with('*')) return symptom.words.find(row.words.substr(1)) != std::string_view::npos;
    return symptom.words.starts_with(row.words);
}

void replace(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

/// The first sentence of long words, or the part before a comma; without the arguments of a command that the server
/// does not know, and without the period.
[[nodiscard]] std::string shortened(std::string_view words) {
    constexpr std::size_t longest = 130;
    words = words.substr(0, words.find(", with args beginning"));
    if (words.size() > longest) words = words.substr(0, words.find(". "));
    if (words.size() > longest) words = words.substr(0, words.rfind(", ", longest));
    while (words.ends_with('.')) words.remove_suffix(1);
    std::string text{words.substr(0, longest)};
    if (words.size() > longest) text += "…";
    return text;
}

/// The words in the middle of a sentence.
[[nodiscard]] std::string lowered(std::string words) {
    const bool is_word = words.size() > 1 && words[1] >= 'a' && words[1] <= 'z';
    if (is_word) words[0] = detail::lower(words[0]);
    return words;
}

/// The word of that number, counted from 0; empty if there is none.
[[nodiscard]] std::string_view word(std::string_view words, int number) {
    for (; number > 0; --number) words.remove_prefix(std::min(words.find(' '), words.size() - 1) + 1);
    return words.substr(0, words.find(' '));
}

[[nodiscard]] std::string terms(const std::string& max_ttl, const std::string& lag, bool pause) {
    return "max_ttl=" + max_ttl + ", lag=" + lag + ", pause=" + (pause ? "on" : "off");
}

/// A duration of `BATONSPACE max_ttl lag pause`.
[[nodiscard]] std::string duration_in(std::string_view words, int number) {
    const std::string_view text = word(words, number);
    const auto count = detail::number_in<std::int64_t>(text, 0, std::numeric_limits<std::int64_t>::max());
    return count ? detail::duration_text(std::chrono::milliseconds{*count}) : std::string{text};
}

/// The settings of the space, and those of this address.
[[nodiscard]] std::string different_terms(const detail::redis_address& address, std::string_view words) {
    return "the space has " + terms(duration_in(words, 1), duration_in(words, 2), word(words, 3) == "1") +
           ", and this address says " +
           terms(detail::duration_text(address.max_ttl), detail::duration_text(address.lag), address.pause);
}

[[nodiscard]] std::string words_of(const symptom& symptom) {
    switch (symptom.from) {
        case mode: return "the server says that its mode is " + std::string{symptom.words};
        case lookup: return symptom.number == 0 ? "the host has no address" : lowered(gai_strerror(symptom.number));
        case origin::system: return lowered(std::generic_category().message(symptom.number));
        case bytes: {
            const std::string_view line = symptom.words.substr(0, symptom.words.find_first_of("\r\n"));
            return "this is not the Redis protocol (the server sends " + detail::quoted(line) + ")";
        }
        case closed: return "the server closed the connection without a reply";
        case silent: return "the server accepts connections and does not reply";
        case tls_silent: return "the server does not reply to the TLS handshake";
        case reply:
        case library:
        case viewers_library: break;
    }
    const auto begins = [&](std::string_view start) { return symptom.words.starts_with(start); };
    if (std::ranges::any_of(explained, begins)) return {};
    // The function of Baton that ran is not at fault.
    if (begins("WRONGTYPE ")) return shortened(symptom.words.substr(0, symptom.words.find(" script: ")));
    return shortened(symptom.words);
}

[[nodiscard]] std::string advice_of(const refusal& refusal, const detail::redis_address& address,
                                    const symptom& symptom) {
    std::string advice{refusal.advice};
    if (symptom.words.starts_with("BATONSPACE ")) advice = different_terms(address, symptom.words) + "; " + advice;
    replace(advice, "{word}", detail::quoted(word(symptom.words, 1)));
    if (advice.find("{missing}") != std::string::npos) {
        const std::string missing = missing_rights_advice(address, symptom.words);
        replace(advice, "{missing}", missing.empty() ? client_acl : missing);
    }
    replace(advice, "{space}", address.space);
    return advice;
}

/// Otherwise the attempt failed on the way to the server.
[[nodiscard]] bool is_answered(origin from) {
    return from == reply || from == library || from == viewers_library || from == mode;
}

}  // namespace

std::optional<refusal> find_refusal(const symptom& symptom) {
    const auto* const found = std::ranges::find_if(table, [&](const row& row) { return fits(row, symptom); });
    // A library is refused for the reasons of any reply, too.
    const bool is_library = symptom.from == library || symptom.from == viewers_library;
    if (found == table.end() && is_library) return find_refusal({reply, symptom.words});
    if (found == table.end()) return {};
    return refusal{found->code, found->persistence, found->advice};
}

resp::handshake_step refused(const detail::redis_address& address, const symptom& symptom) {
    const refusal why = find_refusal(symptom).value_or(refusal{errc::unsupported, permanent, ""});
    std::string text = is_answered(symptom.from) ? "cannot use " : "cannot connect to ";
    text += address.shown();
    text += ": ";
    const std::string words = words_of(symptom);
    const std::string advice = advice_of(why, address, symptom);
    text += words;
    if (!words.empty() && !advice.empty()) text += "; ";
    text += advice;
    return {.error = {why.code, std::move(text), {}, why.persistence != passing},
            .permanent = why.persistence == permanent};
}

resp::handshake_step refused(const detail::redis_address& address, const resp::broken_connection& broken) {
    using resp::breakage;
    if (broken.how == breakage::other_protocol && !broken.was_up)
        return refused(address, symptom{bytes, broken.first_bytes});
    if (broken.how == breakage::not_connected) return refused(address, symptom{origin::system, {}, ETIMEDOUT});
    if (broken.how == breakage::silent) return refused(address, symptom{silent});
    if (broken.how == breakage::tls_silent) return refused(address, symptom{tls_silent});
    // A server without TLS gives no reply to a client that expects it, and the other way round.
    if (!broken.was_up && broken.first_bytes.empty()) return refused(address, symptom{closed});
    std::string how = "the server closed the connection";
    if (broken.how == breakage::failed) how = lowered(broken.system.message());
    if (broken.how == breakage::other_protocol) how = "the server sent a reply that is too long, or not one of Redis";
    return {.error = {errc::store_unavailable, "the connection to " + address.shown() + " is lost: " + how}};
}

}  // namespace baton::redis
