// The exit codes of the program, after sysexits.h; scripts rely on them, so that a number never changes its meaning.
#pragma once

namespace baton::cli {

enum class exit_code : int {
    ok = 0,
    usage = 64,        ///< the command line is wrong; nothing was done
    unavailable = 69,  ///< nothing serves the address that was asked for, or another does
    internal = 70,     ///< Baton itself could not go on, for instance could not write what it had to say
};

}  // namespace baton::cli
