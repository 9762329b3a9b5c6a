#include "agent/state_file.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <utility>

namespace baton::agent {
namespace {

std::int64_t microseconds(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1'000;
}

std::string boot_id() {
    std::ifstream file{"/proc/sys/kernel/random/boot_id"};
    std::string id;
    file >> id;
    return id.empty() ? "unknown" : id;
}

std::error_code last_error() { return {errno, std::generic_category()}; }

/// Why the agent must not write to the file at this path: another user may have put a file or a link there. Empty: the
/// file is the agent's own.
std::string why_foreign(const struct stat& found) {
    if (S_ISLNK(found.st_mode) || !S_ISREG(found.st_mode)) return "it is not a regular file";
    if (found.st_uid != geteuid()) return "it belongs to user " + std::to_string(found.st_uid);
    if (found.st_nlink > 1) return "it has a second name, a hard link";
    return {};
}

std::error_code write_all(int file, const std::string& line) {
    errno = ENOSPC;  // for a short write, which sets no error
    if (pwrite(file, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size())) return {};
    return last_error();
}

/// Renames the file unless another file has the name (EEXIST). File systems without RENAME_NOREPLACE usually support
/// hard links.
bool give_name(const std::string& temporary, const std::string& path) {
    if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) return false;
    if (link(temporary.c_str(), path.c_str()) != 0) return false;
    unlink(temporary.c_str());
    return true;
}

constexpr int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
constexpr const char* format = "baton 2 %s %s %20" PRId64 " %20" PRId64 " %9" PRId64 "\n";

}  // namespace

struct state_file::opened {
    int file = -1;
    bool made = false;  // this call created the file: there is no predecessor
    std::error_code error;
    std::string why;  // the file is foreign
};

/// The user's own address exists once in each network namespace, and so does its state.
std::string state_file::path_for(const detail::local_address& address) {
    if (!address.is_own()) return address.path + ".state";
    struct stat network {};
    const bool known = stat("/proc/self/ns/net", &network) == 0;
    return "/dev/shm/baton-" + std::to_string(geteuid()) + "-" + (known ? std::to_string(network.st_ino) : "x");
}

state_file::~state_file() {
    if (file_ >= 0) close(file_);
}

state_file::result state_file::take(const detail::local_address& address,
                                    std::optional<std::chrono::milliseconds> max_ttl, std::string& why) {
    path_ = path_for(address);
    boot_ = boot_id();
    lock_ = !address.is_own();
    if (max_ttl) max_ttl_ = *max_ttl;
    begin();
    opened found = open_or_make();
    file_ = found.file;
    if (found.error == std::errc::operation_would_block) return result::taken;
    if (!found.error && found.why.empty() && !found.made) {
        read();
        if (had_clients_ && former_max_ttl_.count() > 0 && !max_ttl) max_ttl_ = former_max_ttl_;
        found.error = write();
    }
    if (!found.error && found.why.empty()) return result::ours;
    why = "the agent cannot record in " + path_ +
          " that it has clients: " + (found.why.empty() ? found.error.message() : found.why);
    return result::failed;
}

state_file::opened state_file::open_or_make() const {
    opened result;
    for (int tries = 0; tries < 10; ++tries) {
        result = {};
        result.file = open(path_.c_str(), flags);
        if (result.file < 0 && errno == ENOENT) {
            result = make();
            if (result.error == std::errc::file_exists) continue;  // another agent has made it meanwhile
            return result;
        }
        if (result.file < 0) result.error = last_error();
        struct stat found {};
        if ((result.file < 0 ? lstat(path_.c_str(), &found) : fstat(result.file, &found)) == 0)
            result.why = why_foreign(found);
        if (result.file < 0 || !result.why.empty()) return result;
        if (found.st_nlink == 0) {  // removed since it was opened
            close(result.file);
            continue;
        }
        if (lock_ && flock(result.file, LOCK_EX | LOCK_NB) != 0) result.error = last_error();
        return result;
    }
    if (!result.error) result.error = std::make_error_code(std::errc::resource_unavailable_try_again);
    return result;
}

/// Writes and locks the file under a temporary name before it renames it. So an agent that is killed meanwhile leaves
/// no file that looks like a predecessor's.
state_file::opened state_file::make() const {
    opened result;
    std::string temporary = path_ + ".XXXXXX";
    result.file = mkostemp(temporary.data(), O_CLOEXEC | O_NONBLOCK);
    if (result.file < 0) {
        result.error = last_error();
        return result;
    }
    result.error = write_all(result.file, line());
    if (!result.error && lock_ && flock(result.file, LOCK_EX | LOCK_NB) != 0) result.error = last_error();
    if (!result.error && !give_name(temporary, path_)) result.error = last_error();
    if (result.error) {
        unlink(temporary.c_str());
        close(std::exchange(result.file, -1));
    }
    result.made = !result.error;
    return result;
}

/// The state without a predecessor.
void state_file::begin() {
    start_ = protocol::instant{protocol::duration{microseconds(CLOCK_REALTIME)}};
    ahead_us_ = start_.time_since_epoch().count() - microseconds(CLOCK_MONOTONIC);
}

void state_file::read() {
    std::array<char, 256> text{};
    std::array<char, 64> boot{};
    std::array<char, 16> state{};
    std::int64_t before = 0;
    std::int64_t ahead = 0;
    std::int64_t max_ttl = 0;
    const ssize_t size = pread(file_, text.data(), text.size() - 1, 0);
    // A line without its end is incomplete.
    const bool whole = size > 0 && std::string_view{text.data()}.find('\n') != std::string_view::npos;
    const bool known = whole && std::sscanf(text.data(), "baton 2 %63s %15s %" SCNd64 " %" SCNd64 " %" SCNd64,
                                            boot.data(), state.data(), &before, &ahead, &max_ttl) == 5;
    const bool same_boot = known && boot_ == boot.data();
    // A pause is always safe; the agent omits it only if the line proves that there were no sessions.
    had_clients_ = !known || (same_boot && std::string_view{state.data()} != "clean");
    serving_ = had_clients_;
    if (!known) return;
    former_max_ttl_ = std::chrono::milliseconds{std::clamp<std::int64_t>(max_ttl, 0, 86'400'000)};
    std::int64_t start = std::max<std::int64_t>(start_.time_since_epoch().count(), before + 1);
    const std::int64_t monotonic = microseconds(CLOCK_MONOTONIC);
    if (same_boot) start = std::max(start, monotonic + ahead);
    start_ = protocol::instant{protocol::duration{start}};
    ahead_us_ = start - monotonic;
}

std::string state_file::line() const {
    std::array<char, 256> line{};
    const int size =
        std::snprintf(line.data(), line.size(), format, boot_.c_str(), serving_ ? "serving" : "clean  ",
                      std::int64_t{start_.time_since_epoch().count()}, ahead_us_, std::int64_t{max_ttl_.count()});
    return {line.data(), static_cast<std::size_t>(std::max(size, 0))};
}

/// One short write of constant length: an agent that is killed leaves either the old line or the new one.
std::error_code state_file::write() { return write_all(file_, line()); }

/// A logout may remove the user's files in /dev/shm.
bool state_file::removed() const {
    struct stat found {};
    return fstat(file_, &found) == 0 && found.st_nlink == 0;
}

std::error_code state_file::serving(bool sessions) {
    const bool gone = removed();
    if (sessions == serving_ && !gone) return {};
    const bool before = std::exchange(serving_, sessions);
    std::error_code error;
    if (gone) {
        const opened again = open_or_make();
        error = again.why.empty() ? again.error : std::make_error_code(std::errc::operation_not_permitted);
        if (again.file >= 0 && error) close(again.file);
        if (again.file >= 0 && !error) close(std::exchange(file_, again.file));
    }
    if (!error) error = write();
    if (error) serving_ = before;
    return error;
}

}  // namespace baton::agent
