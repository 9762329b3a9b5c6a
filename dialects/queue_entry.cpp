#include "queue_entry.hpp"

#include <algorithm>
#include <cstdlib>

#include "baton/error.hpp"
#include "stores/redis/reply_class.hpp"

namespace baton::dialects {

words call(const redis::script_text& script, std::initializer_list<std::string> keys,
           std::initializer_list<std::string> arguments) {
    words said{"EVALSHA", std::string{script.sha1}, std::to_string(keys.size())};
    said.insert(said.end(), keys);
    said.insert(said.end(), arguments);
    return said;
}

const resp::value* error_in(const answers& answers) {
    const auto found = std::ranges::find(answers, resp::kind::error, &resp::value::kind);
    return found == answers.end() ? nullptr : &*found;
}

claim_result failure_of(const resp::value& error) {
    // Errors of scripts begin with other words on some servers.
    if (error.text.find("WRONGTYPE") != std::string::npos)
        return {.status = claim_status::failed, .error = errc::foreign_data};
    return {.status = claim_status::failed, .error = detail::error_of(detail::classify(error.text))};
}

server_time time_in(const resp::value& answer) {
    if (answer.items.size() != 2) return {};
    return server_time{std::chrono::seconds{std::atoll(answer.items[0].text.c_str())} +
                       std::chrono::microseconds{std::atoll(answer.items[1].text.c_str())}};
}

}  // namespace baton::dialects
