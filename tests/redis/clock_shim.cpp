// Loaded into a server by LD_PRELOAD: shifts its wall clock by the microseconds in the file BATON_CLOCK_FILE, which is
// read at each call. The monotonic clock stays unchanged, as at a step of a real clock.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::int64_t million = 1'000'000;

std::int64_t offset() {
    static const std::atomic<std::int64_t>* const shared = []() -> std::atomic<std::int64_t>* {
        const char* const path = std::getenv("BATON_CLOCK_FILE");
        const int file = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) std::abort();
        void* const page = mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
        close(file);
        if (page == MAP_FAILED) std::abort();
        return static_cast<std::atomic<std::int64_t>*>(page);
    }();
    return shared->load();
}

/// `unit` is the number of parts of a second: the part of a time below the second stays within it.
template <typename Part> void shift(time_t& seconds, Part& part, std::int64_t unit) {
    const std::int64_t sum = part + offset() % million * (unit / million);
    const std::int64_t carry = (sum >= unit ? 1 : 0) - (sum < 0 ? 1 : 0);
    seconds += offset() / million + carry;
    part = sum - carry * unit;
}

}  // namespace

extern "C" {

int gettimeofday(timeval* __restrict result, void* __restrict zone) {
    using function = int (*)(timeval*, void*);
    static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "gettimeofday"));
    const int status = real(result, zone);
    if (status == 0) shift(result->tv_sec, result->tv_usec, million);
    return status;
}

int clock_gettime(clockid_t which, timespec* result) {
    using function = int (*)(clockid_t, timespec*);
    static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "clock_gettime"));
    const int status = real(which, result);
    if (status == 0 && which == CLOCK_REALTIME) shift(result->tv_sec, result->tv_nsec, 1000 * million);
    return status;
}

time_t time(time_t* result) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != nullptr) *result = now.tv_sec;
    return now.tv_sec;
}

}  // extern "C"
