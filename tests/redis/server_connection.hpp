// A blocking connection to a private server, in RESP3: replies arrive in order, pushed messages are kept separately.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "stores/redis/function_call.hpp"
#include "stores/resp/codec.hpp"

namespace baton::redis {

/// Throws std::system_error if the connection fails; the object must not be used after that.
class server_connection {
public:
    explicit server_connection(const std::string& socket);
    server_connection(const server_connection&) = delete;
    server_connection& operator=(const server_connection&) = delete;
    ~server_connection();

    void send(const std::string& bytes);
    resp::value answer();
    resp::value ask(const std::vector<std::string>& words);
    std::vector<resp::value> pushed();

private:
    resp::value next();

    int socket_ = -1;
    // The reply to a renewal of 30,000 requests has more than 1 MB.
    resp::decoder decoder_{resp::bounds{.bulk = 64U << 20U, .values = 1U << 22U, .message = 256U << 20U}};
    std::vector<resp::value> pushed_;
};

}  // namespace baton::redis
