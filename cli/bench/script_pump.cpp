#include "bench/script_pump.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/event_loop.hpp"
#include "base/process_wide.hpp"
#include "bench/scenarios.hpp"
#include "stores/redis/dial.hpp"
#include "stores/redis/greeting.hpp"
#include "stores/resp/connection.hpp"

namespace baton::bench {
namespace {

constexpr const char* nothing = "return 1";

std::string words(const std::vector<std::string>& all) {
    std::string bytes;
    resp::encode_command(bytes, all);
    return bytes;
}

class user final : public resp::connection {
public:
    user(detail::event_loop& loop, const std::string& url)
        : connection{loop, {}}, address_{detail::parse_redis_address(url)} {}

    void dial(resp::dial_result done) override { detail::dial_redis(loop(), address_, std::move(done)); }
    resp::greeting_step begin_greeting() override { return greeting_.begin(); }
    resp::greeting_step answered_greeting(const resp::value& answer) override { return greeting_.answered(answer); }
    void up(lineage) override {
        const std::lock_guard lock{mutex_};
        up_ = true;
        changed_.notify_all();
    }
    void down(const store_error&) override {}
    void hopeless(const store_error&) override {
        const std::lock_guard lock{mutex_};
        refused_ = true;
        changed_.notify_all();
    }
    void pushed(const resp::value&) override {}
    void answered(command_tag tag, const resp::value&) override {
        ++calls_;
        if (!stopped_) {
            send(call_, std::array{tag});
            return;
        }
        const std::lock_guard lock{mutex_};
        if (--running_ == 0) changed_.notify_all();
    }

    void wait_until_up() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return up_ || refused_; });
        if (refused_) throw std::runtime_error{"the server does not let us load a script"};
    }
    std::uint64_t play(std::size_t callers, std::chrono::milliseconds span) {
        calls_ = 0;
        stopped_ = false;
        running_ = callers;
        for (std::size_t i = 0; i < callers; ++i) send(call_, std::array{command_tag{i + 1}});
        std::this_thread::sleep_for(span);
        stopped_ = true;
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return running_ == 0; });
        return calls_;
    }

private:
    detail::redis_address address_;
    std::string call_;
    redis::greeting greeting_{address_, redis::no_scripts, words({"SCRIPT", "LOAD", nothing}),
                              [this](const resp::value& answer) -> resp::greeting_step {
                                  if (answer.kind == resp::kind::error) return redis::refused_greeting(answer.text);
                                  call_ = words({"EVALSHA", std::string{answer.text}, "0"});
                                  return {.lineage = 1};
                              }};
    std::atomic<bool> stopped_{false};
    std::atomic<std::uint64_t> calls_{0};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t running_ = 0;
    bool up_ = false;
    bool refused_ = false;
};

}  // namespace

struct script_pump::pump {
    explicit pump(const std::string& url) : user{std::make_shared<bench::user>(*loop, url)} {
        user->start();
        user->wait_until_up();
    }
    ~pump() { user->stop(); }

    std::shared_ptr<detail::event_loop> loop = detail::process_wide<detail::event_loop>();
    std::shared_ptr<bench::user> user;
};

script_pump::script_pump(const std::string& url) : pump_{std::make_unique<pump>(url)} {}
script_pump::~script_pump() = default;

double script_pump::calls_per_s(std::size_t callers, std::chrono::milliseconds span) {
    const double start = now_us();
    const std::uint64_t calls = pump_->user->play(callers, span);
    return static_cast<double>(calls) / (now_us() - start) * 1e6;
}

}  // namespace baton::bench
