// What is said first on every connection: who we are, which database; the scripts that the server does not have yet, so
// that commands, which name them only, are performed in the order in which they are sent; and the last words, which are
// the protocol's own: `hello`, which makes a space or finds it, or those of a dialect. Pure: an answer comes in, the
// next words go out.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "stores/redis/address.hpp"
#include "stores/redis/scripts.hpp"
#include "stores/resp/connection.hpp"

namespace baton::redis {

class greeting {
public:
    /// What the answer to the last words means, an error or not.
    using reading = std::function<resp::greeting_step(const resp::value&)>;

    greeting(const detail::redis_address& address, std::span<const script_text> scripts, std::string last_words,
             reading read_last);

    [[nodiscard]] resp::greeting_step begin();
    [[nodiscard]] resp::greeting_step answered(const resp::value& answer);

private:
    enum class step : std::uint8_t { protocol, database, known_scripts, script, last };

    [[nodiscard]] resp::greeting_step say(step next);
    [[nodiscard]] resp::greeting_step ask_for_known();
    [[nodiscard]] resp::greeting_step next_script();

    const detail::redis_address& address_;
    const std::span<const script_text> scripts_;
    const std::string last_words_;
    const reading read_last_;
    step step_ = step::protocol;
    std::vector<const script_text*> missing_;
};

/// What an error means before the connection is up. What time may heal is tried again; what is wrong with the address,
/// the user or the server's settings is not.
[[nodiscard]] resp::greeting_step refused_greeting(std::string_view error);

/// That of our own protocol.
[[nodiscard]] greeting native_greeting(const detail::redis_address& address);

}  // namespace baton::redis
