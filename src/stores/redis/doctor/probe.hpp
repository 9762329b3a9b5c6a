// One connection of `baton doctor`: it connects and logs in as a client does, sends commands, and waits for the
// replies. It does not reconnect, and it has a deadline. Blocking, for one thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "stores/redis/address.hpp"
#include "stores/resp/exchange.hpp"

namespace baton::redis {

class probe {
public:
    using clock = resp::exchange::clock;
    using command = resp::exchange::command;

    /// `address` outlives the probe.
    explicit probe(detail::redis_address& address);

    /// Opens the socket. At most `resp::connect_timeout`.
    [[nodiscard]] store_error connect();
    /// Performs the TLS handshake, HELLO with the credentials, and SELECT.
    [[nodiscard]] store_error log_in(clock::time_point deadline);

    /// The same for the address of a Sentinel, which has neither databases nor TIME.
    [[nodiscard]] store_error log_in_to_sentinel(clock::time_point deadline);

    /// Sends the commands together. Fewer replies than commands if the deadline passed or the connection ended.
    [[nodiscard]] std::vector<resp::value> ask(const std::vector<command>& commands, clock::time_point deadline) {
        return exchange_.ask(commands, deadline);
    }

    /// After `log_in`.
    [[nodiscard]] bool in_cluster() const { return in_cluster_; }

    /// Why there were fewer replies; no error if there were not.
    [[nodiscard]] store_error failed() const;

    /// The server is on this machine: a socket file, or a loopback address.
    [[nodiscard]] bool is_on_this_machine() const;
    /// After `log_in`. None: the connection is not encrypted.
    [[nodiscard]] std::optional<resp::encryption_details> encryption() const;

private:
    detail::redis_address& address_;
    resp::exchange exchange_;
    std::shared_ptr<resp::encryption> encryption_;
    bool in_cluster_ = false;
};

}  // namespace baton::redis
