// After a failover: searches the former primary among the replicas of the new one, and asks it what it wrote last. If
// the new primary has all of that, `hello` makes no pause (decision 045).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.hpp"
#include "stores/redis/address.hpp"
#include "stores/resp/codec.hpp"

namespace baton::redis {

class attesting_connection;

/// All by the loop owner. Lives for one handshake.
class former_primary_search : public std::enable_shared_from_this<former_primary_search> {
public:
    /// The last argument of `hello` before anything is known.
    static constexpr const char* can_search = "?";

    /// The reply to `hello`: what to ask, and whom.
    struct question {
        std::string epoch;
        std::string run_id;
        std::vector<detail::host_and_port> replicas;
    };
    /// None: the reply is another one.
    [[nodiscard]] static std::optional<question> question_in(const resp::value& reply);

    /// `address` is that of the new primary, whose credentials and TLS settings are used.
    former_primary_search(detail::event_loop& loop, const detail::redis_address& address);
    former_primary_search(const former_primary_search&) = delete;
    former_primary_search& operator=(const former_primary_search&) = delete;
    ~former_primary_search();

    /// `done` is called once, later, with the next argument of `hello`: what the former primary attested; `can_search`
    /// to ask for the replicas again; or nothing, if the search has taken too long.
    void search(const question& question, std::function<void(std::string)> done);

private:
    using clock = std::chrono::steady_clock;

    void ask();
    void timer_fired();
    void set_timer();
    void finish(std::string attested);

    detail::event_loop& loop_;
    const detail::redis_address address_;
    const clock::time_point limit_;
    std::chrono::milliseconds patience_;
    question question_;
    std::function<void(std::string)> done_;
    bool asked_ = false;
    bool refused_ = false;  // `hello` has refused what was attested
    std::optional<detail::event_loop::timer> timer_;
    std::map<detail::host_and_port, std::shared_ptr<attesting_connection>> replicas_;
};

}  // namespace baton::redis
