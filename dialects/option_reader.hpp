// Parses the options of a dialect in an address. Each option is read once; `finish` refuses the options that were not
// read.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dialect.hpp"

namespace baton::dialects {

class option_reader {
public:
    option_reader(std::string dialect, const options& given)
        : dialect_{std::move(dialect)}, given_{given.begin(), given.end()} {}

    [[nodiscard]] std::string text(const std::string& name, std::string usual, std::size_t longest);
    [[nodiscard]] std::chrono::milliseconds time(const std::string& name, std::chrono::milliseconds usual,
                                                 std::chrono::milliseconds low, std::chrono::milliseconds high);
    /// Returns the index of the value in `of`.
    [[nodiscard]] std::size_t choice(const std::string& name, const std::vector<std::string>& of, std::size_t usual);
    [[nodiscard]] bool has(const std::string& name) const { return given_.contains(name); }
    /// Throws `error` with bad_url if an option was not read.
    void finish() const;

private:
    std::string dialect_;
    std::map<std::string, std::string> given_;
    std::vector<std::string> known_;
};

}  // namespace baton::dialects
