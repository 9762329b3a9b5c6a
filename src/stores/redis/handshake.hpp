// The handshake of a connection: who we are, which database; what the server has to know before commands can name it;
// and the last words, which are the protocol's own. Our own protocol needs the function library, and its last words are
// `hello`, which makes a space or finds it; a dialect needs scripts. Pure: an answer comes in, the next words go out.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "stores/redis/address.hpp"
#include "stores/redis/function_call.hpp"
#include "stores/redis/function_library.hpp"
#include "stores/redis/script_text.hpp"
#include "stores/resp/connection.hpp"

namespace baton::redis {

class handshake {
public:
    /// The last words of an attempt: what the client knows may have changed since the one before.
    using words = std::function<std::string()>;
    /// What the answer to the last words means, an error or not.
    using reading = std::function<resp::handshake_step(const resp::value&)>;

    handshake(const detail::redis_address& address, std::span<const script_text> scripts, std::string last_words,
              reading read_last);
    /// The last words call a function of the library: if the server does not have it, it is loaded, and they are said
    /// again.
    handshake(const detail::redis_address& address, const function_library& library, words last_words,
              reading read_last);

    [[nodiscard]] resp::handshake_step begin();
    [[nodiscard]] resp::handshake_step answered(const resp::value& answer);

private:
    enum class step : std::uint8_t { protocol, database, known_scripts, script, library, last };

    [[nodiscard]] resp::handshake_step next_step(const resp::value& answer);
    [[nodiscard]] resp::handshake_step say(step next);
    [[nodiscard]] resp::handshake_step ask_for_known();
    [[nodiscard]] resp::handshake_step next_script();
    [[nodiscard]] resp::handshake_step answered_library(const resp::value& answer);
    [[nodiscard]] resp::handshake_step answered_last(const resp::value& answer);

    const detail::redis_address& address_;
    const std::span<const script_text> scripts_;
    const function_library* const library_ = nullptr;
    const words last_words_;
    const reading read_last_;
    step step_ = step::protocol;
    std::vector<const script_text*> missing_;
    bool library_loaded_ = false;
};

/// What an error means before the connection is up. What time may heal is tried again; what is wrong with the address,
/// the user or the server's settings is not.
[[nodiscard]] resp::handshake_step refused_handshake(std::string_view error);

/// That of our own protocol. `known` is asked on every attempt.
[[nodiscard]] handshake native_handshake(const detail::redis_address& address, std::function<known_history()> known);

}  // namespace baton::redis
