// An observer that records the names of the events that it receives, in order.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "baton/observer.hpp"

namespace baton::client_tests {

class recorder final : public observer {
public:
    void granted(const claim_list&, std::uint64_t, std::chrono::microseconds) override { note("granted"); }
    void lost(const claim_list&, std::uint64_t, loss) override { note("lost"); }
    void unsure() override { note("unsure"); }
    void reconnecting(std::error_code, const std::string&) override { note("reconnecting"); }
    void reconnected() override { note("reconnected"); }
    void connected() override { note("connected"); }

    [[nodiscard]] std::vector<std::string> events() const {
        const std::lock_guard lock{mutex_};
        return events_;
    }
    [[nodiscard]] bool has(const std::string& event) const { return std::ranges::count(events(), event) > 0; }

private:
    void note(const std::string& event) {
        const std::lock_guard lock{mutex_};
        events_.push_back(event);
    }

    mutable std::mutex mutex_;
    std::vector<std::string> events_;
};

}  // namespace baton::client_tests
