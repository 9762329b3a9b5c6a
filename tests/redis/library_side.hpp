// The scripts in a real server, with the time and the budget passed in: what the engine is compared with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baton/inspect.hpp"
#include "engine/engine.hpp"
#include "private_server.hpp"
#include "server_connection.hpp"
#include "stores/redis/function_reply.hpp"
#include "stores/redis/waiting_requests.hpp"

namespace baton::redis {

[[nodiscard]] const function_library& timed_library();

class library_side {
public:
    /// `text`: of another library, in a file made from that of the tests; empty: that of the tests.
    explicit library_side(const std::string& socket, std::string text = {});

    /// Forgets everything and makes the space anew. Every other time a viewer watches for a while, and there are no
    /// short paths.
    void start(const core::engine_options& options);

    struct result {
        std::string error;  // what the script said instead
        function_reply reply;
        std::map<core::session_id, std::vector<core::event>> notices;
        std::optional<std::vector<core::event>> watched;  // while somebody watches
        std::optional<snapshot> state;                    // if it was asked for
    };
    result apply(const core::command& command, core::instant at);

    /// `apply` asks for the state after every so many commands only: reading it costs most of a command's time.
    void look_every(std::uint64_t commands) { look_every_ = commands; }

    /// Keys other than the fixed ones, and fields of `m` other than the head.
    [[nodiscard]] std::vector<std::string> remains();

private:
    void add_time(function_call& call, core::instant at) const;
    void watch(core::instant at);
    void look(result& result);
    void take_notices(result& result);

    const std::string text_;
    function_library library_ = timed_library();
    server_connection commands_;
    server_connection notices_;
    core::engine_options options_;
    std::map<core::session_id, waiting_requests> waiting_;
    std::uint64_t look_every_ = 1;
    std::uint64_t applied_ = 0;
    bool watches_ = false;
    std::optional<core::instant> watched_until_;
    baton::epoch epoch_ = 0;
    std::string space_ = "difference";
};

}  // namespace baton::redis
