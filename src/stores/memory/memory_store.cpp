#include "stores/memory/memory_store.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/event_loop.hpp"
#include "base/process_wide.hpp"
#include "engine/engine_host.hpp"
#include "engine/inspect.hpp"

namespace baton::detail {
namespace {

constexpr epoch only_epoch = 1;  // the memory of a process is lost with the process

struct notice {
    std::weak_ptr<store_listener> to;
    protocol::event event;
};

/// What came of commands, and is delivered without a lock.
struct answers {
    std::vector<protocol::event> events;
    std::vector<std::size_t> ends;  // where the events end that answer the first command, the second, …
    std::vector<notice> notices;

    void clear() {
        events.clear();
        ends.clear();
        notices.clear();
    }
};

/// The engine, and who listens to which session.
class host : public std::enable_shared_from_this<host> {
public:
    void perform(const std::weak_ptr<store_listener>& from, std::span<tagged_command> commands, answers& given) {
        {
            const std::lock_guard lock{mutex_};
            for (const tagged_command& each : commands) {
                const core::session_id sender = core::sender_of(each.command);
                auto& result = host_.apply(each.command, sender);
                if (was_opened(each.command, result.reply)) listeners_[sender] = from;
                append(given.events, result.reply);
                given.ends.push_back(given.events.size());
                route(result.notices, given.notices);
                if (std::holds_alternative<protocol::close>(each.command)) listeners_.erase(sender);
            }
            arm();
        }
        // Without the lock: a listener may send at once.
        if (const auto listener = from.lock()) {
            std::size_t begin = 0;
            for (std::size_t i = 0; i < commands.size(); ++i) {
                const std::size_t end = given.ends[i];
                listener->replied(commands[i].tag, only_epoch, std::span{given.events}.subspan(begin, end - begin));
                begin = end;
            }
        }
        deliver(given.notices);
    }

    snapshot inspect(const inspect_filter& filter) {
        const std::lock_guard lock{mutex_};
        return core::inspect(host_.engine(), filter, host_.now());
    }

private:
    using clock = event_loop::clock;

    /// Most commands come alone: then there is nothing to move.
    static void append(std::vector<protocol::event>& to, std::vector<protocol::event>& events) {
        if (to.empty()) return to.swap(events);
        std::ranges::move(events, std::back_inserter(to));
    }

    void tick() {
        std::unique_lock lock{mutex_};
        armed_.reset();
        std::vector<notice> notices;
        route(host_.tick().notices, notices);
        arm();
        lock.unlock();
        deliver(notices);
    }

    /// A session's notices go to the connection that opened it last. One that came late was refused, and changes
    /// nothing.
    static bool was_opened(const protocol::command& command, std::span<const protocol::event> reply) {
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
            if (const auto listener = notice.to.lock()) listener->noticed(only_epoch, std::move(notice.event));
    }

    /// Ticks when something is due.
    void arm() {
        const auto due = host_.next_due();
        if (!due || (armed_ && *armed_ <= *due)) return;
        if (!timer_)
            timer_.emplace(*loop_, [weak = weak_from_this()] {
                if (const auto self = weak.lock()) self->tick();
            });
        armed_ = due;
        timer_->set(*due);
    }

    const std::shared_ptr<event_loop> loop_ = process_wide<event_loop>();
    std::mutex mutex_;
    core::engine_host host_;
    std::unordered_map<core::session_id, std::weak_ptr<store_listener>> listeners_;
    std::optional<clock::time_point> armed_;
    std::optional<event_loop::timer> timer_;
};

/// The hosts of a process, by name.
class hosts {
public:
    std::shared_ptr<host> get(std::string_view name) {
        const std::lock_guard lock{mutex_};
        std::erase_if(hosts_, [](const auto& entry) { return entry.second.expired(); });
        const auto found = hosts_.find(name);
        std::shared_ptr<host> shared = found == hosts_.end() ? nullptr : found->second.lock();
        if (!shared) hosts_[std::string{name}] = shared = std::make_shared<host>();
        return shared;
    }
    [[nodiscard]] static bool is_own_thread() { return false; }  // it has none

private:
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<host>, std::less<>> hosts_;
};

class memory_connection final : public store_connection {
public:
    memory_connection(std::shared_ptr<host> host, std::weak_ptr<store_listener> listener)
        : host_{std::move(host)}, listener_{std::move(listener)} {}

    /// A listener may send again before this returns: that finds no memory to use again, and brings its own.
    void send(std::span<tagged_command> commands) override {
        answers given = std::exchange(spare_, {});
        host_->perform(listener_, commands, given);
        given.clear();
        constexpr std::size_t much = 64;
        if (given.events.capacity() < much && given.notices.capacity() < much) spare_ = std::move(given);
    }
    void reset() override {}  // there is nothing between us that could be silent
    void inspect(const inspect_filter& filter, inspect_answer answer) override { answer({}, host_->inspect(filter)); }

private:
    std::shared_ptr<host> host_;
    std::weak_ptr<store_listener> listener_;
    answers spare_;  // of whoever sends, one at a time
};

class memory final : public store {
public:
    explicit memory(std::string_view name) : host_{hosts_->get(name)} {}

    std::unique_ptr<store_connection> connect(std::weak_ptr<store_listener> listener) override {
        auto connection = std::make_unique<memory_connection>(host_, listener);
        if (const auto heard = listener.lock()) heard->up(only_epoch);
        return connection;
    }
    [[nodiscard]] lease_clock clock() const override { return lease_clock::monotonic; }

private:
    const std::shared_ptr<hosts> hosts_ = process_wide<hosts>();
    const std::shared_ptr<host> host_;
};

}  // namespace

std::shared_ptr<store> memory_store(std::string_view name) { return std::make_shared<memory>(name); }

}  // namespace baton::detail
