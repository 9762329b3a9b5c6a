// Servers that a client cannot use, as users meet them: each has its own message, which comes at once, with the words
// of the server or the system and with what to do. All are real servers and sockets, except versions of Redis that
// Debian does not have: their replies are recorded.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>

#include <any>
#include <array>
#include <chrono>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../client/ports.hpp"
#include "../fire_and_forget.hpp"
#include "../launch.hpp"
#include "baton/client.hpp"
#include "private_server.hpp"
#include "replication.hpp"
#include "tls_server.hpp"

namespace baton::redis_tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Sends the recorded bytes to each client: one text for each command, or for the connection itself.
class recorded_server {
public:
    enum class when { connected, asked };

    explicit recorded_server(std::vector<std::string> replies, when first = when::asked)
        : listening_{listen_at(where_)},
          thread_{[this, replies = std::move(replies), first] { serve(replies, first); }} {}
    recorded_server(const recorded_server&) = delete;
    recorded_server& operator=(const recorded_server&) = delete;
    ~recorded_server() {
        shutdown(listening_, SHUT_RDWR);
        thread_.join();
        close(listening_);
    }

    [[nodiscard]] std::uint16_t port() const { return where_.port; }

private:
    void serve(const std::vector<std::string>& replies, when first) const {
        for (int client = accept(listening_, nullptr, nullptr); client >= 0;
             client = accept(listening_, nullptr, nullptr)) {
            std::array<char, 4'096> buffer{};
            for (const std::string& reply : replies) {
                if (first == when::asked && recv(client, buffer.data(), buffer.size(), 0) <= 0) break;
                send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
            }
            shutdown(client, SHUT_WR);
            while (recv(client, buffer.data(), buffer.size(), 0) > 0) {
            }
            close(client);
        }
    }

    endpoint where_{std::uint16_t{0}};
    int listening_;
    std::thread thread_;
};

std::string url_at(std::uint16_t port, const std::string& rest = "?pause=off", const std::string& user = {}) {
    return "redis://" + user + "127.0.0.1:" + std::to_string(port) + rest;
}
std::string url_of(const private_server& server, const std::string& rest = "?pause=off", const std::string& user = {}) {
    return url_at(server.tcp().port, rest, user);
}

std::uint16_t free_port() {
    endpoint any{std::uint16_t{0}};
    close(listen_at(any));
    return any.port;
}

/// The servers of one case. They end with it.
class stage {
public:
    private_server& server(std::vector<std::string> settings = {}) {
        return servers_.emplace_back(server_options{.tcp = true, .settings = std::move(settings)});
    }
    private_server& cluster_node() {
        return server({"--cluster-enabled", "yes", "--cluster-port", std::to_string(free_port())});
    }
    template <typename Thing, typename... Arguments> Thing& keep(Arguments&&... arguments) {
        auto made = std::make_shared<Thing>(std::forward<Arguments>(arguments)...);
        kept_.emplace_back(made);
        return *made;
    }
    /// The port of a Sentinel.
    std::uint16_t sentinel() {
        const std::string file = folder_.path("sentinel.conf");
        std::ofstream{file} << "sentinel monitor main 127.0.0.1 " << server().tcp().port << " 1\n";
        const std::uint16_t port = free_port();
        const server_program program = *find_server();
        process_ = launch(
            {program.name, file, "--sentinel", "--port", std::to_string(port), "--bind", "127.0.0.1"},
            [] {
                const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
                dup2(nothing, STDOUT_FILENO);
            },
            program.path);
        EXPECT_TRUE(eventually([&] { return answers(endpoint{port}); }));
        return port;
    }
    ~stage() {
        if (process_ <= 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    stage() = default;
    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;

private:
    folder folder_;
    std::deque<private_server> servers_;
    std::vector<std::any> kept_;
    pid_t process_ = 0;
};

/// A server with a user who lacks a right.
std::string url_for_user(stage& on, const std::string& missing, const std::string& rest = "?pause=off",
                         const std::string& missing_too = "-debug") {
    private_server& server = on.server();
    std::vector<std::string> words{"ACL", "SETUSER", "bob", "on", ">s3cret", "~*", "&*", "+@all"};
    if (missing.starts_with('~')) words[5] = missing;
    if (missing.starts_with('&')) words[6] = missing;
    if (missing.starts_with('-')) words.insert(words.end(), {missing, missing_too});
    EXPECT_EQ(server.ask(words).text, "OK");
    // A client with all rights has loaded the library.
    if (missing != "-function|load") client{url_of(server)}.connect();
    return url_of(server, rest, "bob:s3cret@");
}

const std::string hello_of_six =
    "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n6.0.16\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:3\r\n"
    "$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n";

struct refusing_case {
    const char* name;
    std::function<std::string(stage&)> url;
    errc code;
    std::vector<const char*> says;  // the words of the server, and what to do
};

const std::vector<refusing_case>& cases() {
    static const std::vector<refusing_case> all{
        {"RefusedPort",
         [](stage&) { return url_at(free_port()); },
         errc::store_unavailable,
         {"cannot connect to", "connection refused", "is the server running, and does it listen on this address?"}},
        {"MissingSocketFile",
         [](stage&) { return std::string{"unix:/nonexistent/redis.sock"}; },
         errc::store_unavailable,
         {"cannot connect to unix:/nonexistent/redis.sock: no such file", "unixsocket"}},
        {"UnknownHost",
         [](stage&) { return std::string{"redis://-.invalid"}; },  // refused by the library, without DNS
         errc::store_unavailable,
         {"cannot connect to redis://-.invalid:6379/0: ", "check the host name"}},
        {"Silent",
         [](stage& on) { return on.keep<client_tests::silent_port>().url() + "?connect_timeout=200ms"; },
         errc::store_unavailable,
         {"cannot connect to", "accepts connections and does not reply", "rediss://"}},
        {"Replica",
         [](stage& on) {
             private_server& replica = on.server();
             EXPECT_TRUE(follow(replica, on.server().tcp()));
             return url_of(replica);
         },
         errc::store_unavailable,
         {"cannot use", "the server is a replica: connect to its primary"}},
        {"ClusterWithoutSlots",
         [](stage& on) { return url_of(on.cluster_node()); },
         errc::store_unavailable,
         {"CLUSTERDOWN", "CLUSTER INFO"}},
        {"OtherClusterNode",
         [](stage& on) {
             private_server& owner = on.cluster_node();
             private_server& other = on.cluster_node();
             EXPECT_EQ(owner.ask({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"}).text, "OK");
             const std::string bus = owner.ask({"CONFIG", "GET", "cluster-port"}).items.at(1).text;
             EXPECT_EQ(other.ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(owner.tcp().port), bus}).text, "OK");
             EXPECT_TRUE(eventually(
                 [&] {
                     return other.ask({"GET", "baton:{default}:m"}).text.starts_with("MOVED");
                 },
                 30s));
             return url_of(other);
         },
         errc::unsupported,
         {"MOVED ", "another node has the keys of this space: name that node"}},
        {"DatabaseInACluster",
         [](stage& on) { return url_of(on.cluster_node(), "/1"); },
         errc::unsupported,
         {"SELECT is not allowed in cluster mode", "database 0 only"}},
        {"TlsPort",
         [](stage& on) { return url_at(on.keep<tls_server>().server().tls().port); },
         errc::store_unavailable,
         {"closed the connection without a reply", "use rediss://"}},
        {"TlsAlert",
         [](stage& on) {
             const std::string alert{"\x15\x03\x01\x00\x02\x02\x46", 7};
             return url_at(on.keep<recorded_server>(std::vector{alert}).port());
         },
         errc::unsupported,
         {"this is a TLS port: use rediss://"}},
        {"HttpServer",
         [](stage& on) {
             const std::string page = "HTTP/1.1 400 Bad Request\r\nServer: nginx\r\n\r\n<html>";
             return url_at(on.keep<recorded_server>(std::vector{page}).port());
         },
         errc::unsupported,
         {"HTTP/1.1 400 Bad Request", "an HTTP server listens on this port"}},
        {"OtherProtocol",
         [](stage& on) {
             const std::vector<std::string> banner{"SSH-2.0-OpenSSH_9.2p1\r\n"};
             return url_at(on.keep<recorded_server>(banner, recorded_server::when::connected).port());
         },
         errc::unsupported,
         {"SSH-2.0-OpenSSH_9.2p1", "another program listens on this port"}},
        {"Database",
         [](stage& on) { return url_of(on.server(), "/99"); },
         errc::unsupported,
         {"/99: ERR DB index is out of range", "take a smaller number"}},
        {"Redis6",
         [](stage& on) {
             const std::vector<std::string> replies{
                 hello_of_six, "-ERR unknown command `FCALL`, with args beginning with: `baton_x_hello`, `1`, \r\n"};
             return url_at(on.keep<recorded_server>(replies).port());
         },
         errc::unsupported,
         {"ERR unknown command `FCALL`; ", "Redis 7.0 or newer"}},
        {"Redis5",
         [](stage& on) {
             const std::vector<std::string> replies{
                 "-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n"};
             return url_at(on.keep<recorded_server>(replies).port());
         },
         errc::unsupported,
         {"ERR unknown command `HELLO`; ", "Redis 7.0 or newer"}},
        {"Sentinel",
         [](stage& on) { return url_at(on.sentinel()); },
         errc::unsupported,
         {"mode is sentinel", "use an address with redis+sentinel:"}},
        {"ProtectedMode",
         [](stage& on) {
             const std::vector<std::string> words{
                 "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set "
                 "for the default user. In this mode connections are only accepted from the loopback interface. If you "
                 "want to connect from external computers to Redis you may adopt one of the following\r\n"};
             return url_at(on.keep<recorded_server>(words, recorded_server::when::connected).port());
         },
         errc::not_permitted,
         {"DENIED Redis is running in protected mode", "set a password on the server"}},
        {"NoPassword",
         [](stage& on) {
             private_server& server = on.server();
             EXPECT_EQ(server.ask({"CONFIG", "SET", "requirepass", "s3cret"}).text, "OK");
             return url_of(server);
         },
         errc::not_permitted,
         {"NOAUTH", "BATON_REDIS_PASSWORD"}},
        {"WrongPassword",
         [](stage& on) {
             private_server& server = on.server();
             EXPECT_EQ(server.ask({"CONFIG", "SET", "requirepass", "s3cret"}).text, "OK");
             return url_of(server, "", ":s3cretive@");
         },
         errc::not_permitted,
         {"WRONGPASS", "check BATON_REDIS_USER, and BATON_REDIS_PASSWORD or the file"}},
        {"NoSelect",
         [](stage& on) { return url_for_user(on, "-select", "/1"); },
         errc::not_permitted,
         {"'select' command", "use database 0"}},
        {"NoFcall",
         [](stage& on) { return url_for_user(on, "-fcall", "?pause=off", "-fcall_ro"); },
         errc::not_permitted,
         {"'fcall' command", "ACL SETUSER bob", "+fcall"}},
        {"NoFunctionLoad",
         [](stage& on) { return url_for_user(on, "-function|load"); },
         errc::not_permitted,
         {"'function|load' command", "baton functions print | redis-cli -x FUNCTION LOAD"}},
        {"NoSubscribe",
         [](stage& on) { return url_for_user(on, "-subscribe"); },
         errc::not_permitted,
         {"/0: the user 'bob' lacks the rights +subscribe", "ACL SETUSER bob +subscribe"}},
        {"NoCommandOfAFunction",
         [](stage& on) { return url_for_user(on, "-zadd"); },
         errc::not_permitted,
         {"/0: the user 'bob' lacks the rights +zadd", "ACL SETUSER bob +zadd"}},
        {"NoKeys",
         [](stage& on) { return url_for_user(on, "~other"); },
         errc::not_permitted,
         {"keys", "ACL SETUSER bob ~baton:{default}:*"}},
        {"NoChannels",
         [](stage& on) { return url_for_user(on, "&other"); },
         errc::not_permitted,
         {"ACL SETUSER bob &baton:{default}:*"}},
        {"MaximumOfClients",
         [](stage& on) {
             private_server& server = on.server();
             on.keep<resp_client>(server.tcp());
             const auto full = [&] { return server.ask({"CONFIG", "SET", "maxclients", "1"}).text == "OK"; };
             EXPECT_TRUE(full());
             return url_of(server);
         },
         errc::store_unavailable,
         {"ERR max number of clients reached", "raise maxclients"}},
        {"Eviction",
         [](stage& on) {
             return url_of(on.server({"--maxmemory", "10mb", "--maxmemory-policy", "allkeys-lru"}));
         },
         errc::space_refused,
         {"/0: the server may evict keys", "noeviction"}},
        {"OptionsOfTheSpace",
         [](stage& on) {
             private_server& server = on.server();
             client{url_of(server)}.connect();
             return url_of(server, "?pause=off&max_ttl=20s");
         },
         errc::space_refused,
         {"the space has max_ttl=15s, lag=2s, pause=off, and this address says max_ttl=20s, lag=2s, pause=off;"}},
        {"ForeignKeys",
         [](stage& on) {
             private_server& server = on.server();
             EXPECT_EQ(server.ask({"SET", "baton:{default}:i", "mine"}).text, "OK");
             return url_of(server);
         },
         errc::space_refused,
         {"WRONGTYPE", "use another space"}},
    };
    return all;
}

class RefusedConnectionMessage : public testing::TestWithParam<refusing_case> {
protected:
    void SetUp() override {
        if (!find_server()) GTEST_SKIP() << no_server;
        url_ = GetParam().url(stage_);
    }

    /// Calls that would otherwise last for 20 s and more fail with this error well before that.
    template <typename Call> void expect_at_once(const client_options& options, Call call) {
        client client{url_, options};
        const auto begun = steady_clock::now();
        try {
            call(client);
            ADD_FAILURE() << "no error at " << url_;
        } catch (const error& thrown) {
            const std::string text = thrown.what();
            EXPECT_EQ(thrown.code(), GetParam().code) << text;
            for (const char* words : GetParam().says) EXPECT_NE(text.find(words), std::string::npos) << text;
            EXPECT_EQ(text.find("s3cret"), std::string::npos) << text;
            const std::size_t place = text.find("://");
            EXPECT_EQ(text.find("://", place + 3) != std::string::npos,
                      text.find("use rediss://") != std::string::npos || text.find("(rediss://)") != std::string::npos)
                << "the address is named once: " << text;
        }
        EXPECT_LT(steady_clock::now() - begun, 5s);
    }

    stage stage_;
    std::string url_;
};

client_options patient() { return {.label = {}, .timeout = 20s, .close_wait = 100ms}; }

TEST_P(RefusedConnectionMessage, ComesAtOnceFromConnect) {
    expect_at_once(patient(), [](client& client) { client.connect(20s); });
}

TEST_P(RefusedConnectionMessage, ComesAtOnceFromCallsThatDoNotQueue) {
    expect_at_once(patient(), [](client& client) { static_cast<void>(client.try_acquire(exclusive("x"))); });
    expect_at_once(patient(), [](client& client) { static_cast<void>(client.inspect()); });
}

TEST_P(RefusedConnectionMessage, ComesAtOnceFromAnAcquireIfItIsToFail) {
    client_options options = patient();
    options.if_unavailable = if_unavailable::fail;
    expect_at_once(options, [](client& client) { static_cast<void>(client.acquire(exclusive("x"), {.wait = 30s})); });
}

INSTANTIATE_TEST_SUITE_P(Each, RefusedConnectionMessage, testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string{each.param.name}; });

/// Attempts at a port that refuses connections.
class IfUnavailable : public testing::Test {
protected:
    [[nodiscard]] std::error_code acquire(const std::string& option, std::optional<if_unavailable> wish) const {
        client_options options = patient();
        options.if_unavailable = wish;
        client client{port_.url() + option, options};
        std::error_code error;
        static_cast<void>(client.acquire(exclusive("x"), {.wait = 300ms}, error));
        return error;
    }
    [[nodiscard]] bool waits(const std::string& option, std::optional<if_unavailable> wish = {}) const {
        const auto begun = steady_clock::now();
        EXPECT_EQ(acquire(option, wish), errc::store_unavailable);
        return steady_clock::now() - begun >= 300ms;
    }

    const client_tests::refusing_port port_;
};

TEST_F(IfUnavailable, IsWaitByDefault) {
    EXPECT_TRUE(waits(""));
    EXPECT_TRUE(waits("?if_unavailable=wait"));
}

TEST_F(IfUnavailable, TheOptionOfTheClientPrecedesTheAddress) {
    EXPECT_TRUE(waits("?if_unavailable=fail", if_unavailable::wait));
}

TEST_F(IfUnavailable, FailReachesCallbacksAndCoroutines) {
    client client{port_.url() + "?if_unavailable=fail", patient()};
    std::promise<std::error_code> called;
    client.async_acquire(exclusive("x"), {}, [&](std::error_code error, const lease&) { called.set_value(error); });
    auto told = called.get_future();
    ASSERT_EQ(told.wait_for(10s), std::future_status::ready);
    EXPECT_EQ(told.get(), errc::store_unavailable);
    std::promise<std::string> thrown;
    const auto await = [](baton::client used, std::promise<std::string>& result) -> fire_and_forget {
        try {
            static_cast<void>(co_await used.async_acquire(exclusive("x")));
        } catch (const error& failed) {
            result.set_value(failed.what());
        }
    };
    await(client, thrown);
    auto text = thrown.get_future();
    ASSERT_EQ(text.wait_for(10s), std::future_status::ready);
    EXPECT_NE(text.get().find("connection refused; is the server running"), std::string::npos);
}

// The server dies under a client that holds one name and waits for another: the request fails when it cannot reconnect,
// and the lease lives on.
TEST_F(IfUnavailable, FailEndsAWaitWhenTheServerDies) {
    if (!find_server()) GTEST_SKIP() << no_server;
    private_server server{{.tcp = true}};
    client holder{url_of(server)};
    const lease other = holder.acquire(exclusive("y"));
    client client{url_of(server, "?pause=off&if_unavailable=fail")};
    const lease held = client.acquire(exclusive("x"));
    std::promise<std::error_code> called;
    client.async_acquire(exclusive("y"), {}, [&](std::error_code error, const lease&) { called.set_value(error); });
    const auto is_queued = [&] {
        const snapshot seen = client.inspect({inspect_filter::match::exact, "y"});
        return seen.resources.size() == 1 && seen.resources[0].queue.size() == 1;
    };
    ASSERT_TRUE(eventually(is_queued));
    server.kill();
    auto told = called.get_future();
    ASSERT_EQ(told.wait_for(10s), std::future_status::ready);
    EXPECT_EQ(told.get(), errc::store_unavailable);
    EXPECT_TRUE(held.valid());
    server.start();
    EXPECT_TRUE(eventually([&] {
        std::error_code error;
        return client.acquire(exclusive("z"), {.wait = 5s}, error).valid();
    })) << "the client reconnects";
}

}  // namespace
}  // namespace baton::redis_tests
