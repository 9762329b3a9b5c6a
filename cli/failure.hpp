// The exception of the verbs: an exit code and an error message.
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

#include "exit_codes.hpp"

namespace baton::cli {

/// Verbs throw it; the program prints the message and exits with the code.
class failure : public std::runtime_error {
public:
    failure(exit_code code, const std::string& what) : std::runtime_error{what}, code_{code} {}
    [[nodiscard]] exit_code code() const noexcept { return code_; }

private:
    exit_code code_;
};

/// The exit code for an error of the library.
[[nodiscard]] exit_code code_of(std::error_code error);

}  // namespace baton::cli
