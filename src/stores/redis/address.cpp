#include "stores/redis/address.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/ascii_case.hpp"
#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "baton/protocol.hpp"
#include "program/space_name.hpp"
#include "stores/redis/credentials.hpp"
#include "stores/redis/url_text.hpp"
#include "stores/resp/socket_path.hpp"
#include "stores/resp/wire.hpp"
#include "stores/tls/tls_client.hpp"

namespace baton::detail {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest_max_ttl{100};
constexpr milliseconds longest_max_ttl{std::chrono::hours{24}};
constexpr milliseconds shortest_connect_timeout{100};
constexpr milliseconds longest_connect_timeout{std::chrono::minutes{5}};
constexpr std::uint16_t sentinel_port = 26'379;
constexpr std::size_t most_hosts = 32;
constexpr std::string_view sentinel_suffix = "+sentinel";
constexpr std::string_view cluster_suffix = "+cluster";

void read_user(std::string_view text, redis_address& address) {
    const std::size_t colon = text.find(':');
    address.user = decoded(text.substr(0, colon), "user");
    if (colon != std::string_view::npos) address.password = decoded(text.substr(colon + 1), "password");
    if (address.password.empty() && !address.user.empty())
        refuse("a user without a password; the form is redis://user:password@host");
}

host_and_port read_host(std::string_view text, std::uint16_t usual_port) {
    host_and_port place{.port = usual_port};
    std::string_view host = text;
    std::string_view port;
    bool has_port = false;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos) refuse("an IPv6 address begins with [ and ends with ]");
        host = text.substr(1, end - 1);
        std::string_view rest = text.substr(end + 1);
        if (!rest.empty() && rest.front() != ':') refuse("after the ] of an IPv6 address comes :port, or nothing");
        has_port = !rest.empty();
        if (has_port) port = rest.substr(1);
    } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        host = text.substr(0, colon);
        port = text.substr(colon + 1);
        has_port = true;
        if (port.find(':') != std::string_view::npos)
            refuse("more than one : in host and port; an IPv6 address stands between [ and ]");
    }
    if (!host.empty()) place.host = lower(decoded(host, "host"));  // host names are case-insensitive
    if (place.host.size() > longest_host) refuse("the host is longer than 255 bytes");
    if (!has_port) return place;
    const auto number = number_in<unsigned>(port, 1, 65'535);
    if (!number) refuse("the port is a number from 1 to 65535, and not " + quoted(port));
    place.port = static_cast<std::uint16_t>(*number);
    return place;
}

/// HOST[:PORT],HOST[:PORT],… of the Sentinels or of nodes of the cluster.
std::vector<host_and_port> read_hosts(std::string_view text, std::uint16_t usual_port, const char* what) {
    std::vector<host_and_port> hosts;
    for (bool more = true; more;) {
        const std::size_t comma = std::min(text.find(','), text.size());
        hosts.push_back(read_host(text.substr(0, comma), usual_port));
        more = comma < text.size();
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    // The order says nothing, and addresses with the same hosts are to look alike.
    std::ranges::sort(hosts);
    const auto same = std::ranges::unique(hosts);
    hosts.erase(same.begin(), same.end());
    if (hosts.size() > most_hosts) refuse("more than 32 " + std::string{what});
    return hosts;
}

unsigned read_db(std::string_view text) {
    const auto number = number_in<unsigned>(text, 0, 1'000'000);
    if (!number) refuse("the database is a number, as in /0, and not " + quoted(text));
    return *number;
}

bool read_switch(std::string_view name, std::string_view text) {
    if (text == "on") return true;
    if (text == "off") return false;
    refuse(std::string{name} + " is on or off, and not " + quoted(text));
}

/// A file or folder that this process can read, as an absolute path: other processes may run in another folder.
std::string readable(std::string_view name, const std::string& path) {
    if (access(path.c_str(), R_OK) != 0)
        refuse(std::string{name} + ": cannot read " + detail::quoted(path) + ": " +
               std::generic_category().message(errno));
    return std::filesystem::absolute(path);
}

/// The settings of TLS by their names in an address. In BATON_TLS_* the names are the same, in capital letters.
struct tls_text {
    std::string_view name;
    std::string tls_settings::*value;
    bool is_path;
};
constexpr std::array<tls_text, 5> tls_texts{{{"tls_ca", &tls_settings::ca, true},
                                             {"tls_ca_dir", &tls_settings::ca_dir, true},
                                             {"tls_cert", &tls_settings::cert, true},
                                             {"tls_key", &tls_settings::key, true},
                                             {"tls_server_name", &tls_settings::server_name, false}}};
constexpr std::string_view tls_insecure = "tls_insecure";

/// False: the option is not about TLS.
bool read_tls_option(std::string_view name, const std::string& value, tls_settings& tls) {
    const auto found = std::ranges::find(tls_texts, name, &tls_text::name);
    if (found == tls_texts.end() && name != tls_insecure) return false;
    if (!tls.enabled)
        refuse(quoted(name) + " is for connections with TLS; write rediss:// in place of redis:// to use it");
    if (name == tls_insecure)
        tls.insecure = read_switch(name, value);
    else if (value.empty())
        refuse(std::string{name} + " is empty");
    else
        tls.*found->value = found->is_path ? readable(name, value) : value;
    return true;
}

void read_option(std::string_view name, const std::string& value, redis_address& address) {
    if (name == "db" && !address.path.empty()) {
        address.db = read_db(value);
    } else if (name == "dialect") {
        if (value.empty()) refuse("dialect is followed by its name, as in dialect=redturn");
        address.dialect = value;
    } else if (name == "connect_timeout") {
        address.connect_timeout = read_duration(name, value, shortest_connect_timeout, longest_connect_timeout);
    } else if (name == "if_unavailable") {
        if (value != "wait" && value != "fail")
            refuse("if_unavailable is wait or fail, and not " + detail::quoted(value));
        address.if_unavailable = value == "fail" ? if_unavailable::fail : if_unavailable::wait;
    } else if (!address.sentinel.hosts.empty() && name == "sentinel_user") {
        address.sentinel.user = value;
    } else if (!address.sentinel.hosts.empty() && name == "sentinel_password") {
        address.sentinel.password = value;
    } else if (!read_tls_option(name, value, address.tls)) {
        address.options.emplace_back(name, value);
    }
}

/// An option of Baton's own protocol.
void read_term(std::string_view name, const std::string& value, redis_address& address) {
    if (name == "space") {
        if (!detail::valid_space(value)) refuse(detail::space_rule);
        address.space = value;
    } else if (name == "max_ttl") {
        address.max_ttl = read_duration(name, value, shortest_max_ttl, longest_max_ttl);
    } else if (name == "lag") {
        address.lag = read_duration(name, value, milliseconds{0}, longest_max_ttl);
    } else if (name == "pause") {
        address.pause = read_switch(name, value);
    } else {
        refuse("no option is called " + quoted(name) +
               "; there are space, max_ttl, lag, pause, dialect, connect_timeout, if_unavailable" +
               (address.path.empty() ? "" : ", db") +
               (address.tls.enabled ? ", tls_ca, tls_ca_dir, tls_cert, tls_key, tls_server_name, tls_insecure" : ""));
    }
}

void read_options(std::string_view text, redis_address& address) {
    std::set<std::string_view> seen;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view option = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t equals = option.find('=');
        if (equals == std::string_view::npos) refuse("an option is NAME=VALUE, and not " + quoted(option));
        const std::string_view name = option.substr(0, equals);
        if (!seen.insert(name).second) refuse("the option " + quoted(name) + " is given twice");
        read_option(name, decoded(option.substr(equals + 1), "options"), address);
    }
    if (!address.dialect.empty()) return;  // the dialect parses them
    for (const auto& [name, value] : address.options) read_term(name, value, address);
}

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

void complete_tls(tls_settings& tls) {
    if (!tls.enabled) return;
    // The trusted certificates are taken from the address or from the environment, never from both. So are the client's
    // certificate and its key.
    const bool has_trust = !tls.ca.empty() || !tls.ca_dir.empty();
    const bool has_own = !tls.cert.empty();
    for (const tls_text& each : tls_texts) {
        const std::string name = "BATON_" + upper(std::string{each.name});
        const std::string value = from_environment(name.c_str());
        const bool is_trust = each.value == &tls_settings::ca || each.value == &tls_settings::ca_dir;
        const bool is_own = each.value == &tls_settings::cert || each.value == &tls_settings::key;
        if (value.empty() || !(tls.*each.value).empty() || (is_trust && has_trust) || (is_own && has_own)) continue;
        tls.*each.value = each.is_path ? readable(name, value) : value;
    }
    if (const std::string value = from_environment("BATON_TLS_INSECURE"); !value.empty() && !tls.insecure)
        tls.insecure = read_switch("BATON_TLS_INSECURE", value);
    if (!tls.key.empty() && tls.cert.empty()) refuse("tls_key without tls_cert: a key needs its certificate");
}

/// Reads PREFIX_USER, PREFIX_PASSWORD and PREFIX_PASSWORD_FILE.
void read_credentials(const std::string& prefix, std::string& user, std::string& password, std::string& password_file) {
    user = from_environment((prefix + "_USER").c_str());
    password = from_environment((prefix + "_PASSWORD").c_str());
    const std::string variable = prefix + "_PASSWORD_FILE";
    const std::string file = from_environment(variable.c_str());
    if (!password.empty() || file.empty()) return;
    std::string why;
    password = read_password_file(file, variable, why);
    if (!why.empty()) refuse(why);
    password_file = std::filesystem::absolute(file);  // the working directory may change before the next read
}

void complete(redis_address& address) {
    complete_tls(address.tls);
    sentinel_settings& sentinel = address.sentinel;
    if (address.password.empty())
        read_credentials("BATON_REDIS", address.user, address.password, address.password_file);
    if (!sentinel.hosts.empty() && sentinel.password.empty())
        read_credentials("BATON_SENTINEL", sentinel.user, sentinel.password, sentinel.password_file);
}

redis_address parse_unix(std::string_view text) {
    redis_address address;
    const std::size_t query = text.find('?');
    address.path = decoded(text.substr(0, query), "path");
    if (address.path.empty()) refuse("unix: is followed by the path of a socket");
    address.path = resp::socket_path(address.path);
    if (!resp::fits_socket(address.path)) refuse("the path of unix: is too long for a socket: at most 107 bytes");
    if (query != std::string_view::npos) read_options(text.substr(query + 1), address);
    return address;
}

/// The part behind host and port: /db, or with Sentinels /PRIMARY and /db.
void read_path(std::string_view path, redis_address& address) {
    if (!address.sentinel.hosts.empty()) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        address.sentinel.primary = decoded(path.substr(0, slash), "name of the primary");
        path.remove_prefix(std::min(slash + 1, path.size()));
        const std::string& name = address.sentinel.primary;
        if (name.empty() || name.size() > longest_host || name.find_first_of(" \r\n") != std::string::npos)
            refuse("after the Sentinels comes the name of the primary, as in redis+sentinel://host:26379/mymaster/0");
    }
    if (!path.empty()) address.db = read_db(path);
    if (!address.cluster.empty() && address.db != 0) refuse("a cluster has database 0 only");
}

/// What comes behind a scheme, as an example.
std::string_view usual_place(bool by_sentinels, bool is_cluster) {
    if (by_sentinels) return "://localhost:26379/mymaster/0";
    return is_cluster ? "://localhost:6379,localhost:6380" : "://localhost:6379/0";
}

redis_address parse_network(std::string_view scheme, std::string_view text) {
    redis_address address;
    const bool by_sentinels = scheme.ends_with(sentinel_suffix);
    const bool is_cluster = scheme.ends_with(cluster_suffix);
    const std::string_view protocol = scheme.substr(0, scheme.find('+'));
    address.tls.enabled = protocol == "rediss" || protocol == "valkeys";
    if (address.tls.enabled && !has_tls()) refuse("this build of Baton has no TLS; build it with -D BATON_TLS=ON");
    if (!text.starts_with("//"))
        refuse("after " + std::string{scheme} + ": comes //host, as in " + std::string{scheme} +
               std::string{usual_place(by_sentinels, is_cluster)});
    text.remove_prefix(2);
    const std::size_t query = text.find('?');
    const std::string_view place = text.substr(0, query);
    const std::size_t slash = std::min(place.find('/'), place.size());
    std::string_view hosts = place.substr(0, slash);
    // Without this check, a part of the password would be parsed as the host, and shown in errors.
    if (text.find('@', hosts.size()) != std::string_view::npos)
        refuse("in the user and the password, write / as %2F, ? as %3F and @ as %40");
    if (const std::size_t at = hosts.rfind('@'); at != std::string_view::npos) {
        read_user(hosts.substr(0, at), address);
        hosts.remove_prefix(at + 1);
    }
    if (by_sentinels) {
        address.sentinel.hosts = read_hosts(hosts, sentinel_port, "Sentinels");
        address.host.clear();
    } else if (is_cluster) {
        address.cluster =
            read_hosts(hosts, address.port, "nodes of the cluster: give a few, the client finds the others");
    } else {
        host_and_port server = read_host(hosts, address.port);
        address.host = std::move(server.host);
        address.port = server.port;
    }
    read_path(place.substr(std::min(slash + 1, place.size())), address);
    if (query != std::string_view::npos) read_options(text.substr(query + 1), address);
    if (by_sentinels && !address.dialect.empty())
        refuse("a dialect needs the address of its server, redis://host; Sentinels are for Baton's own locks");
    if (is_cluster && !address.dialect.empty())
        refuse("a dialect needs the address of its server, redis://host; a cluster is for Baton's own locks");
    return address;
}

redis_address read(std::string_view url) {
    const std::size_t colon = url.find(':');
    const std::string_view scheme = url.substr(0, colon);
    const std::string_view rest = url.substr(colon + 1);
    return scheme == "unix" ? parse_unix(rest) : parse_network(scheme, rest);
}

using options = std::vector<std::pair<std::string, std::string>>;

std::string joined(const options& list) {
    std::string text;
    for (const auto& [name, value] : list) text += (text.empty() ? "?" : "&") + name + "=" + encoded(value);
    return text;
}

/// The address without options.
std::string server_of(const redis_address& address, const std::string& credentials) {
    if (!address.path.empty()) return "unix:" + encoded(address.path, "/");
    const std::string protocol = address.tls.enabled ? "rediss" : "redis";
    const std::string db = "/" + std::to_string(address.db);
    if (!address.cluster.empty())
        return protocol + std::string{cluster_suffix} + "://" + credentials + joined(address.cluster, ",") + db;
    if (address.sentinel.hosts.empty())
        return protocol + "://" + credentials + host_and_port{address.host, address.port}.text() + db;
    const std::string hosts = joined(address.sentinel.hosts, ",");
    return protocol + std::string{sentinel_suffix} + "://" + credentials + hosts + "/" +
           encoded(address.sentinel.primary) + db;
}

options sorted(options list) {
    std::ranges::sort(list);
    return list;
}

options tls_options_of(const tls_settings& tls) {
    options list;
    for (const tls_text& each : tls_texts)
        if (!(tls.*each.value).empty()) list.emplace_back(each.name, tls.*each.value);
    if (tls.insecure) list.emplace_back(tls_insecure, "on");
    return list;
}

/// The options of the connection that differ from their defaults.
options connection_options_of(const redis_address& address) {
    const redis_address usual;
    options list = tls_options_of(address.tls);
    if (address.connect_timeout != usual.connect_timeout)
        list.emplace_back("connect_timeout", std::to_string(address.connect_timeout.count()) + "ms");
    if (address.if_unavailable != usual.if_unavailable) list.emplace_back("if_unavailable", "fail");
    return list;
}

/// The options that differ from their defaults. All options of a dialect are kept: only the dialect knows its defaults.
options terms_of(const redis_address& address) {
    if (!address.dialect.empty()) {
        options all = sorted(address.options);
        const options others = connection_options_of(address);
        all.insert(all.end(), others.begin(), others.end());
        return all;
    }
    const redis_address usual;
    options terms = connection_options_of(address);
    if (address.lag != usual.lag) terms.emplace_back("lag", std::to_string(address.lag.count()) + "ms");
    if (address.max_ttl != usual.max_ttl) terms.emplace_back("max_ttl", std::to_string(address.max_ttl.count()) + "ms");
    if (address.pause != usual.pause) terms.emplace_back("pause", "off");
    if (!address.sentinel.password.empty()) terms.emplace_back("sentinel_password", address.sentinel.password);
    if (!address.sentinel.user.empty()) terms.emplace_back("sentinel_user", address.sentinel.user);
    if (address.space != usual.space) terms.emplace_back("space", address.space);
    return terms;
}

/// Whether the option decides which keys a name uses.
bool names_keys(const std::pair<std::string, std::string>& term) {
    constexpr std::array<std::string_view, 3> naming{"key_prefix", "namespace", "space"};
    return std::ranges::find(naming, term.first) != naming.end();
}

std::string text_of(const redis_address& address, const std::string& credentials, const options& terms) {
    options all;
    if (!address.path.empty() && address.db != 0) all.emplace_back("db", std::to_string(address.db));
    if (!address.dialect.empty()) all.emplace_back("dialect", address.dialect);
    all.insert(all.end(), terms.begin(), terms.end());
    return server_of(address, credentials) + joined(all);
}

}  // namespace

bool is_redis_scheme(std::string_view scheme) {
    constexpr std::array<std::string_view, 4> protocols{"redis", "rediss", "valkey", "valkeys"};
    if (scheme == "unix") return true;
    for (const std::string_view suffix : {sentinel_suffix, cluster_suffix})
        if (scheme.ends_with(suffix)) {
            scheme.remove_suffix(suffix.size());
            break;
        }
    return std::ranges::find(protocols, scheme) != protocols.end();
}

redis_address address_of_sentinel(const redis_address& address, const host_and_port& sentinel) {
    redis_address found;
    found.host = sentinel.host;
    found.port = sentinel.port;
    found.is_sentinel = true;
    found.tls = address.tls;
    found.connect_timeout = address.connect_timeout;
    found.user = address.sentinel.user;
    found.password = address.sentinel.password;
    found.password_file = address.sentinel.password_file;
    return found;
}

std::string host_and_port::text() const {
    const bool six = host.find(':') != std::string::npos;
    return (six ? "[" + encoded(host, ":") + "]" : encoded(host)) + ":" + std::to_string(port);
}

std::string joined(const std::vector<host_and_port>& list, std::string_view separator) {
    std::string text;
    for (const host_and_port& each : list) {
        if (!text.empty()) text += separator;
        text += each.text();
    }
    return text;
}

redis_address parse_redis_address(std::string_view url) {
    redis_address address = read(url);
    complete(address);
    return address;
}

std::string canonical_redis_url(std::string_view url) {
    const redis_address address = read(url);
    const std::string credentials =
        address.password.empty() ? "" : encoded(address.user) + ":" + encoded(address.password) + "@";
    return text_of(address, credentials, terms_of(address));
}

std::string redis_address::shown() const {
    auto terms = terms_of(*this);
    std::erase_if(terms, [](const auto& term) { return !names_keys(term); });
    return printable(text_of(*this, "", terms));
}

}  // namespace baton::detail
