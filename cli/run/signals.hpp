// The signals of `run`: blocked from the start and read from a descriptor, so that they interrupt nothing and keep
// their dispositions, which the command inherits.
#pragma once

#include <signal.h>

#include <cstdint>
#include <vector>

namespace baton::cli {

class signals {
public:
    /// Blocks the signals in this thread and in threads that it starts. Ignored signals stay ignored, as after nohup.
    signals();
    signals(const signals&) = delete;
    signals& operator=(const signals&) = delete;
    ~signals();

    [[nodiscard]] int descriptor() const { return descriptor_; }
    /// Takes the signals that have arrived since the last call.
    [[nodiscard]] std::vector<int> take();
    /// The signal mask that baton inherited, for the command.
    [[nodiscard]] const sigset_t& original_mask() const { return original_; }
    /// Whether baton inherited an ignored SIGCHLD, which the command inherits too. Baton itself must not ignore it,
    /// because it could not wait for children.
    [[nodiscard]] bool ignored_children() const { return ignored_children_; }

    /// While baton waits, ^Z stops it like any program. While the command runs, baton passes ^Z on to the command.
    void pass_on_stops(bool pass_on);

private:
    sigset_t original_{};
    sigset_t wanted_{};
    bool ignored_children_;
    int descriptor_ = -1;
};

/// Whether users and supervisors end programs with this signal. Baton passes such signals on and dies of them too.
[[nodiscard]] bool ends_programs(int signal);

/// The target of a signal: this process alone, or the whole job, as from a terminal.
enum class signal_target : std::uint8_t { baton, job };

/// Stops the target with `signal` (SIGTSTP, SIGTTIN, SIGTTOU). False if the kernel refuses, because no shell could
/// continue the process.
bool stop(signal_target target, int signal);

/// Ends this process by that signal, without a core.
[[noreturn]] void die_of(signal_target target, int signal);

}  // namespace baton::cli
