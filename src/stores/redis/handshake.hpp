// The handshake with a Redis server: HELLO with the credentials, SELECT, loading of what later commands call by name,
// and a last command. Baton's own protocol loads the function library, and its last command is `hello`, which opens or
// creates the space. A dialect loads scripts, and brings a last command of its own. No I/O: each reply leads to the
// next command.
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
    /// Encodes the last command. Called for each attempt, because what the client knows may have changed.
    using words = std::function<std::string(bool in_cluster)>;
    /// Reads the reply to the last command, including an error.
    using reading = std::function<resp::handshake_step(const resp::value&)>;

    handshake(const detail::redis_address& address, std::span<const script_text> scripts, std::string last_words,
              reading read_last);
    /// The last command calls a function of `library`. If the server does not have the function, the handshake loads
    /// the library, and sends the last command again. A user that may not run FCALL sends `viewing_words` in place of
    /// the last command, and may only inspect; if they are empty, the user is refused.
    handshake(const detail::redis_address& address, const function_library& library, words last_words,
              reading read_last, words viewing_words, reading read_viewing);

    [[nodiscard]] resp::handshake_step begin();
    [[nodiscard]] resp::handshake_step answered(const resp::value& answer);
    /// The last command again, with other words.
    [[nodiscard]] resp::handshake_step repeat_last() { return say(step::last); }
    /// Whether the server is a node of a cluster.
    [[nodiscard]] bool in_cluster() const { return in_cluster_; }
    /// Whether the user of this connection may only inspect.
    [[nodiscard]] bool only_inspects() const { return step_ == step::viewing; }

private:
    enum class step : std::uint8_t { protocol, database, known_scripts, script, library, last, viewing };

    [[nodiscard]] resp::handshake_step next_step(const resp::value& answer);
    [[nodiscard]] resp::handshake_step say(step next);
    [[nodiscard]] resp::handshake_step ask_for_known();
    [[nodiscard]] resp::handshake_step next_script();
    [[nodiscard]] resp::handshake_step answered_library(const resp::value& answer);
    [[nodiscard]] resp::handshake_step answered_last(const resp::value& answer);
    [[nodiscard]] resp::handshake_step answered_viewing(const resp::value& answer);

    const detail::redis_address& address_;
    const std::span<const script_text> scripts_;
    const function_library* const library_ = nullptr;
    const words last_words_;
    const reading read_last_;
    const words viewing_words_;
    const reading read_viewing_;
    step step_ = step::protocol;
    std::vector<const script_text*> missing_;
    bool in_cluster_ = false;
    bool library_loaded_ = false;
    std::string denied_;  // the error of FCALL, for a user that may not run it
};

/// The first command of every handshake: HELLO 3, with the credentials of the address.
void say_hello(std::string& out, const detail::redis_address& address);

/// The handshake of Baton's own protocol. The functions are called for each attempt. `may_view`: the connection is of
/// use if the user may only inspect. `attested`: the last argument of `hello_call`.
[[nodiscard]] handshake native_handshake(const detail::redis_address& address, std::function<known_history()> known,
                                         std::function<bool()> may_view, std::function<std::string()> attested);

}  // namespace baton::redis
