// Child processes with pipes or on a pseudo-terminal, polled with deadlines. Each has a folder and an environment of
// its own, so that the user's files are not touched.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../contents.hpp"
#include "../eventually.hpp"
#include "../folder.hpp"

namespace baton::testing {

using std::chrono::milliseconds;

inline constexpr milliseconds timeout{10'000};  // only a failing test waits this long

template <typename Condition> bool eventually(Condition condition, milliseconds within = timeout) {
    return baton::eventually(condition, within);
}

struct start_options {
    std::vector<std::string> arguments;  // the program's path first
    std::map<std::string, std::string> environment;
    std::string input;  // written to stdin
    bool close_stdin = false;
    std::string out = {}, err = {};  // files instead of the pipes, for instance /dev/full
    bool on_terminal = false;        // a pseudo-terminal, in a session of its own
};

/// A child process. The destructor kills it if it still runs.
class child {
public:
    explicit child(const start_options& options);
    child(const child&) = delete;
    child& operator=(const child&) = delete;
    ~child();

    [[nodiscard]] pid_t id() const { return id_; }
    void signal(int number) const;
    /// Returns the exit code as a shell shows it: 128 plus the signal's number after a signal. None: not ended in time.
    [[nodiscard]] std::optional<int> wait(milliseconds within = timeout);
    [[nodiscard]] std::optional<int> ended_by() const { return by_signal_; }

    /// The output so far. On a terminal, `out` contains both.
    const std::string& out();
    const std::string& err();
    [[nodiscard]] bool says(const std::string& text, milliseconds within = timeout);
    [[nodiscard]] bool complains(const std::string& text, milliseconds within = timeout);
    /// Writes to the terminal.
    void type(const std::string& keys);
    /// Forgets the output so far.
    void forget() { out_.clear(); }

private:
    void read();

    pid_t id_ = 0;
    int out_end_ = -1;
    int err_end_ = -1;
    std::string out_;
    std::string err_;
    std::optional<int> status_;
    std::optional<int> by_signal_;
};

/// Processes whose command line contains `text`.
[[nodiscard]] std::vector<pid_t> processes_with(const std::string& text);
/// The children of a process.
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);
/// The state letter of /proc, for instance T for stopped; '-' if the process does not exist.
[[nodiscard]] char state_of(pid_t id);
[[nodiscard]] inline bool alive(pid_t id) { return state_of(id) != '-' && state_of(id) != 'Z'; }

/// A word that is in no other process's command line.
[[nodiscard]] std::string unique_word();

}  // namespace baton::testing
