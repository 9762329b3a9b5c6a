#include "stores/resp/socket_path.hpp"

#include <sys/un.h>

#include <filesystem>
#include <system_error>

namespace baton::resp {

bool fits_socket(std::string_view path) { return path.size() < sizeof(sockaddr_un{}.sun_path); }

std::string socket_path(std::string_view path) {
    const std::filesystem::path absolute = std::filesystem::absolute(path);
    std::error_code unreadable;  // if the user may not search a folder, the path stays unresolved
    const std::filesystem::path resolved = std::filesystem::weakly_canonical(absolute, unreadable);
    if (!unreadable && fits_socket(resolved.native())) return resolved;
    return absolute.lexically_normal();
}

}  // namespace baton::resp
