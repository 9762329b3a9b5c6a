// Calls an empty script repeatedly for any number of callers, on the store's connection class.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "bench/actors/script_connection.hpp"
#include "bench/clock.hpp"

namespace baton::bench {

class script_pump {
public:
    explicit script_pump(const std::string& url) : connection_{url} {}

    [[nodiscard]] double calls_per_s(std::size_t callers, std::chrono::milliseconds span) {
        const double start = now_us();
        const std::uint64_t calls = connection_->play(callers, span);
        return static_cast<double>(calls) / (now_us() - start) * 1e6;
    }

private:
    class user final : public script_user {
    public:
        user(detail::event_loop& loop, const std::string& url) : script_user{loop, url, "return 1"} {}

        std::uint64_t play(std::size_t callers, std::chrono::milliseconds span) {
            call_ = call({"0"});
            calls_ = 0;
            stopped_ = false;
            running_ = callers;
            for (std::size_t i = 0; i < callers; ++i) send(call_, i + 1);
            std::this_thread::sleep_for(span);
            stopped_ = true;
            std::unique_lock lock{mutex_};
            changed_.wait(lock, [this] { return running_ == 0; });
            return calls_;
        }
        void answered(command_tag tag, const resp::value&) override {
            ++calls_;
            if (!stopped_) {
                send(call_, tag);
                return;
            }
            const std::lock_guard lock{mutex_};
            if (--running_ == 0) changed_.notify_all();
        }

    private:
        std::string call_;
        std::atomic<bool> stopped_{false};
        std::atomic<std::uint64_t> calls_{0};
        std::mutex mutex_;
        std::condition_variable changed_;
        std::size_t running_ = 0;
    };

    script_connection<user> connection_;
};

}  // namespace baton::bench
