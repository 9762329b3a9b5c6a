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

constexpr epoch only_epoch = 1;  // the engine never loses its state while the process lives

struct notice {
    std::weak_ptr<store_listener> to;
    protocol::event event;
};

/// Replies and notices, which are delivered after the lock is released.
struct output {
    std::vector<protocol::event> events;
    std::vector<std::size_t> ends;  // the end of the events of each command
    std::vector<notice> notices;

    void clear() {
        events.clear();
        ends.clear();
        notices.clear();
    }
};

/// An engine, and the listener of each session.
class host : public std::enable_shared_from_this<host> {
public:
    void perform(const std::weak_ptr<store_listener>& from, std::span<tagged_command> commands, output& out) {
        {
            const std::lock_guard lock{mutex_};
            for (const tagged_command& each : commands) {
                const core::session_id sender = core::sender_of(each.command);
                auto& result = host_.apply(each.command, sender);
                if (was_opened(each.command, result.reply)) listeners_[sender] = from;
                append(out.events, result.reply);
                out.ends.push_back(out.events.size());
                route(result.notices, out.notices);
                if (std::holds_alternative<protocol::close>(each.command)) listeners_.erase(sender);
            }
            arm();
        }
        // Without the lock: a listener may send at once.
        if (const auto listener = from.lock()) {
            std::size_t begin = 0;
            for (std::size_t i = 0; i < commands.size(); ++i) {
                const std::size_t end = out.ends[i];
                listener->replied(commands[i].tag, only_epoch, std::span{out.events}.subspan(begin, end - begin));
                begin = end;
            }
        }
        deliver(out.notices);
    }

    snapshot inspect(const inspect_filter& filter) {
        const std::lock_guard lock{mutex_};
        return core::inspect(host_.engine(), filter, host_.now());
    }

private:
    using clock = event_loop::clock;

    /// Swaps in the common case of a single command.
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

    /// A session's notices go to the connection that opened it last. A refused `open`, for instance a late one, changes
    /// nothing.
    static bool was_opened(const protocol::command& command, std::span<const protocol::event> reply) {
        if (!std::holds_alternative<protocol::open>(command)) return false;
        return std::ranges::any_of(
            reply, [](const auto& event) { return std::holds_alternative<protocol::alive>(event.what); });
    }

    void route(std::vector<std::pair<core::session_id, core::event>>& events, std::vector<notice>& notices) {
        for (auto& [session, event] : events) {
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

    /// Sets the timer for the next deadline of the engine.
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
    [[nodiscard]] static bool is_own_thread() { return false; }  // it has no thread

private:
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<host>, std::less<>> hosts_;
};

class memory_connection final : public store_connection {
public:
    memory_connection(std::shared_ptr<host> host, std::weak_ptr<store_listener> listener)
        : host_{std::move(host)}, listener_{std::move(listener)} {}

    /// A listener may call this again before it returns: the inner call then finds no spare memory, and allocates.
    void send(std::span<tagged_command> commands) override {
        output out = std::exchange(spare_, {});
        host_->perform(listener_, commands, out);
        out.clear();
        constexpr std::size_t much = 64;
        if (out.events.capacity() < much && out.notices.capacity() < much) spare_ = std::move(out);
    }
    void reset() override {}  // this connection cannot break
    void inspect(const inspect_filter& filter, snapshot_callback done) override { done({}, host_->inspect(filter)); }

private:
    std::shared_ptr<host> host_;
    std::weak_ptr<store_listener> listener_;
    output spare_;  // memory for the next `send`; one thread sends at a time
};

class memory final : public store {
public:
    explicit memory(std::string_view name) : host_{hosts_->get(name)} {}

    std::unique_ptr<store_connection> connect(std::weak_ptr<store_listener> listener) override {
        auto connection = std::make_unique<memory_connection>(host_, listener);
        if (const auto alive = listener.lock()) alive->up(only_epoch);
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
