#include "raw_connection.hpp"

#include <random>

#include "bench.hpp"

namespace baton::contract {

class raw_connection::listener final : public store_listener {
public:
    void up(epoch) noexcept override {
        const std::lock_guard lock{mutex_};
        up_ = true;
        changed_.notify_all();
    }
    void down(const store_error&) noexcept override {
        const std::lock_guard lock{mutex_};
        up_ = false;
    }
    void unusable(const store_error& why) noexcept override {
        const std::lock_guard lock{mutex_};
        unusable_ = why;
        changed_.notify_all();
    }
    void replied(command_tag tag, epoch, std::span<const protocol::event> events) noexcept override {
        const std::lock_guard lock{mutex_};
        replies_[tag] = {{events.begin(), events.end()}, {}, true};
        changed_.notify_all();
    }
    void failed(command_tag tag, command_failure, const store_error& why) noexcept override {
        const std::lock_guard lock{mutex_};
        replies_[tag] = {{}, why.code, true};
        changed_.notify_all();
    }
    void noticed(epoch, protocol::event event) noexcept override {
        const std::lock_guard lock{mutex_};
        notices_.push_back(std::move(event));
        changed_.notify_all();
    }

    void wait_until_up() {
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, timeout(), [this] { return up_ || unusable_.code; });
        EXPECT_TRUE(up_) << "the connection did not come up: " << unusable_.code.message() << " " << unusable_.text;
    }
    reply take(command_tag tag) {
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, timeout(), [&] { return replies_.contains(tag); });
        return replies_[tag];
    }
    std::vector<protocol::event> take_notice(const std::function<bool(const protocol::event&)>& which) {
        std::unique_lock lock{mutex_};
        std::vector<protocol::event> taken;
        changed_.wait_for(lock, timeout(), [&] {
            for (auto next = notices_.begin(); next != notices_.end(); ++next) {
                if (!which(*next)) continue;
                taken.push_back(std::move(*next));
                notices_.erase(next);
                return true;
            }
            return false;
        });
        return taken;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool up_ = false;
    store_error unusable_;
    std::map<command_tag, reply> replies_;
    std::vector<protocol::event> notices_;
};

raw_connection::raw_connection(const std::shared_ptr<store>& store)
    : store_{store}, listener_{std::make_shared<listener>()}, connection_{store->connect(listener_)} {
    listener_->wait_until_up();
}

reply raw_connection::call(protocol::command command) { return call_all({std::move(command)}).front(); }

std::vector<reply> raw_connection::call_all(std::vector<protocol::command> commands) {
    std::vector<tagged_command> messages;
    for (protocol::command& command : commands) messages.push_back({++tag_, std::move(command)});
    const command_tag last = tag_;
    connection_->send(messages);
    std::vector<reply> replies;
    for (command_tag tag = last - commands.size() + 1; tag <= last; ++tag) {
        replies.push_back(listener_->take(tag));
        EXPECT_TRUE(replies.back().arrived) << "a command got no reply";
    }
    return replies;
}

std::vector<protocol::event> raw_connection::wait_for_notice(const std::function<bool(const protocol::event&)>& which) {
    return listener_->take_notice(which);
}

protocol::session_id raw_connection::open() {
    const protocol::session_id session = draw_session();
    EXPECT_TRUE(call_for<protocol::alive>(protocol::open{session, 10s, "raw", 1, 0, {}})) << "`open` was refused";
    return session;
}

std::vector<protocol::request_state> raw_connection::list(const protocol::session_id& session) {
    std::vector<protocol::request_state> all;
    for (bool more = true; more;) {
        const std::uint64_t after = all.empty() ? 0 : all.back().number;
        const auto page = call_for<protocol::listed>(protocol::list{session, after});
        if (!page) return {};
        EXPECT_EQ(page->after, after);
        EXPECT_LE(page->requests.size(), protocol::bounds::page);
        all.insert(all.end(), page->requests.begin(), page->requests.end());
        more = page->more && !page->requests.empty();
    }
    return all;
}

bool reports(const protocol::alive& alive, const std::vector<protocol::request_state>& requests) {
    std::uint64_t digest = 0;
    for (const protocol::request_state& request : requests) digest += protocol::request_digest(request);
    return alive.count == requests.size() && alive.digest == digest;
}

protocol::session_id draw_session() {
    std::random_device random;
    const auto word = [&random] { return (std::uint64_t{random()} << 32) | random(); };
    return {word(), word()};
}

}  // namespace baton::contract
