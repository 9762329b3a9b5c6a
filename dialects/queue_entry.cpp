#include "queue_entry.hpp"

#include <algorithm>
#include <cstdlib>

#include "baton/error.hpp"
#include "stores/redis/reply_class.hpp"

namespace baton::dialects {

redis_command call(const redis::script_text& script, std::initializer_list<std::string> keys,
                   std::initializer_list<std::string> arguments) {
    redis_command command{"EVALSHA", std::string{script.sha1}, std::to_string(keys.size())};
    command.insert(command.end(), keys);
    command.insert(command.end(), arguments);
    return command;
}

const resp::value* error_in(const replies& replies) {
    const auto found = std::ranges::find(replies, resp::kind::error, &resp::value::kind);
    return found == replies.end() ? nullptr : &*found;
}

claim_result failure_of(const resp::value& error) {
    // Some servers put other words before the error of a script.
    if (error.text.find("WRONGTYPE") != std::string::npos)
        return {.status = claim_status::failed, .error = errc::foreign_data};
    return {.status = claim_status::failed, .error = detail::error_of(detail::classify(error.text))};
}

server_time time_in(const resp::value& reply) {
    if (reply.items.size() != 2) return {};
    return server_time{std::chrono::seconds{std::atoll(reply.items[0].text.c_str())} +
                       std::chrono::microseconds{std::atoll(reply.items[1].text.c_str())}};
}

}  // namespace baton::dialects
