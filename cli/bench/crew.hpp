// Those who take turns in a scenario, all alike and each by itself: processes, of ours or of a peer's, or, where only
// one process can be, threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/child.hpp"
#include "bench/stage.hpp"

namespace baton::bench {

/// One time that somebody held something; CLOCK_MONOTONIC in ns.
struct held_turn {
    std::size_t who = 0;
    std::int64_t asked = 0, acquired = 0, releasing = 0, released = 0;
};

class actor {
public:
    /// Somebody of ours.
    actor(const stage& stage, std::chrono::milliseconds ttl);
    /// The words that start a peer.
    explicit actor(const std::vector<std::string>& words);
    actor(const actor&) = delete;
    actor& operator=(const actor&) = delete;
    ~actor();

    void tell(const std::string& line) const;
    /// The next line. Throws `failure` if none comes in time, or it has ended.
    [[nodiscard]] std::string hear(std::chrono::milliseconds limit = std::chrono::seconds{60});
    /// A line if there is one.
    [[nodiscard]] std::optional<std::string> heard();
    [[nodiscard]] int descriptor() const { return out_; }
    /// All turns since the last report.
    [[nodiscard]] std::vector<held_turn> report(std::size_t who);
    /// kill -9; only of processes.
    void kill() { child_->kill(); }

private:
    std::optional<std::string> take_line();
    bool read_more(int timeout_ms);

    int in_ = -1;   // its input
    int out_ = -1;  // its output
    std::string heard_;
    std::unique_ptr<child> child_;
    std::thread thread_;
};

/// Who plays: ours, or the peer of that name.
struct cast {
    std::string subject = "baton";
    std::vector<std::string> words = {};  // of a peer; the address and kind are in it
};

using crew = std::vector<std::unique_ptr<actor>>;
[[nodiscard]] crew make_crew(const stage& stage, const cast& cast, std::size_t size,
                             std::chrono::milliseconds ttl = std::chrono::seconds{10});

/// An answer that begins otherwise is a failure of whoever gave it, and throws `failure`.
void require(const std::string& said, const std::string& beginning);

/// Waits until one of them has a line, and gives its index.
[[nodiscard]] std::optional<std::size_t> next_speaker(const crew& crew, std::chrono::milliseconds limit);

/// All turns of all of them, by the time at which they began.
[[nodiscard]] std::vector<held_turn> reports(const crew& crew);

}  // namespace baton::bench
