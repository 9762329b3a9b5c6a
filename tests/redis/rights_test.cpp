// The users of packaging/redis/: what the files permit and refuse, what a viewer can do, and the errors of users that
// lack a right.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <set>

#include "../eventually.hpp"
#include "../folder.hpp"
#include "acl_files.hpp"
#include "baton/baton.hpp"
#include "private_server.hpp"
#include "server_connection.hpp"

namespace baton::redis {
namespace {

using namespace std::chrono_literals;
using redis_tests::acl_rules;
using redis_tests::private_server;

using name_list = std::vector<std::string>;

class RedisRights : public testing::Test {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        // As an administrator does: the lines of the files in the server's own file, then a password for each user.
        std::ofstream{place_.path("users.acl")} << contents(redis_tests::acl_file("client"))
                                                << contents(redis_tests::acl_file("viewer"));
        server_.emplace(redis_tests::server_options{.tcp = true, .settings = {"--aclfile", place_.path("users.acl")}});
    }
    void set_passwords() {
        for (const char* user : {"baton", "baton-viewer"})
            ASSERT_EQ(server_->ask({"ACL", "SETUSER", user, ">secret"}).text, "OK");
    }
    void load() {
        ASSERT_EQ(server_->ask({"FUNCTION", "LOAD", std::string{server_library().text}}).text, server_library().name);
    }
    void set_rules(const std::string& user, const name_list& rules) {
        name_list words{"ACL", "SETUSER", user, "reset", "on", ">secret"};
        words.insert(words.end(), rules.begin(), rules.end());
        ASSERT_EQ(server_->ask(words).text, "OK");
    }

    [[nodiscard]] std::string url_of(const std::string& user, const std::string& options = "") const {
        return "redis://" + user + ":secret@127.0.0.1:" + std::to_string(server_->tcp().port) + "/0?pause=off" +
               options;
    }
    [[nodiscard]] std::string viewer_url() const { return url_of("baton-viewer"); }
    [[nodiscard]] std::string client_url() const { return url_of("baton"); }

    /// The reply to a command of that user.
    [[nodiscard]] std::string as(const std::string& user, const name_list& words) const {
        server_connection connection{server_->at().path};
        EXPECT_EQ(connection.ask({"AUTH", user, "secret"}).text, "OK");
        return connection.ask(words).text;
    }
    [[nodiscard]] std::string dry_run(const std::string& user, name_list words) const {
        words.insert(words.begin(), {"ACL", "DRYRUN", user});
        return server_->ask(words).text;
    }
    /// Every command and subcommand of the server with the words for a dry run, but for those that need no rights.
    [[nodiscard]] std::vector<name_list> commands() const {
        std::vector<name_list> all;
        const auto add = [&all](const resp::value& command) {
            const bool needs_rights = std::ranges::none_of(
                command.items.at(2).items, [](const resp::value& flag) { return flag.text == "no_auth"; });
            std::string name = command.items.at(0).text;
            name_list words{name.substr(0, name.find('|'))};
            if (const auto bar = name.find('|'); bar != std::string::npos) words.push_back(name.substr(bar + 1));
            words.resize(
                std::max<std::size_t>(words.size(), static_cast<std::size_t>(std::abs(command.items.at(1).number))),
                "1");
            if (needs_rights) all.push_back(std::move(words));
        };
        server_connection connection{server_->at().path};
        for (const resp::value& command : connection.ask({"COMMAND"}).items) {
            const auto& inside = command.items.at(9).items;
            if (inside.empty()) add(command);
            for (const resp::value& subcommand : inside) add(subcommand);
        }
        return all;
    }
    /// The commands that a file permits.
    [[nodiscard]] static std::set<std::string> permitted(const std::string& file) {
        std::set<std::string> names;
        for (const std::string& rule : acl_rules(file))
            if (rule[0] == '+') names.insert(rule.substr(1));
        return names;
    }

    /// The server of this test is no node of a cluster, so `hello` does not check these rights.
    static bool is_for_clusters(const std::string& command) {
        static const std::set<std::string> names{"cluster|slots", "pubsub|shardnumsub", "spublish", "ssubscribe",
                                                 "sunsubscribe"};
        return names.contains(command);
    }

    struct failure {
        std::error_code code;
        std::string reason;
    };
    template <typename Act> static failure failure_of(Act act) {
        try {
            act();
        } catch (const error& caught) {
            return {caught.code(), caught.reason()};
        }
        return {};
    }
    failure failure_to_connect(const std::string& url) {
        client poor{url};
        return failure_of([&] { poor.connect(10s); });
    }
    /// That the error names these rules, and the command that adds them; and that nothing was written.
    void expect_named(const std::string& rules, const failure& why) {
        EXPECT_EQ(why.code, errc::not_permitted) << why.code.message();
        EXPECT_NE(why.reason.find("the user 'poor' lacks the rights " + rules + ";"), std::string::npos) << why.reason;
        EXPECT_TRUE(why.reason.ends_with("ACL SETUSER poor " + rules) ||
                    why.reason.find("ACL SETUSER poor " + rules + ";") != std::string::npos)
            << why.reason;
        EXPECT_EQ(server_->ask({"DBSIZE"}).number, 0);
    }
    std::int64_t connections() {
        const std::string text = server_->ask({"INFO", "stats"}).text;
        const std::string field = "total_connections_received:";
        return std::stoll(text.substr(text.find(field) + field.size()));
    }

    /// Calls of FCALL that the server refused.
    std::int64_t refused_calls() {
        const std::string text = server_->ask({"INFO", "commandstats"}).text;
        const std::string field = "rejected_calls=";
        const std::size_t fcall = text.find("cmdstat_fcall:");
        return fcall == std::string::npos ? 0 : std::stoll(text.substr(text.find(field, fcall) + field.size()));
    }

    folder place_;
    std::optional<private_server> server_;
};

// ---- the files

TEST_F(RedisRights, NoClientLogsInBeforeAPasswordIsSet) {
    for (const char* user : {"baton", "baton-viewer"}) {
        server_connection connection{server_->at().path};
        for (const char* password : {"", "secret", "baton"})
            EXPECT_TRUE(connection.ask({"AUTH", user, password}).text.starts_with("WRONGPASS")) << user;
    }
}

TEST_F(RedisRights, EveryCommandBeyondTheFilesIsRefused) {
    for (const auto& [user, file] :
         std::vector<std::pair<std::string, std::string>>{{"baton", "client"}, {"baton-viewer", "viewer"}}) {
        const std::set<std::string> mine = permitted(file);
        std::size_t refused = 0;
        std::set<std::string> met;
        for (const name_list& words : commands()) {
            std::string name = words[0];
            if (words.size() > 1 && mine.contains(name + "|" + words[1])) name += "|" + words[1];
            if (mine.contains(name)) {
                met.insert(name);
                continue;
            }
            const std::string answer = dry_run(user, words);
            EXPECT_NE(answer.find("no permissions to run"), std::string::npos) << user << ' ' << name << ": " << answer;
            ++refused;
        }
        EXPECT_EQ(met, mine) << "the server has all commands of the file";
        EXPECT_GT(refused, 200U);
    }
}

TEST_F(RedisRights, OtherKeysAndChannelsAreRefused) {
    const auto refuses = [this](const std::string& user, const name_list& words) {
        const std::string answer = dry_run(user, words);
        EXPECT_NE(answer, "OK") << user << ' ' << words[0];
        EXPECT_EQ(answer.find("to run"), std::string::npos) << "the command is permitted: " << answer;
    };
    for (const std::string user : {"baton", "baton-viewer"})
        for (const char* key : {"x", "baton:{other}:m", "baton:m", "{default}:m"}) refuses(user, {"HGET", key, "f"});
    for (const char* channel : {"x", "baton:{other}:events"}) {
        refuses("baton", {"PUBLISH", channel, ""});
        refuses("baton", {"SUBSCRIBE", channel});
        refuses("baton-viewer", {"SUBSCRIBE", channel});
    }
    refuses("baton-viewer", {"SUBSCRIBE", "baton:{default}:wake:0123456789abcdef"});
    EXPECT_EQ(dry_run("baton-viewer", {"SUBSCRIBE", "baton:{default}:events"}), "OK");
    EXPECT_EQ(dry_run("baton", {"HSET", "baton:{default}:m", "", ""}), "OK") << "said in docs/guarantees.md";
    // Its key permission is for reading, whatever commands are added.
    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "baton-viewer", "+hset", "+fcall"}).text, "OK");
    refuses("baton-viewer", {"HSET", "baton:{default}:m", "f", "v"});
    refuses("baton-viewer", {"FCALL", "f", "1", "baton:{default}:m"});
}

// `hello` checks the same commands: a test of the library compares its list with the library's text.
TEST_F(RedisRights, TheClientsFileHasTheCommandsOfTheLibraryAndItsConnection) {
    const std::string text{server_library().text};
    std::set<std::string> used{"fcall",      "fcall_ro",     "subscribe",    "unsubscribe",
                               "ssubscribe", "sunsubscribe", "cluster|slots"};
    const std::string begin = "call('";
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
        std::string name = text.substr(at + begin.size(), text.find('\'', at + begin.size()) - at - begin.size());
        std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
        if (name != "pubsub") {
            used.insert(name);
            continue;
        }
        const std::size_t second = text.find('\'', at + begin.size() + name.size() + 1) + 1;
        std::string sub = text.substr(second, text.find('\'', second) - second);
        std::ranges::transform(sub, sub.begin(), [](unsigned char letter) { return std::tolower(letter); });
        used.insert("pubsub|" + sub);
    }
    EXPECT_EQ(permitted("client"), used);
}

// A viewer reads a space in which every kind of record exists: the commands inside its calls are those of the file.
TEST_F(RedisRights, TheViewersFileHasTheCommandsThatInspectingRuns) {
    load();
    client owner{"unix:" + server_->at().path + "?pause=off"};
    const lease held = owner.acquire(exclusive("a") & permits("p", {.count = 2, .limit = 30}));
    std::vector<lease> many;
    for (int i = 0; i < 12; ++i) many.push_back(owner.acquire(permits("q", {.count = 1, .limit = 20}) & shared("s")));
    client waiter{"unix:" + server_->at().path + "?pause=off"};
    const auto ignored = [](std::error_code, const lease&) {};
    waiter.async_acquire(exclusive("a"), {}, ignored);
    waiter.async_acquire(exclusive("a"), {}, ignored);
    waiter.async_acquire(permits("q", {.count = 9, .limit = 20}), {}, ignored);
    ASSERT_TRUE(eventually([&] { return owner.inspect().requests.size() == 16; }));
    owner.resize("p", 40);

    set_passwords();
    client viewer{viewer_url()};
    ASSERT_EQ(viewer.inspect().requests.size(), 16U);
    const std::string prefix = prefix_of("default");
    const std::string epoch = server_->ask({"HGET", prefix + "m", ""}).text.substr(16, 16);
    std::string session;  // that waits
    for (const resp::value& field : server_->ask({"HKEYS", prefix + "m"}).items)
        if (field.text.size() == 17 && field.text[0] == 'x' &&
            server_->ask({"HGET", prefix + "m", field.text}).text.ends_with(std::string(16, '0')))
            session = field.text.substr(1);
    ASSERT_EQ(session.size(), 16U);
    ASSERT_EQ(server_->ask({"CONFIG", "RESETSTAT"}).text, "OK");
    for (const char* name : {"a", "p", "q", "s"})
        EXPECT_EQ(failure_of([&] {
                      static_cast<void>(viewer.inspect({inspect_filter::match::exact, name, false}));
                  }).reason,
                  "");
    const std::string function = std::string{server_library().name} + "_inspect";
    const std::string waits =
        as("baton-viewer", {"FCALL_RO", function, "1", prefix + "m", epoch, "9", "wait", "0", session, "1", "2"});
    EXPECT_EQ(waits.find("ERR"), std::string::npos) << waits;
    static_cast<void>(viewer.inspect());
    client another{viewer_url()};
    static_cast<void>(another.inspect());

    std::set<std::string> ran{"subscribe", "unsubscribe"};  // for events
    const std::string stats = server_->ask({"INFO", "commandstats"}).text;
    for (std::size_t at = stats.find("cmdstat_"); at != std::string::npos; at = stats.find("cmdstat_", at + 1)) {
        const std::string name = stats.substr(at + 8, stats.find(':', at) - at - 8);
        const auto field = stats.find("calls=", at);
        if (stats[field + 6] == '0') continue;
        if (!std::set<std::string>{"config|resetstat", "info", "auth", "hello", "fcall", "renew"}.contains(name))
            ran.insert(name);
    }
    for (const std::string& right : permitted("viewer"))
        EXPECT_TRUE(ran.contains(right) || is_for_clusters(right)) << right << " is not needed";
    EXPECT_EQ(server_->ask({"ACL", "LOG"}).items.size(), 1U) << "FCALL, which the handshake tries first";
}

// ---- a viewer

TEST_F(RedisRights, AViewerCannotWrite) {
    load();
    set_passwords();
    client owner{client_url()};
    const lease held = owner.acquire(exclusive("a"), {.wait = 10s});
    const std::string prefix = prefix_of("default");
    const std::string epoch = server_->ask({"HGET", prefix + "m", ""}).text.substr(16, 16);
    const std::string library{server_library().name};
    for (const name_list& words : std::vector<name_list>{
             {"SET", prefix + "x", "1"},
             {"HSET", prefix + "m", "", "x"},
             {"DEL", prefix + "m"},
             {"PUBLISH", prefix + "events", "x"},
             {"EVAL", "return 1", "0"},
             {"EVAL_RO", "return 1", "0"},
             {"FUNCTION", "LOAD", std::string{server_library().text}},
             {"FCALL", library + "_tick", "1", prefix + "m", epoch},
             {"FCALL", library + "_inspect", "1", prefix + "m", epoch, "9", "space", "0", ""},
         }) {
        const std::string answer = as("baton-viewer", words);
        EXPECT_TRUE(answer.starts_with("NOPERM ")) << words[0] << ": " << answer;
    }
    // The server refuses a function that may write.
    for (const char* verb :
         {"hello", "open", "enter", "leave", "renew", "list", "close", "tick", "revoke", "mend", "resize", "pause"}) {
        const std::string answer = as("baton-viewer", {"FCALL_RO", library + "_" + verb, "1", prefix + "m", epoch});
        EXPECT_NE(answer.find("write flag"), std::string::npos) << verb << ": " << answer;
    }
    EXPECT_TRUE(held.valid());
}

TEST_F(RedisRights, AViewerInspectsAndNothingElse) {
    load();
    set_passwords();
    client owner{client_url()};
    const lease held = owner.acquire(exclusive("a"), {.wait = 10s});
    client viewer{viewer_url(), {.ttl = 300ms, .label = {}}};
    const auto sees = [&] {
        const snapshot seen = viewer.inspect();
        return seen.requests.size() == 1 && seen.requests[0].fence == held.fence();
    };
    EXPECT_TRUE(sees());
    const std::int64_t before = connections();
    for (const failure& why : {failure_of([&] { viewer.connect(10s); }),
                               failure_of([&] { static_cast<void>(viewer.acquire(exclusive("b"), {.wait = 10s})); }),
                               failure_of([&] { static_cast<void>(viewer.try_acquire(exclusive("b"))); }),
                               failure_of([&] { viewer.mend("a"); }), failure_of([&] { viewer.resize("a", 4); })}) {
        EXPECT_EQ(why.code, errc::not_permitted) << why.code.message();
        EXPECT_TRUE(why.reason.starts_with("cannot use redis://")) << why.reason;
        EXPECT_NE(why.reason.find("the user 'baton-viewer' may only inspect; use a user with the rights of client.acl"),
                  std::string::npos)
            << why.reason;
        EXPECT_EQ(why.reason.find("SETUSER"), std::string::npos) << "the rights of the viewer are right as they are";
        EXPECT_TRUE(sees());
    }
    // Several times its ttl: it has no session, so it neither renews nor reconnects.
    const auto until = std::chrono::steady_clock::now() + 1s;
    EXPECT_TRUE(eventually([&] { return sees() && std::chrono::steady_clock::now() > until; }));
    EXPECT_LE(connections(), before + 4) << "those of this test, and one for each second with a call beyond its rights";
    EXPECT_TRUE(viewer.close(10s));
    EXPECT_EQ(owner.inspect().sessions, 1U);
}

TEST_F(RedisRights, AViewerReconnects) {
    load();
    set_passwords();
    client owner{client_url()};
    const lease held = owner.acquire(exclusive("a"), {.wait = 10s});
    client viewer{viewer_url()};
    EXPECT_EQ(viewer.inspect().requests.size(), 1U);
    for (int i = 0; i < 2; ++i) {
        ASSERT_GE(server_->ask({"CLIENT", "KILL", "USER", "baton-viewer"}).number, 1);
        EXPECT_TRUE(eventually([&] {
            std::size_t found = 0;
            const failure why = failure_of([&] { found = viewer.inspect().requests.size(); });
            return why.code == std::error_code{} && found == 1;
        }));
    }
}

TEST_F(RedisRights, AViewerSeesAnEmptySpaceBeforeItExistsAndTheNextOneAfterwards) {
    load();
    set_passwords();
    client viewer{viewer_url()};
    for (int i = 0; i < 3; ++i) EXPECT_EQ(viewer.inspect().resources.size(), 0U);
    EXPECT_EQ(server_->ask({"DBSIZE"}).number, 0) << "looking makes no space";
    client owner{client_url()};
    const lease held = owner.acquire(exclusive("a"), {.wait = 10s});
    EXPECT_EQ(viewer.inspect().requests.size(), 1U);
    // The data are lost, and the space has another epoch.
    ASSERT_EQ(server_->ask({"FLUSHDB"}).text, "OK");
    EXPECT_EQ(viewer.inspect().requests.size(), 0U);
    EXPECT_TRUE(owner.acquire(exclusive("b"), {.wait = 10s}).valid());
    EXPECT_TRUE(eventually([&] { return viewer.inspect().sessions == 1; }));
}

// The terms of the space are none of its business.
TEST_F(RedisRights, AViewerNeedsNotKnowTheTermsOfTheSpace) {
    load();
    set_passwords();
    client owner{url_of("baton", "&max_ttl=30s&lag=1s")};
    const lease held = owner.acquire(exclusive("a"), {.wait = 10s});
    client viewer{viewer_url()};
    EXPECT_EQ(viewer.inspect().requests.size(), 1U);
    ASSERT_EQ(server_->ask({"HSET", "baton:{default}:i", "version", "2"}).number, 0);
    client later{viewer_url()};
    const failure why = failure_of([&] { static_cast<void>(later.inspect()); });
    EXPECT_EQ(why.code, errc::version_mismatch) << why.code.message();
}

TEST_F(RedisRights, AViewersErrorSaysWhoCanLoadTheLibrary) {
    set_passwords();
    client viewer{viewer_url()};
    const failure why = failure_of([&] { static_cast<void>(viewer.inspect()); });
    EXPECT_EQ(why.code, errc::not_permitted) << why.code.message();
    EXPECT_NE(
        why.reason.find("the first client that acquires loads them, or an administrator with: baton functions print "
                        "| redis-cli -x FUNCTION LOAD"),
        std::string::npos)
        << why.reason;
    EXPECT_EQ(why.reason.find("+function|load"), std::string::npos) << "which a viewer must not have";
}

// An administrator gives it more rights. A call that needs them finds that out, at most once per second.
TEST_F(RedisRights, AViewerThatGetsTheRightsOfAClientAcquires) {
    load();
    set_passwords();
    client viewer{viewer_url()};
    EXPECT_EQ(viewer.inspect().resources.size(), 0U);
    set_rules("baton-viewer", acl_rules("client"));
    EXPECT_TRUE(eventually([&] {
        std::error_code error;
        return viewer.acquire(exclusive("a"), {.wait = 10s}, error).valid();
    }));
}

// The rights of a client are gone for a moment, for instance while a file with them is loaded.
TEST_F(RedisRights, AHolderAndAWaiterOutliveAMomentWithoutRights) {
    load();
    set_passwords();
    const client_options options{.ttl = 5s, .label = {}};
    client holder{client_url(), options};
    client waiter{client_url(), options};
    lease held = holder.acquire(exclusive("a"), {.wait = 10s});
    auto waiting = std::async(std::launch::async, [&] { return waiter.acquire(exclusive("a"), {.wait = 20s}); });
    ASSERT_TRUE(eventually([&] { return holder.inspect().resources.at(0).queue.size() == 1; }));
    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "baton", "-fcall"}).text, "OK");
    ASSERT_EQ(server_->ask({"CONFIG", "RESETSTAT"}).text, "OK");
    ASSERT_GE(server_->ask({"CLIENT", "KILL", "USER", "baton"}).number, 2);
    ASSERT_TRUE(eventually([&] { return refused_calls() >= 2; }));
    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "baton", "+fcall"}).text, "OK");
    ASSERT_TRUE(eventually([&] { return held.valid_for() > 3s; })) << "it renews again";
    held.release();
    EXPECT_TRUE(waiting.get().valid());
}

// ---- users that lack a right

TEST_F(RedisRights, AMissingCommandIsNamedAtTheHandshake) {
    load();
    for (const std::string& name : permitted("client")) {
        SCOPED_TRACE(name);
        if (is_for_clusters(name)) continue;
        name_list rules = acl_rules("client");
        rules.push_back("-" + name);
        set_rules("poor", rules);
        if (name == "fcall") {  // then it may only inspect
            client poor{url_of("poor")};
            EXPECT_NE(failure_of([&] { poor.connect(10s); }).reason.find("the user 'poor' may only inspect; use"),
                      std::string::npos);
            continue;
        }
        expect_named("+" + name, failure_to_connect(url_of("poor")));
    }
    name_list rules = acl_rules("client");
    rules.insert(rules.end(), {"-zrank", "-lpop"});
    set_rules("poor", rules);
    expect_named("+zrank +lpop", failure_to_connect(url_of("poor")));
    rules.insert(rules.end(), {"-fcall", "-fcall_ro"});
    set_rules("poor", rules);
    expect_named("+fcall", failure_to_connect(url_of("poor")));
    // The same for a user that may only inspect.
    for (const std::string& name : permitted("viewer")) {
        SCOPED_TRACE("viewer " + name);
        if (name == "fcall_ro" || name.ends_with("subscribe") || is_for_clusters(name)) continue;
        name_list less = acl_rules("viewer");
        less.push_back("-" + name);
        set_rules("poor", less);
        expect_named("+" + name, failure_to_connect(url_of("poor")));
    }
}

TEST_F(RedisRights, AMissingKeyPatternIsNamedAtTheHandshake) {
    load();
    for (const name_list& keys : std::vector<name_list>{
             {}, {"~baton:{other}:*"}, {"%R~baton:{default}:*"}, {"~baton:{default}:m"}, {"~baton:{default}:?"}}) {
        SCOPED_TRACE(keys.empty() ? "none" : keys[0]);
        name_list rules = acl_rules("client");
        rules.push_back("resetkeys");
        rules.insert(rules.end(), keys.begin(), keys.end());
        set_rules("poor", rules);
        expect_named("~baton:{default}:*", failure_to_connect(url_of("poor")));
    }
    // The same for a user that may only inspect.
    for (const name_list& keys : std::vector<name_list>{{}, {"%R~baton:{default}:m"}}) {
        name_list rules = acl_rules("viewer");
        rules.push_back("resetkeys");
        rules.insert(rules.end(), keys.begin(), keys.end());
        set_rules("poor", rules);
        expect_named(keys.empty() ? "~baton:{default}:*" : "%R~baton:{default}:*", failure_to_connect(url_of("poor")));
    }
}

TEST_F(RedisRights, AMissingChannelPatternIsNamedAtTheHandshake) {
    load();
    name_list rules = acl_rules("client");
    rules.push_back("resetchannels");
    set_rules("poor", rules);
    expect_named("&baton:{default}:* +publish +subscribe", failure_to_connect(url_of("poor")));
}

TEST_F(RedisRights, AMissingSelectIsNamedForAnotherDatabase) {
    load();
    set_rules("poor", acl_rules("client"));
    std::string url = url_of("poor");
    url.replace(url.find("/0?"), 3, "/3?");
    expect_named("+select", failure_to_connect(url));
}

}  // namespace
}  // namespace baton::redis
