// The exit codes of the program, after sysexits.h. Scripts rely on them: a number never changes its meaning.
#pragma once

namespace baton::cli {

enum class exit_code : int {
    ok = 0,
    no = 1,              ///< a negative result, for instance `ls NAME` of a free name; `doctor`: a warning or a fault
    usage = 64,          ///< the command line is wrong; nothing was done
    abandoned = 65,      ///< a name is marked as abandoned, with `--if-abandoned fail`
    unreachable = 69,    ///< the store cannot be reached; the command was not started
    internal = 70,       ///< an error inside Baton, for instance it cannot write its output
    not_acquired = 75,   ///< busy, or not granted within the wait
    lost = 76,           ///< the lock was lost while the command ran, and the command was stopped
    not_permitted = 77,  ///< the store refuses this user
    configuration = 78,  ///< the address or the settings are wrong, or the name's key there holds other data
    max_hold = 124,      ///< the command was stopped at --max-hold, as with timeout(1)
    cannot_execute = 126,
    not_found = 127,
    by_signal = 128,  ///< plus the number of the signal
};

[[nodiscard]] constexpr int number(exit_code code) { return static_cast<int>(code); }

}  // namespace baton::cli
