// A command line is seen by everyone on the machine: what is secret in ours does not stay there.
#pragma once

namespace baton::cli {

/// Puts stars over the passwords of addresses, once all that is needed was copied. What comes after -- is the
/// command's.
void hide_passwords(int argc, char** argv);

}  // namespace baton::cli
