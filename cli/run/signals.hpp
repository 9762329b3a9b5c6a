// The signals of `run`: blocked from the start and read from a descriptor, so that nothing is interrupted and their
// dispositions, which the command inherits, stay as they were.
#pragma once

#include <signal.h>

#include <cstdint>
#include <vector>

namespace baton::cli {

class signals {
public:
    /// Blocks them in this thread, and so in those that it starts. What is ignored stays ignored, as after nohup.
    signals();
    signals(const signals&) = delete;
    signals& operator=(const signals&) = delete;
    ~signals();

    [[nodiscard]] int descriptor() const { return descriptor_; }
    /// Those that have come since.
    [[nodiscard]] std::vector<int> take();
    /// As baton was given it: the command's.
    [[nodiscard]] const sigset_t& original_mask() const { return original_; }
    /// Whether SIGCHLD was ignored, as it stays for the command. Here it cannot be: then nobody could be waited for.
    [[nodiscard]] bool ignored_children() const { return ignored_children_; }

    /// While baton waits, ^Z stops it as any program. While the command runs, ^Z is taken and passed on to the command.
    void pass_on_stops(bool pass_on);

private:
    sigset_t original_{};
    sigset_t wanted_{};
    bool ignored_children_;
    int descriptor_ = -1;
};

/// Those by which people and supervisors end a program: passed on to the command, and baton ends by them too.
[[nodiscard]] bool ends_programs(int signal);

/// Whom a signal is for: this process alone, or the whole job that it is part of, as from a terminal.
enum class whom : std::uint8_t { baton, job };

/// Stops as `signal` (SIGTSTP, SIGTTIN, SIGTTOU) does by itself. False where the kernel refuses: where no shell could
/// continue us.
bool stop(whom whom, int signal);

/// Ends this process by that signal, without a core.
[[noreturn]] void die_of(whom whom, int signal);

}  // namespace baton::cli
