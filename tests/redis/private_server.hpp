// A Redis or Valkey server of the test's own: on a Unix socket in a folder of its own, without persistence, gone with
// the test.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace baton::redis {

/// The server to test with: `wanted` if it names one, else BATON_TEST_SERVER, else redis-server, else the one inside of Debian's redis-tools.
/// Empty if there is none.
[[nodiscard]] std::filesystem::path find_server(const std::string& wanted = {});

class private_server {
public:
    /// Throws if it does not come up within some seconds.
    explicit private_server(const std::filesystem::path& program);
    private_server(const private_server&) = delete;
    private_server& operator=(const private_server&) = delete;
    ~private_server();

    [[nodiscard]] const std::string& socket() const { return socket_; }

private:
    std::filesystem::path folder_;
    std::string socket_;
    pid_t process_ = -1;
};

}  // namespace baton::redis
