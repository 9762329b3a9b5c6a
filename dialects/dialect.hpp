// The interface of a dialect, a lock protocol of another program on Redis: which requests it supports, its scripts, its
// queue entries, its notifications, and how it lists holders and waiters. How to add a dialect: docs/dialects.md, at
// the end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/inspect.hpp"
#include "baton/store.hpp"
#include "queue_entry.hpp"
#include "stores/redis/script_text.hpp"

namespace baton::dialects {

/// A holder or waiter, as the server lists it.
struct listed {
    std::string resource;
    std::string label;  // the protocol's own id
    bool held = false;
    std::optional<baton::claim> claim = std::nullopt;  // known for requests of this client
};
/// The requests of each name are in queue order. `limits` has the names that have a limit.
struct listing {
    std::vector<listed> requests;
    std::vector<std::pair<std::string, std::uint32_t>> limits;
};
using list_callback = std::function<void(std::error_code, listing)>;

class dialect {
public:
    virtual ~dialect() = default;

    [[nodiscard]] virtual lease_pace pace() const = 0;
    /// See `store::objection`.
    [[nodiscard]] virtual std::string objection(std::span<const claim> claims,
                                                const protocol::enter_options& options) const = 0;
    [[nodiscard]] virtual std::span<const redis::script_text> scripts() const = 0;

    /// The dialect's part of a connection. Each connection has its own.
    class protocol_client {
    public:
        virtual ~protocol_client() = default;
        /// Sent first on every new connection.
        [[nodiscard]] virtual std::vector<redis_command> first_commands() { return {}; }
        [[nodiscard]] virtual std::unique_ptr<queue_entry> make_entry(const claim& claim,
                                                                      const protocol::enter_options& options) = 0;
        /// Handles a message that the server pushed. Returns the name that entries subscribe to for it; empty: none.
        [[nodiscard]] virtual std::string handle_push(const resp::value& message) {
            static_cast<void>(message);
            return {};
        }
        virtual void list(const inspect_filter& filter, list_callback done) = 0;
    };
    [[nodiscard]] virtual std::unique_ptr<protocol_client> make_protocol_client(context& context) const = 0;
};

using options = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] std::shared_ptr<const dialect> make_amphp(const options& options);
[[nodiscard]] std::shared_ptr<const dialect> make_redturn(const options& options);
[[nodiscard]] std::shared_ptr<const dialect> make_adv_sem(const options& options);

/// The objection of dialects that lock one name exclusively.
[[nodiscard]] std::string one_exclusive_name(const std::string& dialect, std::span<const claim> claims,
                                             const protocol::enter_options& options);

/// Throws `error` with bad_url.
[[nodiscard]] std::shared_ptr<const dialect> make_dialect(const std::string& name, const options& options);

}  // namespace baton::dialects
