#include "stores/memory/memory_store.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "engine/engine_host.hpp"
#include "engine/inspect.hpp"

namespace baton::detail {
namespace {

constexpr lineage only_lineage = 1;  // the memory of a process is lost with the process

/// The engine, and who listens to which session.
class host {
public:
    void perform(const std::weak_ptr<store_listener>& from, std::vector<tagged_command> messages) {
        std::vector<std::pair<command_tag, std::vector<protocol::event>>> replies;
        std::vector<notice> notices;
        replies.reserve(messages.size());
        {
            const std::lock_guard lock{mutex_};
            for (tagged_command& each : messages) {
                const core::session_id sender = core::sender_of(each.command);
                auto outcome = host_.apply(each.command, sender);
                if (was_opened(each.command, outcome.reply)) listeners_[sender] = from;
                replies.emplace_back(each.tag, std::move(outcome.reply));
                route(outcome.notices, notices);
                if (std::holds_alternative<protocol::close>(each.command)) listeners_.erase(sender);
            }
            arm();
        }
        // Without the lock: a listener may send at once.
        if (const auto listener = from.lock())
            for (auto& [tag, events] : replies) listener->replied(tag, only_lineage, std::move(events));
        deliver(notices);
    }

    snapshot look(const inspect_filter& filter) {
        const std::lock_guard lock{mutex_};
        return core::inspect(host_.engine(), filter, host_.now());
    }

    /// Ticks when something is due, until it is told to stop.
    void keep_time(const std::stop_token& stop) {
        std::unique_lock lock{mutex_};
        while (!stop.stop_requested()) {
            if (!armed_) {
                changed_.wait(lock, stop, [this] { return armed_.has_value(); });
                continue;
            }
            const auto until = *armed_;
            changed_.wait_until(lock, stop, until, [&] { return armed_ != until; });
            if (stop.stop_requested() || !armed_ || std::chrono::steady_clock::now() < *armed_) continue;
            armed_.reset();
            std::vector<notice> notices;
            auto outcome = host_.tick();
            route(outcome.notices, notices);
            arm();
            lock.unlock();
            deliver(notices);
            lock.lock();
        }
    }

private:
    struct notice {
        std::weak_ptr<store_listener> to;
        protocol::event event;
    };

    /// A session's notices go to the line that opened it last. One that came late was refused, and changes nothing.
    static bool was_opened(const protocol::command& command, const std::vector<protocol::event>& reply) {
        if (!std::holds_alternative<protocol::open>(command)) return false;
        return std::ranges::any_of(
            reply, [](const auto& event) { return std::holds_alternative<protocol::alive>(event.what); });
    }

    void route(std::vector<std::pair<core::session_id, core::event>>& told, std::vector<notice>& notices) {
        for (auto& [session, event] : told) {
            const auto found = listeners_.find(session);
            if (found == listeners_.end()) continue;
            const bool over = std::holds_alternative<core::session_lost>(event.what);
            notices.push_back({found->second, std::move(event)});
            if (over) listeners_.erase(found);
        }
    }

    static void deliver(std::vector<notice>& notices) {
        for (notice& notice : notices)
            if (const auto listener = notice.to.lock()) listener->noticed(only_lineage, std::move(notice.event));
    }

    void arm() {
        const auto due = host_.next_due();
        if (due && (!armed_ || *due < *armed_)) {
            armed_ = due;
            changed_.notify_one();
        }
    }

    std::mutex mutex_;
    core::engine_host host_;
    std::unordered_map<core::session_id, std::weak_ptr<store_listener>> listeners_;
    std::optional<std::chrono::steady_clock::time_point> armed_;
    std::condition_variable_any changed_;
};

/// A host, and the thread that keeps its time. Whoever is told something by that thread may let go of the store there
/// and then: so the thread has a share in the host, and is not waited for by itself.
class running_host {
public:
    running_host() = default;
    running_host(const running_host&) = delete;
    running_host& operator=(const running_host&) = delete;
    ~running_host() {
        timer_.request_stop();
        if (timer_.get_id() == std::this_thread::get_id()) timer_.detach();
    }

    host* operator->() const { return host_.get(); }

private:
    std::shared_ptr<host> host_ = std::make_shared<host>();
    std::jthread timer_{[host = host_](const std::stop_token& stop) { host->keep_time(stop); }};
};

class memory_line final : public store_line {
public:
    memory_line(std::shared_ptr<running_host> host, std::weak_ptr<store_listener> listener)
        : host_{std::move(host)}, listener_{std::move(listener)} {}

    void send(std::vector<tagged_command> messages) override { (*host_)->perform(listener_, std::move(messages)); }
    void reset() override {}  // there is nothing between us that could be silent
    void inspect(const inspect_filter& filter, std::function<void(std::error_code, snapshot)> answer) override {
        answer({}, (*host_)->look(filter));
    }

private:
    std::shared_ptr<running_host> host_;
    std::weak_ptr<store_listener> listener_;
};

class memory final : public store {
public:
    explicit memory(std::shared_ptr<running_host> host) : host_{std::move(host)} {}

    std::unique_ptr<store_line> connect(std::weak_ptr<store_listener> listener) override {
        auto line = std::make_unique<memory_line>(host_, listener);
        if (const auto heard = listener.lock()) heard->up(only_lineage);
        return line;
    }
    [[nodiscard]] lease_clock clock() const override { return lease_clock::monotonic; }

private:
    std::shared_ptr<running_host> host_;
};

}  // namespace

std::shared_ptr<store> memory_store(std::string_view name) {
    if (name.empty()) return std::make_shared<memory>(std::make_shared<running_host>());
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<running_host>, std::less<>> hosts;
    const std::lock_guard lock{mutex};
    std::erase_if(hosts, [](const auto& entry) { return entry.second.expired(); });
    auto found = hosts.find(name);
    std::shared_ptr<running_host> shared = found == hosts.end() ? nullptr : found->second.lock();
    if (!shared) hosts[std::string{name}] = shared = std::make_shared<running_host>();
    return std::make_shared<memory>(std::move(shared));
}

}  // namespace baton::detail
