// The controlling terminal, and whether baton's job or the command is in its foreground.
//
// If baton is a job of its own in an interactive shell, with stdin and stdout on the terminal, it gives the terminal to
// the command at once: the command receives ^C and ^Z, and `vi` works. In a pipeline or a script, other processes of
// the job may need the terminal or wait for ^C: there the command gets the terminal when the kernel stops it for using
// the terminal from the background.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>

namespace baton::cli {

class terminal {
public:
    terminal();
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;
    ~terminal();

    /// -1 if there is none.
    [[nodiscard]] int descriptor() const { return descriptor_; }
    /// Whether the command gets the terminal from its start. If so, the terminal counts as given from now on.
    [[nodiscard]] bool give_at_once();
    /// Whether baton's job is in the foreground.
    [[nodiscard]] bool ours() const;
    [[nodiscard]] bool given() const { return given_; }

    /// Sets the process group of the command.
    void started(pid_t group);
    void give();
    /// Call after SIGCONT: gives the terminal back to the command if the shell put the job into the foreground.
    void after_continue();
    void take_back();
    /// Restores the modes from before the command, which may have died while it had changed them.
    void restore_modes();

private:
    int descriptor_ = -1;
    bool at_once_ = false;
    bool given_ = false;
    bool wanted_ = false;  // the command had it before it was stopped
    pid_t group_ = 0;
    std::optional<termios> modes_;
};

}  // namespace baton::cli
