#include "hide_passwords.hpp"

#include <algorithm>
#include <string_view>

namespace baton::cli {
namespace {

/// Hides everything up to the last @, so that a password with an unescaped @ is hidden too.
void hide_password(char* argument) {
    const std::string_view text{argument};
    const std::size_t scheme = text.find("://");
    const std::size_t end = text.rfind('@');
    if (scheme == std::string_view::npos || end == std::string_view::npos) return;
    const std::size_t colon = text.find(':', scheme + 3);
    if (colon < end) std::fill(argument + colon + 1, argument + end, '*');
}

/// Hides the value of the option sentinel_password.
void hide_sentinel_password(char* argument) {
    constexpr std::string_view option = "sentinel_password=";
    const std::string_view text{argument};
    const std::size_t found = text.find(option);
    if (found == std::string_view::npos) return;
    const std::size_t begin = found + option.size();
    std::fill(argument + begin, argument + std::min(text.find('&', begin), text.size()), '*');
}

}  // namespace

void hide_passwords(int argc, char** argv) {
    for (int i = 1; i < argc && std::string_view{argv[i]} != "--"; ++i) {
        hide_password(argv[i]);
        hide_sentinel_password(argv[i]);
    }
}

}  // namespace baton::cli
