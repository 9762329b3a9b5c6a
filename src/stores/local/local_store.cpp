#include "stores/local/local_store.hpp"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "baton/error.hpp"
#include "stores/local/start_agent.hpp"
#include "stores/resp/connection.hpp"
#include "stores/resp/io_thread.hpp"
#include "stores/resp/wire.hpp"

namespace baton::detail {
namespace {

using namespace std::chrono_literals;

/// A Unix socket is up in a moment. Whoever makes a client waits that long, so that his first command finds it up.
constexpr auto first_patience = 1s;
constexpr int most_patience = 6;  // as many times, while an agent is being started: a busy machine takes its time

bool says(const resp::value& answer, std::string_view word) {
    return answer.kind == resp::kind::error && answer.text.starts_with(word);
}

std::error_code error_of(const resp::value& answer) {
    if (says(answer, "DENIED ")) return errc::not_permitted;
    if (says(answer, "VERSION ") || says(answer, "RETIRING ")) return errc::version_mismatch;
    if (says(answer, "UNSUPPORTED ")) return errc::unsupported;
    return errc::rejected;
}

/// So many agents of another version make way before the program that clients start must be of another version, too.
constexpr int most_retired = 3;

/// Between a connection and a client: words on one side, bytes on the other.
class translator final : public resp::connection_user {
public:
    translator(local_address address, local_options options, std::weak_ptr<store_listener> listener)
        : address_{std::move(address)}, options_{options}, listener_{std::move(listener)} {}

    resp::dialled dial() override {
        std::error_code error;
        int socket = dial_local(address_, error);
        const bool nobody_there =
            error == std::errc::connection_refused || error == std::errc::no_such_file_or_directory;
        if (nobody_there && !options_.start) return {-1, errc::no_agent, true};
        if (nobody_there) {
            std::string said;
            starting_ = true;
            const auto failed = start_agent(address_, said);
            starting_ = false;
            if (failed) return {-1, failed, failed == errc::no_agent};
            error.clear();
            socket = dial_local(address_, error);
        }
        if (error == std::errc::permission_denied) error = errc::not_permitted;
        return {socket, error, error == errc::not_permitted};
    }
    resp::greeted answered_greeting(const resp::value& answer) override {
        if (const auto greeting = resp::decode_greeting(answer)) {
            retired_ = 0;
            return {{}, false, greeting->lineage};
        }
        // It makes way for ours. If ours is of another version as well, there is no use in starting it again and again.
        if (says(answer, "RETIRING ") && ++retired_ <= most_retired) return {errc::store_unavailable, false, 0};
        return {error_of(answer), true, 0};
    }
    void up(lineage lineage) override {
        if (const auto listener = listener_.lock()) listener->up(lineage);
        settle();
    }
    void down(std::error_code why) override {
        fail_looks(errc::store_unavailable);
        if (const auto listener = listener_.lock()) listener->down(why);
    }
    /// There is nobody to talk to, and will not be: the client hears so as soon as it says something.
    void hopeless(std::error_code why) override {
        {
            const std::lock_guard lock{mutex_};
            hopeless_ = why;
        }
        fail_looks(why);
        if (const auto listener = listener_.lock()) listener->up(0);
        settle();
    }
    void answered(message_tag tag, const resp::value& answer) override {
        if (auto look = take_look(tag)) return answer_look(look, answer);
        const auto listener = listener_.lock();
        if (!listener) return;
        if (auto heard = resp::decode_answer(answer))
            listener->replied(tag, heard->lineage, std::move(heard->events));
        else
            listener->failed(tag, failure::rejected, error_of(answer));
    }
    void pushed(const resp::value& message) override {
        const auto listener = listener_.lock();
        auto notice = resp::decode_notice(message);
        if (listener && notice) listener->noticed(notice->lineage, std::move(notice->events.front()));
    }

    using look_answer = std::function<void(std::error_code, snapshot)>;

    [[nodiscard]] std::error_code why_hopeless() {
        const std::lock_guard lock{mutex_};
        return hopeless_;
    }
    /// Tags of looks have a bit that clients' tags never reach.
    message_tag add_look(look_answer answer) {
        const std::lock_guard lock{mutex_};
        const message_tag tag = look_bit | ++looked_;
        looks_.emplace(tag, std::move(answer));
        return tag;
    }
    look_answer take_look(message_tag tag) {
        const std::lock_guard lock{mutex_};
        auto node = looks_.extract(tag);
        return node ? std::move(node.mapped()) : nullptr;
    }
    void refuse(const message& message, std::error_code why) {
        const auto listener = listener_.lock();
        if (!listener) return;
        if (const auto* close = std::get_if<protocol::close>(&message.command))
            listener->replied(message.tag, 0, {{{}, protocol::closed{close->session}}});
        else
            listener->failed(message.tag, failure::rejected, why);
    }
    void wait_until_settled() {
        std::unique_lock lock{mutex_};
        for (int times = 0; times < most_patience; ++times)
            if (changed_.wait_for(lock, first_patience, [this] { return settled_; }) || !starting_) return;
    }

private:
    static constexpr message_tag look_bit = message_tag{1} << 62U;

    void settle() {
        const std::lock_guard lock{mutex_};
        settled_ = true;
        changed_.notify_all();
    }
    void fail_looks(std::error_code why) {
        std::map<message_tag, look_answer> failed;
        {
            const std::lock_guard lock{mutex_};
            failed.swap(looks_);
        }
        for (const auto& [tag, answer] : failed) answer(why, {});
    }
    static void answer_look(const look_answer& look, const resp::value& answer) {
        if (auto seen = resp::decode_snapshot(answer))
            look({}, std::move(*seen));
        else
            look(error_of(answer), {});
    }

    const local_address address_;
    const local_options options_;
    const std::weak_ptr<store_listener> listener_;
    int retired_ = 0;  // in a row
    std::atomic<bool> starting_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    bool settled_ = false;
    std::error_code hopeless_;
    message_tag looked_ = 0;
    std::map<message_tag, look_answer> looks_;
};

class local_line final : public store_line {
public:
    local_line(std::shared_ptr<resp::io_thread> thread, std::string greeting, std::shared_ptr<translator> translator)
        : thread_{std::move(thread)},
          translator_{std::move(translator)},
          connection_{std::make_shared<resp::connection>(thread_->context(), std::move(greeting), translator_)} {
        connection_->start();
        if (!thread_->is_this_thread()) translator_->wait_until_settled();
    }
    local_line(const local_line&) = delete;
    local_line& operator=(const local_line&) = delete;
    ~local_line() override { connection_->stop(); }

    void send(std::vector<message> messages) override {
        std::string bytes;
        std::vector<message_tag> tags;
        for (const message& message : messages) {
            resp::encode(bytes, message.command);
            tags.push_back(message.tag);
        }
        if (connection_->send(bytes, tags)) return;
        if (const auto why = translator_->why_hopeless())
            for (const message& message : messages) translator_->refuse(message, why);
    }
    void reset() override { connection_->reset(); }
    void inspect(const inspect_filter& filter, std::function<void(std::error_code, snapshot)> answer) override {
        std::string bytes;
        resp::encode(bytes, resp::look{filter});
        const message_tag tag = translator_->add_look(std::move(answer));
        if (connection_->send(bytes, {tag})) return;
        const auto why = translator_->why_hopeless();
        if (const auto look = translator_->take_look(tag)) look(why ? why : errc::store_unavailable, {});
    }

private:
    std::shared_ptr<resp::io_thread> thread_;
    std::shared_ptr<translator> translator_;
    std::shared_ptr<resp::connection> connection_;
};

class local final : public store {
public:
    local(local_address address, local_options options) : address_{std::move(address)}, options_{options} {}

    std::unique_ptr<store_line> connect(std::weak_ptr<store_listener> listener) override {
        std::string greeting;
        resp::encode(greeting, resp::hello{resp::wire_version, address_.space, options_.companion});
        auto between = std::make_shared<translator>(address_, options_, std::move(listener));
        return std::make_unique<local_line>(thread_, std::move(greeting), std::move(between));
    }
    [[nodiscard]] lease_clock clock() const override { return lease_clock::monotonic; }

private:
    const local_address address_;
    const local_options options_;
    std::shared_ptr<resp::io_thread> thread_ = std::make_shared<resp::io_thread>();
};

}  // namespace

std::shared_ptr<store> local_store(local_address address, local_options options) {
    return std::make_shared<local>(std::move(address), options);
}

}  // namespace baton::detail
