// What is said first on every connection: who we are, which database; the scripts that the server does not have yet, so
// that commands, which name them only, are performed in the order in which they are sent; and `hello`, which makes the
// space or finds it. Pure: an answer comes in, the next words go out.
#pragma once

#include "stores/redis/address.hpp"
#include "stores/redis/script_call.hpp"
#include "stores/resp/connection.hpp"

namespace baton::redis {

class greeting {
public:
    explicit greeting(const detail::redis_address& address);

    [[nodiscard]] resp::greeting_step begin();
    [[nodiscard]] resp::greeting_step answered(const resp::value& answer);

private:
    enum class step : std::uint8_t { protocol, database, known_scripts, script, hello };

    [[nodiscard]] resp::greeting_step say(step next);
    [[nodiscard]] resp::greeting_step refused(std::string_view error);
    [[nodiscard]] resp::greeting_step next_script();

    const detail::redis_address& address_;
    const script_call hello_;
    step step_ = step::protocol;
    std::vector<const script_text*> missing_;
};

}  // namespace baton::redis
