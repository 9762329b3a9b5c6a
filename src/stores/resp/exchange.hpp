// Commands and replies on one stream, for a thread that blocks: it sends commands, and waits for the replies until a
// deadline. Pushed messages are dropped. `connection` serves all clients with an event loop; this is for programs that
// ask once.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "baton/store.hpp"
#include "stores/resp/stream.hpp"

namespace baton::resp {

class exchange {
public:
    using clock = std::chrono::steady_clock;
    using command = std::vector<std::string>;

    explicit exchange(bounds bounds) : stream_{bounds, 32U << 10U} {}

    void open(descriptor socket, std::shared_ptr<encryption> encryption = nullptr) {
        stream_.open(std::move(socket), std::move(encryption));
    }
    [[nodiscard]] int socket() const { return stream_.socket(); }

    /// Sends `bytes`, and waits for a reply. None: `failed` has the reason.
    [[nodiscard]] std::optional<value> ask(const std::string& bytes, clock::time_point deadline);
    /// Sends the commands together. Fewer replies than commands: `failed` has the reason.
    [[nodiscard]] std::vector<value> ask(const std::vector<command>& commands, clock::time_point deadline);

    /// After the first failure there are no more replies.
    [[nodiscard]] const store_error& failed() const { return failed_; }

private:
    [[nodiscard]] std::optional<value> next(clock::time_point deadline);
    [[nodiscard]] bool transfer(clock::time_point deadline);
    void fail(store_error why);

    stream stream_;
    store_error failed_;
};

}  // namespace baton::resp
