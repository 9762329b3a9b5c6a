// The exit codes of the program, after sysexits.h; scripts rely on them, so that a number never changes its meaning.
#pragma once

namespace baton::cli {

enum class exit_code : int {
    ok = 0,
    no = 1,              ///< the answer is no: `ls NAME` of a name that is free
    usage = 64,          ///< the command line is wrong; nothing was done
    abandoned = 65,      ///< acquired, but marked as abandoned, and `--if-abandoned fail`
    unreachable = 69,    ///< the engine cannot be reached; the command was not started
    internal = 70,       ///< Baton itself could not go on, for instance could not write what it had to say
    not_acquired = 75,   ///< somebody else has it, or the engine pauses, for as long as we were to wait
    lost = 76,           ///< the lock was lost while the command ran, and the command was stopped
    not_permitted = 77,  ///< the engine refuses this user
    configuration = 78,  ///< no engine can be made of the address, or the name's key there holds other data
    max_hold = 124,      ///< stopped at --max-hold, as timeout(1) does
    cannot_execute = 126,
    not_found = 127,
    by_signal = 128,  ///< plus the signal's number
};

[[nodiscard]] constexpr int number(exit_code code) { return static_cast<int>(code); }

}  // namespace baton::cli
