// A proxy that does to the bytes between a client and a server what networks do: late, lost, cut, in pieces. It runs on
// a thread of the test, which changes its rules while it runs.
//
//     proxy proxy{server.at(), position.path("proxy")};
//     proxy.set({.delay = 50ms, .slice = true});   // rules go together
//     proxy.set({});                               // healed
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "../sockets.hpp"

namespace baton::redis_tests {

struct proxy_rules {
    /// Each way.
    std::chrono::milliseconds delay{0};
    /// The server acts, and nobody hears of it.
    bool drop_replies = false;
    /// Nothing reaches the server, and the connection seems to live.
    bool swallow_requests = false;
    /// Each byte comes by itself.
    bool slice = false;
    /// New connections are closed at once.
    bool refuse = false;
    /// Requests on the connections that there are now are kept back; the server gets them after the first reply on a
    /// newer connection has passed, whether their client is still there or not. Once.
    bool late = false;
    /// After this many more bytes, counted over all connections, the one that carries the last of them is reset. The
    /// bytes arrive, nothing more does. Once; 0 resets with the next byte, which does not arrive.
    std::optional<std::size_t> reset_after_request = {};
    std::optional<std::size_t> reset_after_reply = {};
};

class proxy {
public:
    /// Listens at `here`, and passes on to `server`, which need not be there yet.
    proxy(endpoint server, endpoint here);
    proxy(const proxy&) = delete;
    proxy& operator=(const proxy&) = delete;
    ~proxy();

    [[nodiscard]] const endpoint& at() const;
    /// In position of all rules up to now. Bytes that are on their way keep their delay.
    void set(const proxy_rules& rules);
    /// Resets all connections that there are; what is kept back to be late stays.
    void cut();
    /// Both in one moment: no connection that has lost bytes goes on, and none is made under the old rules.
    void cut(const proxy_rules& from_now_on);
    /// The address moves: all connections are reset, and new ones are passed on to this server.
    void move_to(endpoint server);

    struct counts {
        std::uint64_t connections = 0;
        std::uint64_t resets = 0;         // by reset_after_…
        std::uint64_t request_bytes = 0;  // that came, also those that were swallowed
        std::uint64_t reply_bytes = 0;
        std::uint64_t late_bytes = 0;  // that were delivered late
    };
    [[nodiscard]] counts seen() const;

private:
    class loop;
    std::unique_ptr<loop> loop_;
};

}  // namespace baton::redis_tests
