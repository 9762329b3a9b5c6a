// The program as a process: started with pipes or on a pseudo-terminal, watched with deadlines. Nothing of the user's
// is touched: each has a folder and an environment of its own.
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

inline constexpr milliseconds patience{10'000};  // for what happens soon; only a failure takes so long

template <typename Condition> bool eventually(Condition condition, milliseconds within = patience) {
    return baton::eventually(condition, within);
}

struct start_options {
    std::vector<std::string> arguments;  // the program's path first
    std::map<std::string, std::string> environment;
    std::string input;  // what is on stdin
    bool close_stdin = false;
    std::string out = {}, err = {};  // files in place of the pipes, as /dev/full
    bool on_terminal = false;        // a pseudo-terminal, in a session of its own
};

/// A child process. Its end, if nothing else did it, is the destructor's.
class child {
public:
    explicit child(const start_options& options);
    child(const child&) = delete;
    child& operator=(const child&) = delete;
    ~child();

    [[nodiscard]] pid_t id() const { return id_; }
    void signal(int number) const;
    /// As a shell sees it: the exit code, or 128 plus the signal. None: it did not end in time.
    [[nodiscard]] std::optional<int> wait(milliseconds within = patience);
    [[nodiscard]] std::optional<int> ended_by() const { return by_signal_; }

    /// All that has come until now; on a terminal both are one.
    const std::string& out();
    const std::string& err();
    [[nodiscard]] bool says(const std::string& text, milliseconds within = patience);
    [[nodiscard]] bool complains(const std::string& text, milliseconds within = patience);
    /// To the terminal.
    void type(const std::string& keys);
    /// Forgets what has been said.
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
/// The children of a process that are called so.
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);
/// T for stopped, and so on; '-' if there is none.
[[nodiscard]] char state_of(pid_t id);
[[nodiscard]] inline bool alive(pid_t id) { return state_of(id) != '-' && state_of(id) != 'Z'; }

/// A word that no other process has in its command line.
[[nodiscard]] std::string unique_word();

}  // namespace baton::testing
