// The library in a real server, with time and budget as arguments, for the comparison with the engine.
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
    /// `text` is the text of another library that was derived from the tests' library; empty: the tests' library.
    explicit library_side(const std::string& socket, std::string text = {});

    /// Deletes all data and creates the space again. Every other time a viewer is subscribed, so that calls take the
    /// long path.
    void start(const core::engine_options& options);

    struct result {
        std::string error;  // the error reply, if any
        function_reply reply;
        std::map<core::session_id, std::vector<core::event>> notices;
        std::optional<std::vector<core::event>> watched;  // if a viewer is subscribed
        std::optional<snapshot> state;                    // if it was read
    };
    result apply(const core::command& command, core::instant at);

    /// `apply` reads the state only after that many commands, because reading it takes most of the time.
    void inspect_every(std::uint64_t commands) { inspect_every_ = commands; }

    /// Keys other than the fixed ones, and fields of `m` other than the head.
    [[nodiscard]] std::vector<std::string> remains();

private:
    void add_time(function_call& call, core::instant at) const;
    void inspect(result& result);
    void take_notices(result& result);

    const std::string text_;
    function_library library_ = timed_library();
    server_connection commands_;
    server_connection notices_;
    core::engine_options options_;
    std::map<core::session_id, waiting_requests> waiting_;
    std::uint64_t inspect_every_ = 1;
    std::uint64_t applied_ = 0;
    bool watches_ = false;
    baton::epoch epoch_ = 0;
    std::string space_ = "difference";
};

}  // namespace baton::redis
