#include "find_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace baton::cli {
namespace {

bool is_program(const std::string& path) {
    std::error_code none;
    return std::filesystem::is_regular_file(path, none) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string program_in_path(const std::string& name) {
    const char* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    while (!rest.empty()) {
        const std::size_t end = rest.find(':');
        std::string found = std::string{rest.substr(0, end)} + "/" + name;
        if (is_program(found)) return found;
        rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    }
    return {};
}

std::string program_beside_or_in_path(const std::string& name) {
    std::error_code none;
    const std::string beside = std::filesystem::read_symlink("/proc/self/exe", none).replace_filename(name).string();
    return is_program(beside) ? beside : program_in_path(name);
}

}  // namespace baton::cli
