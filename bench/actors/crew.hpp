// The workers of a scenario: identical processes of ours or of a peer library, or threads where all clients must be in
// one process.
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

/// The times of one cycle of a worker; CLOCK_MONOTONIC in ns.
struct held_turn {
    std::size_t who = 0;
    std::int64_t asked = 0, acquired = 0, releasing = 0, released = 0;
};

class actor {
public:
    /// A worker of ours.
    actor(const stage& stage, std::chrono::milliseconds ttl);
    /// The command line that starts a peer.
    explicit actor(const std::vector<std::string>& words);
    actor(const actor&) = delete;
    actor& operator=(const actor&) = delete;
    ~actor();

    void send(const std::string& line) const;
    /// The next line of the worker. Throws `failure` if none arrives in time, or if the worker has ended.
    [[nodiscard]] std::string receive(std::chrono::milliseconds limit = std::chrono::seconds{60});
    [[nodiscard]] int descriptor() const { return out_; }
    /// All cycles since the last report.
    [[nodiscard]] std::vector<held_turn> report(std::size_t who);
    /// Sends SIGKILL; for processes only.
    void kill() { child_->kill(); }
    /// The same, without waiting for the end.
    void signal_kill() const { child_->signal_kill(); }

private:
    /// Creates both pipes; returns the worker's ends: its input and its output.
    std::pair<int, int> make_pipes();
    void start(const std::vector<std::string>& words);

    int in_ = -1;   // the worker's input
    int out_ = -1;  // the worker's output
    std::optional<line_reader> lines_;
    std::unique_ptr<child> child_;
    std::thread thread_;
};

/// The workers' library: Baton, or the peer of that name.
struct cast {
    std::string subject = "baton";
    std::vector<std::string> words = {};  // the command line of a peer, with address and kind
};

using crew = std::vector<std::unique_ptr<actor>>;
[[nodiscard]] crew make_crew(const stage& stage, const cast& cast, std::size_t size,
                             std::chrono::milliseconds ttl = std::chrono::seconds{10});

/// Throws `failure` with the reply's text if the reply does not begin with `word`.
void require_reply(const std::string& reply, const std::string& beginning);

/// Waits until a worker has a line, and returns its index.
[[nodiscard]] std::optional<std::size_t> next_with_output(const crew& crew, std::chrono::milliseconds limit);

/// All cycles of all workers, ordered by the time of the acquire.
[[nodiscard]] std::vector<held_turn> reports(const crew& crew);

}  // namespace baton::bench
