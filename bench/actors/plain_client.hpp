// One blocking connection to a Redis server, for what is no business of the library: floors, and looking at the server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stores/resp/codec.hpp"

namespace baton::bench {

class plain_client {
public:
    /// Throws `failure` (unreachable).
    explicit plain_client(const std::string& url);
    plain_client(const plain_client&) = delete;
    plain_client& operator=(const plain_client&) = delete;
    ~plain_client();

    resp::value call(const std::vector<std::string>& words);
    void say(const std::vector<std::string>& words);
    /// Sends commands as they are.
    void write(std::string_view bytes);
    /// The next answer or message.
    resp::value hear();
    /// The next answer. Messages that come before it are kept.
    resp::value answer();
    /// The messages that were kept, and what the server has published until now.
    [[nodiscard]] std::vector<resp::value> pushed();

private:
    int socket_ = -1;
    resp::decoder decoder_;
    std::vector<resp::value> pushed_;
};

}  // namespace baton::bench
