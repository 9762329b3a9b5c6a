#include "system/control_group.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace baton {
namespace {

constexpr std::string_view prefix = "baton-";
constexpr std::size_t cookie_size = 32;

struct mount {
    std::string root;   // the part of the hierarchy that is mounted
    std::string point;  // where
};

/// The mount of cgroup v2. Columns: https://docs.kernel.org/filesystems/proc.html, mountinfo.
std::optional<mount> find_mount() {
    std::ifstream lines{"/proc/self/mountinfo"};
    for (std::string line; std::getline(lines, line);) {
        const std::size_t dash = line.find(" - ");
        if (dash == std::string::npos || !std::string_view{line}.substr(dash + 3).starts_with("cgroup2 ")) continue;
        std::istringstream fields{line};
        std::string id, parent, device;
        mount found;
        if (fields >> id >> parent >> device >> found.root >> found.point) return found;
    }
    return {};
}

/// The folder of this process's own group. Empty if there is none or the mount does not contain it.
std::string own_folder() {
    const auto mount = find_mount();
    std::ifstream lines{"/proc/self/cgroup"};
    for (std::string line; mount && std::getline(lines, line);) {
        if (!line.starts_with("0::/")) continue;
        std::string path = line.substr(3);
        const std::string root = mount->root == "/" ? "" : mount->root;
        if (!path.starts_with(root) || path.find("/..") != std::string::npos) return {};
        path = mount->point + path.substr(root.size());
        while (path.size() > 1 && path.back() == '/') path.pop_back();
        return path;
    }
    return {};
}

bool has_attribute(const std::string& folder, const char* name) {
    std::array<char, 8> value{};
    return ::getxattr(folder.c_str(), name, value.data(), value.size()) > 0 && value[0] == '1';
}

/// Under systemd only delegated groups may be divided; systemd marks those with an attribute. For a user other than
/// root, write permission to a group is the delegation.
bool may_divide(const std::string& folder) {
    if (::access((folder + "/cgroup.procs").c_str(), W_OK) != 0 || ::access(folder.c_str(), W_OK) != 0) return false;
    if (::geteuid() != 0 || ::access("/run/systemd/system", F_OK) != 0) return true;
    for (std::string at = folder; at.size() > 1; at = at.substr(0, at.rfind('/')))
        if (has_attribute(at, "user.delegate") || has_attribute(at, "trusted.delegate")) return true;
    return false;
}

bool is_name_of_run(std::string_view name) {
    return name.starts_with(prefix) && name.size() == prefix.size() + cookie_size &&
           name.substr(prefix.size()).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string control_group_path(std::string_view cookie) {
    const std::string own = own_folder();
    if (own.empty() || !may_divide(own)) return {};
    return own + "/" + std::string{prefix} + std::string{cookie};
}

bool is_control_group_of(std::string_view path, std::string_view cookie) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return path.starts_with('/') && path.find("/../") == std::string_view::npos && is_name_of_run(name) &&
           name.substr(prefix.size()) == cookie;
}

void leave_control_groups_of_runs() {
    std::filesystem::path above;
    for (const auto& part : std::filesystem::path{own_folder()}) {
        if (is_name_of_run(part.native())) {
            std::ofstream{above / "cgroup.procs"} << "0" << std::flush;
            return;
        }
        above /= part;
    }
}

control_group::~control_group() { close(); }

void control_group::close() {
    for (int* each : {&folder_, &kill_, &events_})
        if (*each >= 0) ::close(std::exchange(*each, -1));
}

bool control_group::open(const std::string& path, bool make) {
    if (path.empty() || (make && ::mkdir(path.c_str(), 0755) != 0)) return false;
    path_ = path;
    folder_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ >= 0) {
        kill_ = ::openat(folder_, "cgroup.kill", O_WRONLY | O_CLOEXEC);  // Linux 5.14
        events_ = ::openat(folder_, "cgroup.events", O_RDONLY | O_CLOEXEC);
    }
    if (kill_ >= 0 && events_ >= 0) return true;
    close();
    if (make) remove();
    return false;
}

bool control_group::kill() const { return kill_ >= 0 && ::pwrite(kill_, "1", 1, 0) == 1; }

std::optional<bool> control_group::populated() const {
    std::array<char, 256> text{};
    if (events_ < 0 || ::pread(events_, text.data(), text.size() - 1, 0) <= 0) return {};
    return std::string_view{text.data()}.find("populated 1") != std::string_view::npos;
}

void control_group::remove() {
    if (path_.empty()) return;
    std::error_code ignored;
    // Nested runs, which may have been killed with this one, made their groups inside. Deepest first.
    std::vector<std::string> inside;
    for (auto entry = std::filesystem::recursive_directory_iterator{path_, ignored};
         !ignored && entry != std::filesystem::recursive_directory_iterator{}; entry.increment(ignored))
        if (entry->is_directory(ignored)) inside.push_back(entry->path());
    for (auto folder = inside.rbegin(); folder != inside.rend(); ++folder) ::rmdir(folder->c_str());
    ::rmdir(path_.c_str());
}

}  // namespace baton
