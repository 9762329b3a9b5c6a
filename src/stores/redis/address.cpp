#include "stores/redis/address.hpp"

#include <sys/un.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "baton/error.hpp"
#include "baton/protocol.hpp"
#include "client/printable.hpp"
#include "stores/redis/url_text.hpp"
#include "stores/resp/wire.hpp"

namespace baton::detail {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t longest_secret = 4'096;
constexpr milliseconds shortest_max_ttl{100};
constexpr milliseconds longest_max_ttl{std::chrono::hours{24}};

void read_user(std::string_view text, redis_address& address) {
    const std::size_t colon = text.find(':');
    address.user = decoded(text.substr(0, colon), "user");
    if (colon != std::string_view::npos) address.password = decoded(text.substr(colon + 1), "password");
    if (address.password.empty() && !address.user.empty())
        refuse("a user without a password; the form is redis://user:password@host");
}

void read_host(std::string_view text, redis_address& address) {
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
    if (!host.empty()) address.host = decoded(host, "host");
    if (address.host.size() > 255) refuse("the host is longer than 255 bytes");
    if (!has_port) return;
    const auto number = number_in<unsigned>(port, 1, 65'535);
    if (!number) refuse("the port is a number from 1 to 65535, and not " + quoted(port));
    address.port = static_cast<std::uint16_t>(*number);
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

void read_option(std::string_view name, const std::string& value, redis_address& address) {
    if (name == "db" && !address.path.empty()) {
        address.db = read_db(value);
    } else if (name == "dialect") {
        if (value.empty()) refuse("dialect is followed by its name, as in dialect=redturn");
        address.dialect = value;
    } else {
        address.options.emplace_back(name, value);
    }
}

/// Of the native protocol.
void read_term(std::string_view name, const std::string& value, redis_address& address) {
    if (name == "space") {
        if (!resp::valid_space(value)) refuse(resp::space_rule);
        address.space = value;
    } else if (name == "max_ttl") {
        address.max_ttl = read_duration(name, value, shortest_max_ttl, longest_max_ttl);
    } else if (name == "lag") {
        address.lag = read_duration(name, value, milliseconds{0}, longest_max_ttl);
    } else if (name == "pause") {
        address.pause = read_switch(name, value);
    } else {
        refuse("no option is called " + quoted(name) + "; there are space, max_ttl, lag, pause, dialect" +
               (address.path.empty() ? "" : ", db"));
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
    if (!address.dialect.empty()) return;  // which has its own
    for (const auto& [name, value] : address.options) read_term(name, value, address);
}

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string read_secret(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    if (!file) refuse("the file that BATON_REDIS_PASSWORD_FILE names cannot be read");
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    if (text.empty() || text.size() > longest_secret)
        refuse("the file that BATON_REDIS_PASSWORD_FILE names holds no password, or far too much");
    return text;
}

void complete(redis_address& address) {
    if (!address.password.empty()) return;
    address.user = from_environment("BATON_REDIS_USER");
    address.password = from_environment("BATON_REDIS_PASSWORD");
    if (const std::string file = from_environment("BATON_REDIS_PASSWORD_FILE");
        address.password.empty() && !file.empty())
        address.password = read_secret(file);
}

redis_address parse_unix(std::string_view text) {
    redis_address address;
    const std::size_t question = text.find('?');
    address.path = decoded(text.substr(0, question), "path");
    if (address.path.empty()) refuse("unix: is followed by the path of a socket");
    if (address.path.size() >= sizeof(sockaddr_un{}.sun_path))
        refuse("the path of unix: is too long for a socket: at most 107 bytes");
    if (question != std::string_view::npos) read_options(text.substr(question + 1), address);
    return address;
}

redis_address parse_network(std::string_view scheme, std::string_view text) {
    redis_address address;
    if (!text.starts_with("//"))
        refuse("after " + std::string{scheme} + ": comes //host, as in " + std::string{scheme} + "://localhost:6379/0");
    text.remove_prefix(2);
    const std::size_t question = text.find('?');
    const std::string_view place = text.substr(0, question);
    const std::size_t slash = std::min(place.find('/'), place.size());
    const std::string_view authority = place.substr(0, slash);
    // Else the rest of a password would be taken for a host, and shown.
    if (text.find('@', authority.size()) != std::string_view::npos)
        refuse("in user and password / is written %2F, ? is written %3F and @ is written %40");
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
        read_user(authority.substr(0, at), address);
        read_host(authority.substr(at + 1), address);
    } else {
        read_host(authority, address);
    }
    if (slash + 1 < place.size()) address.db = read_db(place.substr(slash + 1));
    if (question != std::string_view::npos) read_options(text.substr(question + 1), address);
    return address;
}

}  // namespace

bool is_redis_scheme(std::string_view scheme) { return scheme == "redis" || scheme == "valkey" || scheme == "unix"; }

redis_address parse_redis_address(std::string_view url) {
    const std::size_t colon = url.find(':');
    const std::string_view scheme = url.substr(0, colon);
    const std::string_view rest = url.substr(colon + 1);
    redis_address address = scheme == "unix" ? parse_unix(rest) : parse_network(scheme, rest);
    complete(address);
    return address;
}

std::string redis_address::shown() const {
    if (!path.empty()) return "unix:" + printable(path);
    const bool six = host.find(':') != std::string::npos;
    return "redis://" + (user.empty() ? "" : printable(user) + "@") + (six ? "[" : "") + printable(host) +
           (six ? "]" : "") + ":" + std::to_string(port) + "/" + std::to_string(db);
}

}  // namespace baton::detail
