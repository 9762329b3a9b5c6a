// The wall clock of a private server, which a test can step. The other half is clock_shim.cpp.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace baton::redis_tests {

class server_clock {
public:
    explicit server_clock(std::string path) : path_{std::move(path)} {
        const int file = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0 || ftruncate(file, sizeof *offset_) != 0) throw std::runtime_error{"no clock at " + path_};
        void* const page = mmap(nullptr, sizeof *offset_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (page == MAP_FAILED) throw std::runtime_error{"no clock at " + path_};
        offset_ = static_cast<std::atomic<std::int64_t>*>(page);
    }
    server_clock(const server_clock&) = delete;
    server_clock& operator=(const server_clock&) = delete;
    ~server_clock() { munmap(offset_, sizeof *offset_); }

    /// Steps the clock forward or back.
    void jump(std::chrono::microseconds by) { *offset_ += by.count(); }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
    std::atomic<std::int64_t>* offset_ = nullptr;  // in microseconds; the shim reads it
};

}  // namespace baton::redis_tests
