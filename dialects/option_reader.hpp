// The options of a dialect, as the address gives them: each is read once, and what nobody has read is refused.
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
    /// The index of the one that is chosen.
    [[nodiscard]] std::size_t choice(const std::string& name, const std::vector<std::string>& of, std::size_t usual);
    [[nodiscard]] bool has(const std::string& name) const { return given_.contains(name); }
    /// Throws `error` with bad_url if something is left.
    void finish() const;

private:
    std::string dialect_;
    std::map<std::string, std::string> given_;
    std::vector<std::string> known_;
};

}  // namespace baton::dialects
