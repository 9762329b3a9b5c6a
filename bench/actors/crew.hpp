// Those who take turns in a scenario, all alike and each by itself: processes, of ours or of a peer's, or, where only
// one process can be, threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/actors/child.hpp"
#include "bench/actors/line_reader.hpp"
#include "bench/actors/stage.hpp"

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
    [[nodiscard]] int descriptor() const { return out_; }
    /// All turns since the last report.
    [[nodiscard]] std::vector<held_turn> report(std::size_t who);
    /// kill -9; only of processes.
    void kill() { child_->kill(); }
    /// The same without waiting for the end.
    void signal_kill() const { child_->signal_kill(); }

private:
    /// Makes both, and gives the ends that are the actor's: its input and its output.
    std::pair<int, int> make_pipes();
    void start(const std::vector<std::string>& words);

    int in_ = -1;   // its input
    int out_ = -1;  // its output
    std::optional<line_reader> lines_;
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
void require_answer(const std::string& said, const std::string& beginning);

/// Waits until one of them has a line, and gives its index.
[[nodiscard]] std::optional<std::size_t> next_speaker(const crew& crew, std::chrono::milliseconds limit);

/// All turns of all of them, by the time at which they began.
[[nodiscard]] std::vector<held_turn> reports(const crew& crew);

}  // namespace baton::bench
