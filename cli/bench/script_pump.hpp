// A script that does nothing, asked for again and again by as many callers as one likes, on the connection that the
// store has.
#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace baton::bench {

class script_pump {
public:
    explicit script_pump(const std::string& url);
    script_pump(const script_pump&) = delete;
    script_pump& operator=(const script_pump&) = delete;
    ~script_pump();

    [[nodiscard]] double calls_per_s(std::size_t callers, std::chrono::milliseconds span);

private:
    struct pump;
    std::unique_ptr<pump> pump_;
};

}  // namespace baton::bench
