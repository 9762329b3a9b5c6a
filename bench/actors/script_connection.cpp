#include "bench/actors/script_connection.hpp"

#include <stdexcept>

#include "stores/redis/connect.hpp"
#include "stores/redis/refusals.hpp"

namespace baton::bench {

std::string encoded(const std::vector<std::string>& words) {
    std::string bytes;
    resp::encode_command(bytes, words);
    return bytes;
}

script_user::script_user(detail::event_loop& loop, const std::string& url, std::string_view script)
    : connection{loop, {}},
      address_{detail::parse_redis_address(url)},
      handshake_{address_, redis::no_scripts, encoded({"SCRIPT", "LOAD", std::string{script}}),
                 [this](const resp::value& answer) -> resp::handshake_step {
                     if (answer.kind == resp::kind::error)
                         return redis::refused(address_, {redis::origin::reply, answer.text});
                     digest_ = answer.text;
                     return {.epoch = 1};
                 }} {}

void script_user::load() {
    start();
    loop().wait(connected_);
    if (digest_.empty()) throw std::runtime_error{"cannot load a script into the server"};
}

std::string script_user::call(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"EVALSHA", digest_});
    return encoded(arguments);
}

void script_user::open_socket(resp::socket_result done) { detail::connect_redis(loop(), address_, std::move(done)); }

}  // namespace baton::bench
