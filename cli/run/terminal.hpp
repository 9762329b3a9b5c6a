// The controlling terminal: who is in the foreground of it, baton's job or the command.
//
// Started by an interactive shell, as a job of its own whose input and output are the terminal, baton gives the
// terminal to the command at once: ^C and ^Z are the command's then, and `vi` works. In a pipeline or a script others
// of the same job may need the terminal, or wait for ^C: there the command gets it when it asks for it, by being
// stopped for using it from the background.
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
    /// Whether the command is to have it from its first moment on. Then it counts as given, whatever comes of it.
    [[nodiscard]] bool give_at_once();
    /// Our job is in the foreground, and the command is not.
    [[nodiscard]] bool ours() const;
    [[nodiscard]] bool given() const { return given_; }

    /// The group of the command.
    void started(pid_t group);
    void give();
    /// After a stop the shell may have put us into the foreground again, or not.
    void after_continue();
    void take_back();
    /// The command may have died with the terminal in a state that suits nobody.
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
