#include "agent/state_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
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

/// The user's own address is one for each network namespace, and so is its state.
std::string path_for(const detail::local_address& address) {
    if (!address.is_own()) return address.path + ".state";
    struct stat network {};
    const bool known = stat("/proc/self/ns/net", &network) == 0;
    return "/dev/shm/baton-" + std::to_string(geteuid()) + "-" + (known ? std::to_string(network.st_ino) : "x");
}

/// Ours, and nothing that somebody else has put in its place.
bool is_ours(int file) {
    struct stat found {};
    return fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() && found.st_nlink == 1;
}

constexpr int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
constexpr const char* format = "baton 2 %s %s %20" PRId64 " %20" PRId64 " %9" PRId64 "\n";

}  // namespace

state_file::~state_file() {
    if (file_ >= 0) close(file_);
}

bool state_file::take(const detail::local_address& address, std::optional<std::chrono::milliseconds> max_ttl,
                      std::error_code& error) {
    path_ = path_for(address);
    boot_ = boot_id();
    for (int tries = 0; file_ < 0 && tries < 10; ++tries) {
        file_ = open(path_.c_str(), flags);
        if (file_ < 0 && errno == ENOENT) file_ = open(path_.c_str(), flags | O_CREAT | O_EXCL, 0600);
        if (file_ < 0 && errno != EEXIST && errno != ENOENT) break;
    }
    const int why = errno;
    if (file_ >= 0 && !is_ours(file_)) {
        close(file_);
        file_ = -1;
    }
    if (file_ < 0 && !address.is_own()) {
        error = {why == 0 ? EPERM : why, std::generic_category()};
        return false;
    }
    if (!address.is_own() && flock(file_, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) error = {errno, std::generic_category()};
        return false;
    }
    locked_ = !address.is_own();
    read();
    if (owed_ && former_max_ttl_.count() > 0) max_ttl_ = former_max_ttl_;
    if (max_ttl) max_ttl_ = *max_ttl;
    write();
    return true;
}

void state_file::read() {
    const std::int64_t wall = microseconds(CLOCK_REALTIME);
    const std::int64_t monotonic = microseconds(CLOCK_MONOTONIC);
    std::int64_t start = wall;
    std::array<char, 256> text{};
    const ssize_t size = file_ < 0 ? -1 : pread(file_, text.data(), text.size() - 1, 0);
    if (size != 0) {  // an empty one was just made
        std::array<char, 64> boot{};
        std::array<char, 16> state{};
        std::int64_t before = 0;
        std::int64_t ahead = 0;
        std::int64_t max_ttl = 0;
        const bool known = size > 0 && std::sscanf(text.data(), "baton 2 %63s %15s %" SCNd64 " %" SCNd64 " %" SCNd64,
                                                   boot.data(), state.data(), &before, &ahead, &max_ttl) == 5;
        const bool same_boot = known && boot_ == boot.data();
        // Who cannot tell must wait: a pause is always safe.
        owed_ = !known || (same_boot && std::string{state.data()} != "clean");
        if (known) former_max_ttl_ = std::chrono::milliseconds{std::clamp<std::int64_t>(max_ttl, 0, 86'400'000)};
        if (known) start = std::max(start, before + 1);
        if (same_boot) start = std::max(start, monotonic + ahead);
    }
    start_ = protocol::instant{protocol::duration{start}};
    ahead_us_ = start - monotonic;
    serving_ = owed_;
}

/// One short write: whoever is killed leaves the old line or the new one. What was removed meanwhile (a logout may do
/// that to all of a user's files in /dev/shm) is made again.
void state_file::write() {
    if (file_ < 0) return;
    if (struct stat found{}; !locked_ && fstat(file_, &found) == 0 && found.st_nlink == 0) {
        const int again = open(path_.c_str(), flags | O_CREAT | O_EXCL, 0600);
        if (again >= 0) close(std::exchange(file_, again));
    }
    std::array<char, 256> line{};
    const int size =
        std::snprintf(line.data(), line.size(), format, boot_.c_str(), serving_ ? "serving" : "clean  ",
                      std::int64_t{start_.time_since_epoch().count()}, ahead_us_, std::int64_t{max_ttl_.count()});
    if (size > 0 && pwrite(file_, line.data(), static_cast<std::size_t>(size), 0) < 0) return;
}

void state_file::serving(bool sessions) {
    if (sessions == serving_) return;
    serving_ = sessions;
    write();
}

}  // namespace baton::agent
