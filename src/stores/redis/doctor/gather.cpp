#include "stores/redis/doctor/gather.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "base/ascii_case.hpp"
#include "baton/printable.hpp"
#include "stores/redis/function_library.hpp"
#include "stores/redis/missing_rights.hpp"
#include "stores/redis/reply_class.hpp"

namespace baton::redis {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t round_trips = 50;
constexpr std::size_t clock_readings = 5;
constexpr milliseconds longest_measurement{1'000};
constexpr std::int64_t slow_entries = 128;

/// Zero for a text that is no number.
std::int64_t number_in(std::string_view text, std::int64_t most = largest_number) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return std::clamp<std::int64_t>(number, 0, most);
}

constexpr std::int64_t largest_serial = (std::int64_t{1} << 53) - 1;

/// Round trips of a command that Baton's user may run. A slow connection gets fewer.
void measure_round_trips(probe& probe, server_facts& facts, probe::clock::time_point deadline) {
    const auto begin = probe::clock::now();
    while (facts.round_trips.size() < round_trips && probe::clock::now() - begin < longest_measurement) {
        const auto sent = probe::clock::now();
        if (probe.ask({{"TIME"}}, deadline).empty()) break;
        facts.round_trips.push_back(duration_cast<microseconds>(probe::clock::now() - sent));
    }
    std::ranges::sort(facts.round_trips);
}

/// The shortest round trip gives the most exact reading.
void read_clock(probe& probe, server_facts& facts, probe::clock::time_point deadline) {
    for (std::size_t i = 0; i < clock_readings; ++i) {
        const auto here = duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch());
        const auto sent = probe::clock::now();
        const auto replies = probe.ask({{"TIME"}}, deadline);
        const auto half = duration_cast<microseconds>(probe::clock::now() - sent) / 2;
        if (replies.empty()) return;
        const resp::value& time = replies.front();
        if (time.items.size() != 2) {
            facts.clock.missing = why_refused("TIME", time.text);
            return;
        }
        const microseconds there = seconds{number_in(time.items[0].text)} + microseconds{number_in(time.items[1].text)};
        if (!facts.clock || half < facts.clock->error) facts.clock.value = {there - (here + half), half, there};
    }
}

/// The commands and, for each, what its reply is for.
class questions {
public:
    using reading = std::function<void(const resp::value&)>;

    /// `refused` gets the reason if the reply is an error.
    void add(probe::command words, const std::string& shown, std::string& missing, reading read) {
        missing = "the server did not reply in time";
        commands_.push_back(std::move(words));
        readings_.push_back([shown, &missing, read = std::move(read)](const resp::value& reply) {
            const bool refused = reply.kind == resp::kind::error;
            missing = refused ? why_refused(shown, reply.text) : "";
            if (!refused) read(reply);
        });
    }

    void ask(probe& probe, probe::clock::time_point deadline) {
        const auto replies = probe.ask(commands_, deadline);
        for (std::size_t i = 0; i < replies.size(); ++i) readings_[i](replies[i]);
    }

private:
    std::vector<probe::command> commands_;
    std::vector<reading> readings_;
};

const std::vector<std::string>& settings() {
    static const std::vector<std::string> names{"appendfsync",
                                                "appendonly",
                                                "bind",
                                                "busy-reply-threshold",
                                                "client-output-buffer-limit",
                                                "cluster-node-timeout",
                                                "maxclients",
                                                "min-replicas-max-lag",
                                                "min-replicas-to-write",
                                                "protected-mode",
                                                "save",
                                                "slowlog-log-slower-than",
                                                "stop-writes-on-bgsave-error",
                                                "tcp-keepalive",
                                                "timeout"};
    return names;
}

bool contains(const std::vector<std::string>& all, const std::string& wanted) {
    return std::ranges::find(all, wanted) != all.end();
}

bool is_error(const resp::value& reply) { return reply.kind == resp::kind::error; }

/// Asks whether this user may run each command. The reply is OK or the reason why not.
void ask_for_rights(probe& probe, server_facts& facts, probe::clock::time_point deadline) {
    if (!facts.user) {
        facts.rights.missing = facts.may_load.missing = facts.user.missing;
        return;
    }
    const std::string key = "baton:{" + facts.address.space + "}:m";
    std::vector<probe::command> tried = needed_commands(facts.address.space, facts.in_cluster);
    tried.push_back({"FCALL", facts.library + "_hello", "1", key});
    tried.push_back({"FCALL_RO", facts.library + "_inspect", "1", key});
    if (facts.address.db != 0) tried.push_back({"SELECT", std::to_string(facts.address.db)});
    tried.push_back({"FUNCTION", "LOAD", "text"});
    std::vector<probe::command> dry_runs;
    for (const probe::command& words : tried) {
        dry_runs.push_back({"ACL", "DRYRUN", facts.user->name});
        dry_runs.back().insert(dry_runs.back().end(), words.begin(), words.end());
    }
    const auto replies = probe.ask(dry_runs, deadline);
    facts.rights.missing = facts.may_load.missing = "the server did not reply in time";
    if (replies.size() < dry_runs.size()) return;
    if (replies.front().kind == resp::kind::error) {
        facts.rights.missing = facts.may_load.missing = why_refused("ACL DRYRUN", replies.front().text);
        return;
    }
    facts.may_load.value = replies.back().text == "OK";
    std::vector<std::string> denied;
    for (std::size_t i = 0; i + 1 < tried.size(); ++i)
        if (replies[i].text != "OK" && !contains(denied, tried[i].front())) denied.push_back(tried[i].front());
    if (contains(denied, "FCALL") && !contains(denied, "FCALL_RO")) {
        facts.rights.missing = "the user may only inspect";  // `look` reports the rights that this needs
        return;
    }
    facts.rights.value = rights_facts{.commands = std::move(denied)};
}

void ask_about_users(probe& probe, server_facts& facts, const std::string& user, probe::clock::time_point deadline) {
    questions all;
    std::string ignored;
    all.add({"ACL", "GETUSER", user}, "ACL GETUSER", facts.user.missing,
            [&](const resp::value& reply) { facts.user.value = read_user(user, reply); });
    all.add({"ACL", "GETUSER", "default"}, "ACL GETUSER", facts.default_user.missing,
            [&](const resp::value& reply) { facts.default_user.value = read_user("default", reply); });
    all.add({"ACL", "USERS"}, "ACL USERS", ignored, [&](const resp::value& reply) {
        for (const resp::value& each : reply.items)
            if (each.text != user && each.text != "default") facts.other_users.push_back(each.text);
    });
    all.ask(probe, deadline);
}

/// Calls functions to learn what this user may not read from the server: whether they are loaded, and which rights the
/// user lacks. `hello` checks the rights before it reads its arguments, and refuses this argument before it writes
/// anything; `look` cannot write. FUNCTION LOAD refuses this text, which is no library.
void ask_functions(probe& probe, server_facts& facts, probe::clock::time_point deadline) {
    const std::string key = "baton:{" + facts.address.space + "}:m";
    const auto called = [&](const char* how, const char* verb, const std::string& argument) {
        probe::command words{how, facts.library + verb, "1", key};
        if (facts.in_cluster) {  // as clients do
            words[2] = "2";
            words.push_back("baton:{" + facts.address.space + "}:absent");
        }
        words.push_back(argument);
        return words;
    };
    const auto told = probe.ask(
        {called("FCALL", "_hello", "rights"), called("FCALL_RO", "_look", std::to_string(layout_version))}, deadline);
    if (told.size() < 2) return;
    if (!facts.has_library) facts.has_library = read_has_library(told[0], told[1]);
    if (!facts.rights) facts.rights = read_rights(told[0], told[1]);
    if (facts.may_load || !facts.has_library || *facts.has_library) return;
    const auto loaded = probe.ask({{"FUNCTION", "LOAD", "text"}}, deadline);
    if (!loaded.empty()) facts.may_load = read_may_load(loaded[0]);
}

}  // namespace

std::optional<std::int64_t> number_of(const answer<field_map>& fields, std::string_view name) {
    const std::string_view text = text_of(fields, name);
    std::int64_t number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) return {};
    return std::clamp(number, -largest_number, largest_number);
}

std::vector<probe::command> needed_commands(const std::string& space, bool in_cluster) {
    const std::string prefix = "baton:{" + space + "}:";
    const std::string m = prefix + "m";
    const std::string d = prefix + "d";
    const std::string q = prefix + "q:";
    const std::string e = prefix + "e";
    const std::string wake = prefix + "wake:";
    const std::string events = prefix + "events";
    std::vector<probe::command> channels{{"PUBSUB", "NUMSUB", events},
                                         {"PUBLISH", wake, ""},
                                         {"PUBLISH", events, ""},
                                         {"SUBSCRIBE", wake},
                                         {"UNSUBSCRIBE", wake}};
    if (in_cluster)
        channels = {{"PUBSUB", "SHARDNUMSUB", events},
                    {"SPUBLISH", wake, ""},
                    {"SPUBLISH", events, ""},
                    {"SSUBSCRIBE", wake},
                    {"SUNSUBSCRIBE", wake}};
    std::vector<probe::command> all{{"TIME"},
                                    {"INFO", "replication"},
                                    {"HGET", m, ""},
                                    {"HMGET", m, ""},
                                    {"HSET", m, "", ""},
                                    {"HDEL", m, ""},
                                    {"HSCAN", m, "0"},
                                    {"HINCRBY", prefix + "i", "pauses", "1"},
                                    {"HLEN", m},
                                    {"UNLINK", prefix + "c"},
                                    {"EXISTS", prefix + "o"},
                                    {"PEXPIRE", m, "1"},
                                    {"PERSIST", m},
                                    {"ZADD", d, "1", ""},
                                    {"ZREM", d, ""},
                                    {"ZRANGE", d, "0", "0"},
                                    {"ZREVRANGE", q, "0", "0"},
                                    {"ZSCORE", d, ""},
                                    {"ZRANK", q, ""},
                                    {"ZCARD", q},
                                    {"ZCOUNT", q, "0", "1"},
                                    {"ZRANGEBYSCORE", q, "0", "1"},
                                    {"ZREVRANGEBYSCORE", d, "1", "0"},
                                    {"ZPOPMIN", q},
                                    {"ZREMRANGEBYRANK", prefix + "c", "0", "0"},
                                    {"RPUSH", e, ""},
                                    {"LINDEX", e, "0"},
                                    {"LPOP", e}};
    all.insert(all.end(), channels.begin(), channels.end());
    return all;
}

const std::vector<std::string>& space_fields() {
    static const std::vector<std::string> names{"version", "max_ttl", "lag", "pause", "pauses", "sessions"};
    return names;
}

void gather(probe& probe, server_facts& facts, probe::clock::time_point deadline) {
    measure_round_trips(probe, facts, deadline);
    facts.clock.missing = "the server did not reply in time";
    read_clock(probe, facts, deadline);

    const std::string prefix = "baton:{" + facts.address.space + "}:";
    resp::value fields;
    resp::value head;
    std::string head_missing;
    std::string user;
    questions all;
    all.add({"INFO"}, "INFO", facts.info.missing,
            [&](const resp::value& reply) { facts.info.value = read_info(reply.text); });
    probe::command config{"CONFIG", "GET"};
    config.insert(config.end(), settings().begin(), settings().end());
    all.add(std::move(config), "CONFIG GET", facts.config.missing,
            [&](const resp::value& reply) { facts.config.value = read_map(reply); });
    all.add({"SLOWLOG", "GET", std::to_string(slow_entries)}, "SLOWLOG GET", facts.slow.missing,
            [&](const resp::value& reply) {
                if (facts.clock)
                    facts.slow.value = read_slow_log(reply, duration_cast<seconds>(facts.clock->server));
                else
                    facts.slow.missing = facts.clock.missing;
            });
    all.add({"ACL", "WHOAMI"}, "ACL WHOAMI", facts.user.missing, [&](const resp::value& reply) { user = reply.text; });
    if (facts.address.dialect.empty()) {
        all.add({"FUNCTION", "LIST", "LIBRARYNAME", std::string{library_prefix} + "*"}, "FUNCTION LIST",
                facts.libraries.missing, [&](const resp::value& reply) {
                    facts.libraries.value = read_libraries(reply);
                    facts.has_library.value = contains(*facts.libraries, facts.library);
                });
        probe::command values{"HMGET", prefix + "i"};
        values.insert(values.end(), space_fields().begin(), space_fields().end());
        all.add(std::move(values), "HMGET", facts.space.missing, [&](const resp::value& reply) { fields = reply; });
        all.add({"HGET", prefix + "m", ""}, "HGET", head_missing, [&](const resp::value& reply) { head = reply; });
    }
    all.ask(probe, deadline);
    if (facts.space.missing.empty()) facts.space.missing = head_missing;
    if (facts.space.missing.find("WRONGTYPE") != std::string::npos)
        facts.space.value = space_facts{.exists = true, .is_foreign = true};
    else if (facts.space.missing.empty() && facts.address.dialect.empty())
        facts.space.value = read_space(fields, head);
    if (!user.empty()) ask_about_users(probe, facts, user, deadline);
    if (!facts.address.dialect.empty()) return;
    ask_for_rights(probe, facts, deadline);
    if (facts.has_library.missing.empty()) facts.has_library.missing = facts.libraries.missing;
    if (!facts.has_library || !facts.rights) ask_functions(probe, facts, deadline);
}

answer<bool> read_has_library(const resp::value& hello, const resp::value& look) {
    std::string why;
    for (const auto& [reply, shown] : {std::pair{&hello, "FCALL"}, std::pair{&look, "FCALL_RO"}}) {
        if (!is_error(*reply) || reply->text.starts_with("BATON")) return {true};
        if (detail::classify(reply->text) == detail::reply_class::no_function) return {false};
        why = why_refused(shown, reply->text);
    }
    return {{}, why};
}

answer<rights_facts> read_rights(const resp::value& hello, const resp::value& look) {
    const bool only_inspects = forbids_command(hello.text, "fcall");
    // If both commands are forbidden, the error of FCALL is reported: most users want to acquire.
    if (only_inspects && forbids_command(look.text, "fcall_ro")) return {rights_facts{.refusal = hello.text}};
    const resp::value& reply = only_inspects ? look : hello;
    if (is_error(reply) && detail::classify(reply.text) == detail::reply_class::denied)
        return {rights_facts{.only_inspects = only_inspects, .refusal = reply.text}};
    if (detail::classify(reply.text) == detail::reply_class::no_function)
        return {{}, "the function library is not loaded"};
    if (!is_error(reply) || reply.text.starts_with("BATON")) return {rights_facts{.only_inspects = only_inspects}};
    return {{}, why_refused(only_inspects ? "FCALL_RO" : "FCALL", reply.text)};
}

answer<bool> read_may_load(const resp::value& reply) {
    if (is_error(reply) && detail::classify(reply.text) == detail::reply_class::denied) return {false};
    if (reply.text.starts_with("ERR ")) return {true};
    return {{}, why_refused("FUNCTION LOAD", reply.text)};
}

field_map read_info(std::string_view text) {
    field_map fields;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || line.starts_with('#')) continue;
        fields.emplace(line.substr(0, colon), line.substr(colon + 1));
    }
    return fields;
}

field_map read_map(const resp::value& map) {
    field_map fields;
    for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) fields.emplace(map.items[i].text, map.items[i + 1].text);
    return fields;
}

user_facts read_user(const std::string& name, const resp::value& reply) {
    user_facts user{.name = name};
    for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2) {
        const std::string& key = reply.items[i].text;
        const resp::value& value = reply.items[i + 1];
        if (key == "flags")
            for (const resp::value& flag : value.items) {
                user.no_password = user.no_password || flag.text == "nopass";
                user.is_on = user.is_on && flag.text != "off";
            }
        if (key == "commands") user.all_commands = value.text.find("+@all") != std::string::npos;
        if (key == "keys") user.all_keys = (" " + value.text + " ").find(" ~* ") != std::string::npos;
    }
    return user;
}

slow_facts read_slow_log(const resp::value& log, seconds now) {
    constexpr seconds day{86'400};
    slow_facts slow;
    for (const resp::value& entry : log.items) {
        if (entry.items.size() < 4 || entry.items[3].items.empty()) continue;
        const seconds at{std::clamp(entry.items[1].number, -largest_number, largest_number)};
        const microseconds took{entry.items[2].number};
        if (at + day < now) continue;
        const auto& words = entry.items[3].items;
        const std::string command = detail::upper(words[0].text.substr(0, 32));
        const bool is_own =
            command.starts_with("FCALL") && words.size() > 1 && words[1].text.starts_with(library_prefix);
        if (is_own) {
            ++slow.own_calls;
            slow.own_slowest = std::max(slow.own_slowest, took);
        } else if (took > slow.other_slowest) {
            slow.other_slowest = took;
            slow.other_command = printable(command);
        }
    }
    return slow;
}

std::vector<std::string> read_libraries(const resp::value& list) {
    std::vector<std::string> names;
    for (const resp::value& library : list.items)
        for (std::size_t i = 0; i + 1 < library.items.size(); i += 2)
            if (library.items[i].text == "library_name") names.push_back(library.items[i + 1].text);
    std::ranges::sort(names);
    return names;
}

space_facts read_space(const resp::value& fields, const resp::value& head) {
    space_facts space;
    const auto field = [&](std::size_t i) -> std::string_view {
        return i < fields.items.size() ? std::string_view{fields.items[i].text} : std::string_view{};
    };
    space.exists = !field(0).empty();
    if (!space.exists) return space;
    space.layout = static_cast<unsigned>(number_in(field(0), 1'000'000));
    space.max_ttl = milliseconds{number_in(field(1))};
    space.lag = milliseconds{number_in(field(2))};
    space.pause = field(3) != "0";
    space.pauses = number_in(field(4));
    space.sessions = number_in(field(5));
    if (head.text.size() < 80) return space;
    space.epoch = std::to_string(number_in(std::string_view{head.text}.substr(16, 16), largest_serial));
    space.paused_until = microseconds{number_in(std::string_view{head.text}.substr(32, 16), largest_serial)};
    return space;
}

std::string why_refused(const std::string& command, std::string_view error) {
    if (detail::classify(error) == detail::reply_class::denied) return std::string{may_not_run} + command;
    if (error.starts_with("ERR unknown ")) return "the server does not have " + command;
    return "the server refuses " + command + ": " + printable(error.substr(0, 200));
}

}  // namespace baton::redis
