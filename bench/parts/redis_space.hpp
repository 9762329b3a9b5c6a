// A space on a private server, and the server's time of its calls: microseconds from the server's own statistics (INFO
// commandstats), which include neither socket nor client.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/actors/plain_client.hpp"
#include "bench/actors/server_accounts.hpp"
#include "bench/parts/parts.hpp"
#include "bench/scene.hpp"
#include "stores/redis/function_call.hpp"
#include "stores/redis/function_reply.hpp"

namespace baton::bench {

inline protocol::session_id id_of(std::size_t session) { return {0x9e3779b97f4a7c15ULL * (session + 1), ~session}; }

/// The result of one call that runs alone on the server.
struct timed_answer {
    double microseconds = 0;
    resp::value answer;
};

class redis_space {
public:
    static constexpr std::string_view name = "bench";

    explicit redis_space(const std::string& server, const redis::function_library& library = redis::server_library())
        : library_{library}, server_{private_server(server)} {
        const resp::value loaded = connection_.call({"FUNCTION", "LOAD", std::string{library_.text}});
        require(loaded.kind != resp::kind::error, "the library is loaded: " + loaded.text);
        std::string out;
        encode(out, redis::hello_call(name, {std::chrono::hours{1}, {}, false}), library_);
        connection_.write(out);
        const auto answer = redis::decode_reply(connection_.answer().text, {});
        require(answer.has_value(), "hello gets a reply");
        epoch_ = answer->head.epoch;
    }

    [[nodiscard]] plain_client& connection() { return connection_; }
    [[nodiscard]] std::string connection_url() const { return *server_->redis_url(); }
    [[nodiscard]] pid_t process() const { return server_->server(); }
    [[nodiscard]] epoch current_epoch() const { return epoch_; }
    /// Returns a number that no other request has.
    [[nodiscard]] std::uint64_t next_number() { return ++number_; }

    // The batch: calls that are sent together.

    void add(const redis::function_call& call) {
        encode(batch_, call, library_);
        ++count_;
    }
    void add(const protocol::command& command) { add(redis::call_of(name, epoch_, command)); }
    void add_words(const std::vector<std::string>& words) {
        resp::encode_command(batch_, words);
        ++count_;
    }

    /// Sends the batch and reads its replies. If a letter is given, each reply must have it after the head.
    void run(char letter = '\0') {
        total_.reset();
        connection_.write(batch_);
        batch_.clear();
        for (; count_ > 0; --count_) check(connection_.answer(), letter);
    }
    /// The same; returns the server's mean time per call, in us.
    double run_timed(char letter = '\0') {
        connection_.call({"CONFIG", "RESETSTAT"});
        run(letter);
        const call_totals totals = script_totals(stats());
        return totals.microseconds / totals.calls;
    }
    /// The number of runs of each Redis command inside the scripts since `run_timed` began.
    [[nodiscard]] std::map<std::string, double> commands_inside() { return inner_commands(stats()); }

    /// Times one call to the microsecond. `bytes` is one encoded command.
    timed_answer ask_timed(std::string bytes, char letter = '\0') {
        resp::encode_command(bytes, {"INFO", "commandstats"});
        if (!total_) total_ = script_totals(stats()).microseconds;
        connection_.write(bytes);
        timed_answer result{-*total_, connection_.answer()};
        total_ = script_totals(connection_.answer().text).microseconds;
        check(result.answer, letter);
        result.microseconds += *total_;
        return result;
    }
    timed_answer ask_timed(const redis::function_call& call, char letter = '\0') {
        std::string bytes;
        encode(bytes, call, library_);
        return ask_timed(std::move(bytes), letter);
    }
    timed_answer ask_timed(const protocol::command& command, char letter = '\0') {
        return ask_timed(redis::call_of(name, epoch_, command), letter);
    }

    [[nodiscard]] double used_memory() {
        const std::string info = connection_.call({"INFO", "memory"}).text;
        return std::stod(info.substr(info.find("used_memory:") + 12));
    }

private:
    std::string stats() { return connection_.call({"INFO", "commandstats"}).text; }
    static void check(const resp::value& answer, char letter) {
        require(answer.kind != resp::kind::error, answer.text);
        if (letter == '\0') return;
        require(answer.text.size() > redis::head_size, answer.text);
        const char found = answer.text[redis::head_size];
        const bool lists_requests = letter == 'a' && found == 'A';  // `alive` of a session with few requests
        require(found == letter || lists_requests, answer.text);
    }

    redis::function_library library_;
    std::unique_ptr<stage> server_;
    plain_client connection_{*server_->redis_url()};
    epoch epoch_ = 0;
    std::uint64_t number_ = 0;
    std::string batch_;
    std::size_t count_ = 0;
    std::optional<double> total_;  // the server's time for all calls so far, in us; none: must be read
};

}  // namespace baton::bench
