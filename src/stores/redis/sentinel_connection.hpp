// The connection to a Sentinel, which knows where the primary of a name is, and notifies of failovers. If one Sentinel
// cannot be used, the next one of the list is tried. Each client has such a connection beside the one to its server.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stores/redis/address.hpp"
#include "stores/resp/connection.hpp"

namespace baton::redis {

/// The reply to SENTINEL GET-MASTER-ADDR-BY-NAME. None: the Sentinel does not know the name, or names no valid address.
[[nodiscard]] std::optional<detail::host_and_port> read_primary(const resp::value& reply);

/// The primary that a Sentinel names, or why none could be found.
struct found_primary {
    detail::host_and_port at;
    store_error error = {};
    bool permanent = false;  // no Sentinel can be used until the address or the Sentinels are changed
};

class sentinel_connection final : public resp::connection {
public:
    /// `moved` is called by the loop owner when a Sentinel names another primary than before.
    sentinel_connection(detail::event_loop& loop, const detail::redis_address& address, std::function<void()> moved);

    /// Called by the loop owner. Asks a Sentinel, also if the answer was known before: it may have changed. `done` is
    /// called once by the loop owner, after all Sentinels were tried at the latest; not after `stop`.
    void find(std::function<void(const found_primary&)> done);

private:
    void begin() override;
    void end() override;
    void open_socket(resp::socket_result done) override;
    [[nodiscard]] bool has_other_servers() const override { return true; }
    resp::handshake_step begin_handshake() override;
    resp::handshake_step continue_handshake(const resp::value& answer) override;
    [[nodiscard]] resp::handshake_step explain(const resp::broken_connection& broken) const override;
    void up(epoch epoch) override;
    void down(const store_error& why) override { last_error_ = why; }
    void answered(command_tag tag, const resp::value& answer) override;
    void pushed(const resp::value& message) override;

    void ask();
    void next_sentinel(const store_error& why);
    void note(const detail::host_and_port& primary);
    void finish(const found_primary& found);
    /// The error if the Sentinel in use is left for the next one.
    [[nodiscard]] store_error useless(const std::string& why) const;

    const detail::sentinel_settings settings_;
    const std::function<void()> moved_;

    // By the loop owner.
    detail::redis_address sentinel_;  // the one in use
    std::size_t next_ = 0;            // index of the one that is tried next
    std::size_t tried_ = 0;           // since one replied last
    bool greeted_ = false;            // the handshake has the reply to HELLO
    resp::value first_answer_;
    bool is_up_ = false;
    store_error last_error_{errc::store_unavailable};
    std::optional<detail::host_and_port> primary_;  // as named last
    std::vector<std::function<void(const found_primary&)>> searches_;
    std::optional<detail::event_loop::timer> answer_timer_;
};

}  // namespace baton::redis
