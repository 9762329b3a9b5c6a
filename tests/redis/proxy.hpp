// A proxy that simulates network faults between a client and a server: late, lost, truncated and split bytes. It runs
// on its own thread; the test changes its rules while it runs.
//
//     proxy proxy{server.at(), files.path("proxy")};
//     proxy.set({.delay = 50ms, .slice = true});   // rules may be combined
//     proxy.set({});                               // no faults
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "../sockets.hpp"

namespace baton::redis_tests {

struct proxy_rules {
    /// In each direction.
    std::chrono::milliseconds delay{0};
    /// The server performs commands, and its replies are dropped.
    bool drop_replies = false;
    /// Requests do not reach the server, and the connection stays open.
    bool swallow_requests = false;
    /// Each byte is delivered separately.
    bool slice = false;
    /// New connections are closed at once.
    bool refuse = false;
    /// Requests on the present connections are held back; the server gets them after the first reply on a newer
    /// connection has passed, even if their client is gone. Once.
    bool late = false;
    /// After this many more bytes, counted over all connections, the connection that carries the last of them is reset.
    /// The counted bytes arrive, later ones do not. Once; 0 resets with the next byte, which does not arrive.
    std::optional<std::size_t> reset_after_request = {};
    std::optional<std::size_t> reset_after_reply = {};
};

class proxy {
public:
    /// Listens at `here` and forwards to `server`, which need not exist yet.
    proxy(endpoint server, endpoint here);
    proxy(const proxy&) = delete;
    proxy& operator=(const proxy&) = delete;
    ~proxy();

    [[nodiscard]] const endpoint& at() const;
    /// Replaces all rules. Bytes that are under way keep their delay.
    void set(const proxy_rules& rules);
    /// Resets all present connections; held requests stay.
    void cut();
    /// Both atomically: no connection that has lost bytes continues, and none is made under the old rules.
    void cut(const proxy_rules& from_now_on);
    /// Moves the address: resets all connections and forwards new ones to this server.
    void move_to(endpoint server);

    struct counts {
        std::uint64_t connections = 0;
        std::uint64_t resets = 0;         // by reset_after_…
        std::uint64_t request_bytes = 0;  // received, including dropped ones
        std::uint64_t reply_bytes = 0;
        std::uint64_t late_bytes = 0;  // delivered late
    };
    [[nodiscard]] counts seen() const;

private:
    class loop;
    std::unique_ptr<loop> loop_;
};

}  // namespace baton::redis_tests
