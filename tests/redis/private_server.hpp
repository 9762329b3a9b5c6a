// A private Redis or Valkey server of a test, in a private folder. It ends with the test, even if the test is killed.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "../folder.hpp"
#include "../resp_client.hpp"

namespace baton::redis_tests {

class server_clock;

/// A program and its argv[0]. Debian's redis-tools contains the server as redis-check-rdb: the program selects its role
/// by argv[0].
struct server_program {
    std::string path;
    std::string name = "redis-server";
};

/// The requested program, else BATON_REDIS_SERVER, else redis-server or valkey-server of the system, else the one in
/// redis-tools. None: skip the test with the text below.
[[nodiscard]] std::optional<server_program> find_server(const std::string& wanted = {});
inline constexpr const char* no_server = "no redis-server here: install redis-tools, or set BATON_REDIS_SERVER";

struct server_options {
    std::optional<server_program> program = {};  // none: the default program
    bool keeps_data = false;                     // each write is on the disk before the reply
    bool tcp = false;                            // also listens at a port
    bool tls = false;                            // also listens at a port with TLS; `settings` name the certificates
    std::vector<std::string> settings = {};      // as on its command line: {"--maxmemory", "4mb"}
    server_clock* clock = nullptr;               // replaces its wall clock; must outlive it
};

/// Not thread-safe. The server dies with the thread that started it.
class private_server {
public:
    /// Throws std::runtime_error with the server's log if it does not start.
    explicit private_server(server_options options = {});
    private_server(const private_server&) = delete;
    private_server& operator=(const private_server&) = delete;
    ~private_server();

    [[nodiscard]] endpoint at() const { return place_.path("redis.sock"); }
    [[nodiscard]] endpoint tcp() const { return endpoint{port_}; }
    [[nodiscard]] endpoint tls() const { return endpoint{tls_port_}; }
    /// The address for a client of Baton.
    [[nodiscard]] std::string url() const { return "unix:" + at().path; }
    [[nodiscard]] pid_t process() const { return process_; }

    /// Sends a command on a new connection and returns the reply.
    [[nodiscard]] resp::value ask(const std::vector<std::string>& words) const;

    /// Sends SIGKILL. The data on disk stay in its folder.
    void kill();
    /// Restarts it after `kill`; returns when it replies, with its data loaded.
    void start();
    /// Deletes its data on disk; call it after `kill`.
    void forget();
    void stop() const;   // SIGSTOP
    void go_on() const;  // SIGCONT

    /// Saves a copy of its current data, even if it does not store data itself.
    void copy_aside(const std::string& name);
    /// Restores that copy; call it after `kill`.
    void put_back(const std::string& name);

private:
    [[nodiscard]] std::vector<std::string> words() const;
    [[nodiscard]] std::string data() const { return place_.path("data"); }

    server_options options_;
    folder place_;
    std::uint16_t port_ = 0;
    std::uint16_t tls_port_ = 0;
    pid_t process_ = 0;
};

}  // namespace baton::redis_tests
