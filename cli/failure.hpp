// How the verbs end when they cannot go on: an exit code and a sentence for people.
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

#include "exit_codes.hpp"

namespace baton::cli {

/// Thrown by verbs; main prints it and ends with the code.
class failure : public std::runtime_error {
public:
    failure(exit_code code, const std::string& what) : std::runtime_error{what}, code_{code} {}
    [[nodiscard]] exit_code code() const noexcept { return code_; }

private:
    exit_code code_;
};

/// The exit code that fits an error of the library.
[[nodiscard]] exit_code code_of(std::error_code error);

}  // namespace baton::cli
