// All users of a machine can read a process's command line, so baton removes passwords from its own.
#pragma once

namespace baton::cli {

/// Overwrites the passwords of addresses with stars, up to `--`. Call it after copying the arguments.
void hide_passwords(int argc, char** argv);

}  // namespace baton::cli
