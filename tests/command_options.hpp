// The command line of the test programs that developers run: simulate, fleet, differential, state_loss.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace baton {

class command_options {
public:
    static constexpr int exit_usage = 64;

    command_options(int count, char** arguments, std::string_view program, std::string_view usage)
        : count_{count}, arguments_{arguments}, program_{program}, usage_{usage} {}

    /// The next option; none at the end. `--help` prints the usage and exits with 0.
    std::optional<std::string_view> next() {
        if (++at_ >= count_) return {};
        option_ = arguments_[at_];
        if (option_ == "--help" || option_ == "-h") {
            std::cout << usage_;
            std::exit(0);
        }
        return option_;
    }

    /// The value of the option.
    std::string_view text() {
        if (++at_ >= count_) fail(std::string{option_} + " takes a value");
        return arguments_[at_];
    }
    std::uint64_t number(std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
        return number_in(text(), least, most);
    }
    /// A number in the value of the option.
    std::uint64_t number_in(std::string_view text, std::uint64_t least = 0,
                            std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const {
        std::uint64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc{} && end == text.data() + text.size() && number >= least && number <= most)
            return number;
        std::string range;
        if (least > 0) range = " from " + std::to_string(least);
        if (most < std::numeric_limits<std::uint64_t>::max()) range += " to " + std::to_string(most);
        fail(std::string{option_} + " takes a number" + range + ", not '" + std::string{text} + "'");
    }

    [[noreturn]] void unknown() const { fail("unknown option '" + std::string{option_} + "'"); }
    [[noreturn]] void fail(const std::string& message) const {
        std::cerr << program_ << ": " << message << '\n' << usage_;
        std::exit(exit_usage);
    }

private:
    int count_;
    char** arguments_;
    std::string_view program_;
    std::string_view usage_;
    std::string_view option_;
    int at_ = 0;
};

}  // namespace baton
