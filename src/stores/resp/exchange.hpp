// Commands and replies on one stream, for a thread that blocks: it sends commands, and waits for the replies until a
// deadline. Pushed messages are dropped. Clients use `connection`, which the event loop serves; this class is for
// `baton doctor`, which sends a few commands and ends.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "baton/store.hpp"
#include "stores/resp/broken_connection.hpp"
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

    /// Why there are no more replies. None: the exchange can go on.
    struct failure {
        broken_connection broken;
        store_error tls = {};  // without an error, `broken` is the reason
    };
    [[nodiscard]] const std::optional<failure>& failed() const { return failed_; }

private:
    [[nodiscard]] std::optional<value> next(clock::time_point deadline);
    [[nodiscard]] bool transfer(clock::time_point deadline);
    void fail(breakage how, std::error_code system = {});

    stream stream_;
    bool was_answered_ = false;
    std::optional<failure> failed_;
};

}  // namespace baton::resp
