// A Redis or Valkey server of the test's own, in a folder of its own. It ends with the test, however that ends.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "../folder.hpp"
#include "../resp_client.hpp"

namespace baton::redis_tests {

class server_clock;

/// A program to run under its name. Debian's redis-tools has the server too, but calls it redis-check-rdb: the program
/// looks at the name by which it was called.
struct server_program {
    std::string path;
    std::string name = "redis-server";
};

/// The one that is wanted, else BATON_REDIS_SERVER, else redis-server or valkey-server of the system, else the one in
/// redis-tools. None: the test has to be skipped, and says so with the text below.
[[nodiscard]] std::optional<server_program> find_server(const std::string& wanted = {});
inline constexpr const char* no_server = "no redis-server here: install redis-tools, or set BATON_REDIS_SERVER";

struct server_options {
    std::optional<server_program> program = {};  // none: the one that is found
    bool keeps_data = false;                     // each write is on the disk before it is answered
    bool tcp = false;                            // a port of its own beside the socket
    std::vector<std::string> settings = {};      // as on its command line: {"--maxmemory", "4mb"}
    server_clock* clock = nullptr;               // in place of its wall clock; must outlive it
};

/// Used by one thread, and dies with that one.
class private_server {
public:
    /// Throws std::runtime_error, with the server's own words, if it does not come up.
    explicit private_server(server_options options = {});
    private_server(const private_server&) = delete;
    private_server& operator=(const private_server&) = delete;
    ~private_server();

    [[nodiscard]] endpoint at() const { return place_.path("redis.sock"); }
    [[nodiscard]] endpoint tcp() const { return endpoint{port_}; }
    /// For a client of Baton.
    [[nodiscard]] std::string url() const { return "unix:" + at().path; }
    [[nodiscard]] pid_t process() const { return process_; }

    /// Asks on a connection of its own.
    [[nodiscard]] resp::value ask(const std::vector<std::string>& words) const;

    /// kill -9. What it keeps stays in its folder.
    void kill();
    /// After `kill`: returns when it answers, with its data read.
    void start();
    /// It forgets all that it has stored; after `kill`.
    void forget();
    void stop() const;   // SIGSTOP
    void go_on() const;  // SIGCONT

    /// Keeps a copy of its data as they are now, also of one that keeps none by itself.
    void copy_aside(const std::string& name);
    /// After `kill`: its data are those of that time again.
    void put_back(const std::string& name);

private:
    [[nodiscard]] std::vector<std::string> words() const;
    [[nodiscard]] std::string data() const { return place_.path("data"); }

    server_options options_;
    folder place_;
    std::uint16_t port_ = 0;
    pid_t process_ = 0;
};

}  // namespace baton::redis_tests
