#include "system/process_table.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace baton {
namespace {

constexpr std::size_t longest_file = 8U << 20U;

}  // namespace

process_table::process_table() : entries_(32U << 10U) {
    folder_ = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0) throw std::system_error{errno, std::generic_category(), "cannot open /proc"};
    take_back();
    if (spare_.back() >= 0) return;
    const int error = errno;
    ::close(folder_);
    lend();
    throw std::system_error{error, std::generic_category(), "cannot reserve file descriptors (see ulimit -n)"};
}

process_table::~process_table() {
    lend();
    ::close(folder_);
}

void process_table::lend() {
    if (lent_++ > 0) return;
    for (int& spare : spare_)
        if (spare >= 0) ::close(std::exchange(spare, -1));
}

/// May fail if another thread takes the descriptor meanwhile; the next call tries again.
void process_table::take_back() {
    if (lent_ > 0 && --lent_ > 0) return;
    for (int& spare : spare_)
        if (spare < 0) spare = ::fcntl(folder_, F_DUPFD_CLOEXEC, 0);
}

seen process_table::result_of(int error) {
    switch (error) {
        case ENOENT:
        case ESRCH:
        case EINVAL: return seen::gone;
        case EPERM:
        case EACCES: return seen::hidden;
        default: return seen::failed;
    }
}

void process_table::begin() {
    at_ = filled_ = 0;
    failed_ = ::lseek(folder_, 0, SEEK_SET) != 0;
}

std::optional<pid_t> process_table::next() {
    while (!failed_) {
        if (at_ == filled_) {
            const long size = ::syscall(SYS_getdents64, folder_, entries_.data(), entries_.size());
            failed_ = size < 0;
            if (size <= 0) return {};
            at_ = 0;
            filled_ = static_cast<std::size_t>(size);
        }
        const char* const entry = entries_.data() + at_;
        std::uint16_t length = 0;
        std::memcpy(&length, entry + offsetof(dirent64, d_reclen), sizeof length);
        at_ += length;
        const char* const name = entry + offsetof(dirent64, d_name);
        if (*name >= '1' && *name <= '9') return static_cast<pid_t>(std::atoi(name));
    }
    return {};
}

seen process_table::contents(pid_t process, const char* file, std::string& into, uid_t* owner) {
    const loan reserve{*this};
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "%d/%s", static_cast<int>(process), file);
    const int opened = ::openat(folder_, path.data(), O_RDONLY | O_CLOEXEC);
    if (opened < 0) return result_of(errno);
    seen result = seen::found;
    struct stat about {};
    if (owner != nullptr && ::fstat(opened, &about) == 0) *owner = about.st_uid;
    try {
        into.clear();
        // A read of /proc returns about one page, so a larger buffer would be zeroed in vain.
        constexpr std::size_t chunk = 4'096;
        while (into.size() < longest_file) {
            const std::size_t had = into.size();
            into.resize(had + chunk);
            const ssize_t length = ::read(opened, into.data() + had, chunk);
            into.resize(had + static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
            if (length < 0) result = result_of(errno);
            if (length <= 0) break;
        }
    } catch (const std::bad_alloc&) {
        result = seen::failed;
    }
    ::close(opened);
    return result;
}

seen process_table::read(pid_t process, process_stat& into) {
    std::string text;
    const seen result = contents(process, "stat", text);
    if (result != seen::found) return result;
    const auto parsed = parse_stat(text.c_str());
    if (!parsed) return seen::gone;  // it ended while it was read
    into = *parsed;
    return seen::found;
}

// Direct system calls, because the header of glibc 2.36 declares the functions for C only.
int process_table::open_handle(pid_t process) {
    const int handle = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    if (handle >= 0) return handle;
    return errno == ENOSYS || errno == EPERM ? no_handles : -errno;
}

seen process_table::send(int handle, pid_t process, int signal) {
    const long sent =
        handle >= 0 ? ::syscall(SYS_pidfd_send_signal, handle, signal, nullptr, 0) : ::kill(process, signal);
    return sent == 0 ? seen::found : result_of(errno);
}

void process_table::close_handle(int handle) {
    if (handle >= 0) ::close(handle);
}

}  // namespace baton
