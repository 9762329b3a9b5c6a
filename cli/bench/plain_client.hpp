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

    [[nodiscard]] resp::value call(const std::vector<std::string>& words);
    void say(const std::vector<std::string>& words);
    /// The next answer or message.
    [[nodiscard]] resp::value hear();

private:
    void write(std::string_view bytes);

    int socket_ = -1;
    resp::decoder decoder_;
};

/// `field:value` in the answer to INFO; 0 if it is not there.
[[nodiscard]] double number_in(std::string_view info, std::string_view field);

}  // namespace baton::bench
