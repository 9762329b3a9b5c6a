// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace baton {

class descriptor {
public:
    descriptor() = default;
    /// Negative: no descriptor.
    explicit descriptor(int number) : number_{number} {}
    descriptor(descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() {
        if (number_ >= 0) ::close(number_);
    }

    [[nodiscard]] bool is_open() const { return number_ >= 0; }
    [[nodiscard]] int get() const { return number_; }
    /// The caller must close it.
    [[nodiscard]] int release() { return std::exchange(number_, -1); }

private:
    int number_ = -1;
};

}  // namespace baton
