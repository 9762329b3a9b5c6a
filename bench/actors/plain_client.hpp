// One blocking connection to a Redis server, for floors and for reading the server's statistics.
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
    void send(const std::vector<std::string>& words);
    /// Sends encoded commands.
    void write(std::string_view bytes);
    /// The next reply or pushed message.
    resp::value receive();
    /// The next reply. Messages that arrive before it are kept.
    resp::value answer();
    /// The kept messages, and those that the server has published until now.
    [[nodiscard]] std::vector<resp::value> pushed();

private:
    int socket_ = -1;
    resp::decoder decoder_;
    std::vector<resp::value> pushed_;
};

}  // namespace baton::bench
