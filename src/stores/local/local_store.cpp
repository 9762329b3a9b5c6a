#include "stores/local/local_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "baton/error.hpp"
#include "stores/local/pidfd.hpp"
#include "stores/local/start_agent.hpp"
#include "stores/resp/line_user.hpp"
#include "stores/resp/wire.hpp"

namespace baton::detail {
namespace {

bool says(const resp::value& answer, std::string_view word) {
    return answer.kind == resp::kind::error && answer.text.starts_with(word);
}

std::error_code error_of(const resp::value& answer) {
    if (says(answer, "DENIED ")) return errc::not_permitted;
    if (says(answer, "VERSION ") || says(answer, "RETIRING ")) return errc::version_mismatch;
    if (says(answer, "UNSUPPORTED ")) return errc::unsupported;
    if (says(answer, "LIMIT ") || says(answer, "UNRECORDED ")) return errc::store_full;
    return errc::rejected;
}

/// The last reason that was given for an error, in the words of the agent or of the system. Thread-safe.
class last_words {
public:
    void note(std::error_code error, std::string words) {
        const std::lock_guard lock{mutex_};
        error_ = error;
        words_ = std::move(words);
    }
    [[nodiscard]] std::string about(std::error_code error) const {
        const std::lock_guard lock{mutex_};
        return error == error_ ? words_ : std::string{};
    }

private:
    mutable std::mutex mutex_;
    std::error_code error_;
    std::string words_;
};

/// What to do where the user's own address cannot be used: another user can take that, but not a file in a folder of
/// the user's.
std::string use_a_socket_file() {
    const char* const folder = std::getenv("XDG_RUNTIME_DIR");
    const bool known = folder != nullptr && *folder == '/';
    return "; set BATON_URL=local:" + (known ? std::string{folder} + "/baton" : "PATH") +
           " for all programs that share locks" +
           (known ? "" : ", where PATH is a socket file in a folder that only this user may write to");
}

/// Give up after three agents of another version: the program that clients start must be of another version, too.
constexpr int most_retired = 3;

/// Between a connection and a client: words on one side, bytes on the other.
class translator final : public resp::line_user, public std::enable_shared_from_this<translator> {
public:
    translator(local_address address, local_options options, const std::shared_ptr<resp::io_thread>& thread,
               std::shared_ptr<last_words> words, std::weak_ptr<store_listener> listener)
        : line_user{std::move(listener)},
          address_{std::move(address)},
          options_{std::move(options)},
          thread_{thread},
          words_{std::move(words)} {}

    /// An agent is started by the store's own thread: that takes its time.
    void dial(asio::io_context& /*context*/, resp::dial_result done) override {
        resp::dialled made = dial();
        if (made.error != errc::no_agent) return done(made);
        const auto thread = thread_.lock();
        if (!options_.start || !thread) return done({-1, errc::no_agent, true});
        starting_ = true;
        const auto self = shared_from_this();
        thread->perform([self, done = std::move(done)] { done(self->start()); });
    }
    resp::greeting_step begin_greeting() override {
        greeted_ = 0;
        resp::greeting_step step;
        step.with = pidfds();
        resp::hello hello{resp::wire_version, address_.space, {}};
        // Without a pidfd the agent asks the kernel which process this is. With a companion that must not be: the
        // session would end with this process, and the companion may live on.
        if (!step.with.empty() || options_.companion) hello.processes = step.with.size();
        resp::encode(step.send, hello);
        return step;
    }
    resp::greeting_step answered_greeting(const resp::value& answer) override {
        // To BATON.SWEEP. An agent of another user, which may not kill, refuses it: then nothing is swept.
        if (const baton::lineage greeted = std::exchange(greeted_, 0); greeted != 0) return {.lineage = greeted};
        if (const auto greeting = resp::decode_greeting(answer)) {
            retired_ = 0;
            if (options_.tree.cookie.empty()) return {.lineage = greeting->lineage};
            greeted_ = greeting->lineage;
            resp::greeting_step step;
            resp::encode(step.send, resp::sweep{options_.tree});
            return step;
        }
        // It makes way for ours. If ours is of another version as well, there is no use in starting it again and again.
        if (says(answer, "RETIRING ") && ++retired_ <= most_retired) return {errc::store_unavailable};
        return {noted(answer), true};
    }
    void down(std::error_code why) override {
        fail_looks(errc::store_unavailable);
        line_user::down(why);
    }
    void hopeless(std::error_code why) override {
        fail_looks(why);
        line_user::hopeless(why);
    }
    void answered(command_tag tag, const resp::value& answer) override {
        if (auto look = take_look(tag)) return answer_look(look, answer);
        const auto told = listener();
        if (!told) return;
        if (auto heard = resp::decode_answer(answer))
            told->replied(tag, heard->lineage, std::move(heard->events));
        else
            told->failed(tag, command_failure::rejected, noted(answer));
    }
    void pushed(const resp::value& message) override {
        const auto told = listener();
        auto notice = resp::decode_notice(message);
        if (told && notice) told->noticed(notice->lineage, std::move(notice->events.front()));
    }

    /// Tags of looks have a bit that clients' tags never reach.
    command_tag add_look(resp::look_answer answer) {
        const std::lock_guard lock{mutex_};
        const command_tag tag = look_bit | ++looked_;
        looks_.emplace(tag, std::move(answer));
        return tag;
    }
    resp::look_answer take_look(command_tag tag) {
        const std::lock_guard lock{mutex_};
        auto node = looks_.extract(tag);
        return node ? std::move(node.mapped()) : nullptr;
    }

private:
    /// Of this process and of the companion; or of none. Made for each connection: after fork it is another process
    /// that connects.
    [[nodiscard]] resp::passed_descriptors pidfds() const {
        resp::passed_descriptors made{std::make_shared<resp::descriptor>(pidfd_of(getpid()))};
        if (options_.companion) made.push_back(options_.companion);
        const bool all = std::ranges::all_of(made, [](const auto& each) { return each->is_open(); });
        return all ? made : resp::passed_descriptors{};
    }

    static constexpr command_tag look_bit = command_tag{1} << 62U;

    [[nodiscard]] bool is_starting() const override { return starting_; }
    [[nodiscard]] resp::dialled dial() const {
        std::error_code error;
        std::string why;
        const int socket = dial_local(address_, error, why);
        if (error == std::errc::connection_refused || error == std::errc::no_such_file_or_directory)
            return {-1, errc::no_agent};
        if (error == errc::not_permitted) note(error, why);
        return {socket, error, error == errc::not_permitted};
    }
    resp::dialled start() {
        std::string said;
        const auto failed = start_agent(address_, said);
        starting_ = false;
        if (!failed) return dial();
        if (failed == errc::no_agent) note(failed, said);
        return {-1, failed, failed == errc::no_agent};
    }
    /// The address is of no use.
    void note(std::error_code error, const std::string& why) const {
        words_->note(error, address_.is_own() && !why.empty() ? why + use_a_socket_file() : why);
    }
    /// What the agent said is kept for `store::explanation`.
    std::error_code noted(const resp::value& answer) const {
        const std::error_code error = error_of(answer);
        words_->note(error, answer.text);
        return error;
    }
    void fail_looks(std::error_code why) {
        std::map<command_tag, resp::look_answer> failed;
        {
            const std::lock_guard lock{mutex_};
            failed.swap(looks_);
        }
        for (const auto& [tag, answer] : failed) answer(why, {});
    }
    void answer_look(const resp::look_answer& look, const resp::value& answer) const {
        if (auto seen = resp::decode_snapshot(answer))
            look({}, std::move(*seen));
        else
            look(noted(answer), {});
    }

    const local_address address_;
    const local_options options_;
    const std::weak_ptr<resp::io_thread> thread_;
    const std::shared_ptr<last_words> words_;
    baton::lineage greeted_ = 0;  // by an agent that has yet to answer BATON.SWEEP
    int retired_ = 0;             // agents of another version that made way, in a row
    std::atomic<bool> starting_{false};
    std::mutex mutex_;
    command_tag looked_ = 0;
    std::map<command_tag, resp::look_answer> looks_;
};

class local_line final : public resp::connected_line {
public:
    local_line(std::shared_ptr<resp::io_thread> thread, std::shared_ptr<translator> translator)
        : connected_line{std::move(thread), translator}, translator_{std::move(translator)} {
        begin();
    }

    void send(std::vector<tagged_command> messages) override {
        std::string bytes;
        std::vector<command_tag> tags;
        for (const tagged_command& each : messages) {
            resp::encode(bytes, each.command);
            tags.push_back(each.tag);
        }
        if (!connection()->send(bytes, tags)) translator_->refuse_if_hopeless(messages);
    }
    void inspect(const inspect_filter& filter, std::function<void(std::error_code, snapshot)> answer) override {
        std::string bytes;
        resp::encode(bytes, resp::look{filter});
        const command_tag tag = translator_->add_look(std::move(answer));
        if (connection()->send(bytes, {tag})) return;
        const auto why = translator_->why_hopeless();
        if (const auto look = translator_->take_look(tag)) look(why ? why : errc::store_unavailable, {});
    }

private:
    std::shared_ptr<translator> translator_;
};

class local final : public store {
public:
    local(local_address address, local_options options) : address_{std::move(address)}, options_{std::move(options)} {}

    std::unique_ptr<store_line> connect(std::weak_ptr<store_listener> listener) override {
        auto between = std::make_shared<translator>(address_, options_, thread_, words_, std::move(listener));
        return std::make_unique<local_line>(thread_, std::move(between));
    }
    [[nodiscard]] lease_clock clock() const override { return lease_clock::monotonic; }
    [[nodiscard]] std::string explanation(std::error_code error) const override { return words_->about(error); }
    void wait(sleeper& who) override { thread_->wait(who); }
    void wake(sleeper& who) override { thread_->wake(who); }

private:
    const local_address address_;
    const local_options options_;
    std::shared_ptr<resp::io_thread> thread_ = std::make_shared<resp::io_thread>();
    std::shared_ptr<last_words> words_ = std::make_shared<last_words>();
};

}  // namespace

std::shared_ptr<store> local_store(local_address address, local_options options) {
    return std::make_shared<local>(std::move(address), std::move(options));
}

}  // namespace baton::detail
