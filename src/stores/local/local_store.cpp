#include "stores/local/local_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "base/process_wide.hpp"
#include "base/slow_work.hpp"
#include "baton/error.hpp"
#include "program/start_agent.hpp"
#include "stores/local/address.hpp"
#include "stores/resp/connection.hpp"
#include "stores/resp/wire.hpp"
#include "system/pidfd.hpp"

namespace baton::detail {
namespace {

bool says(const resp::value& answer, std::string_view word) {
    return answer.kind == resp::kind::error && answer.text.starts_with(word);
}

/// With the agent's own words.
store_error error_of(const resp::value& answer) {
    const auto with = [&answer](errc code) { return store_error{code, std::string{answer.text}}; };
    if (says(answer, "DENIED ")) return with(errc::not_permitted);
    if (says(answer, "VERSION ") || says(answer, "RETIRING ")) return with(errc::version_mismatch);
    if (says(answer, "UNSUPPORTED ")) return with(errc::unsupported);
    if (says(answer, "LIMIT ") || says(answer, "UNRECORDED ")) return with(errc::store_full);
    return with(errc::rejected);
}

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

class agent_connection final : public resp::connection {
public:
    agent_connection(event_loop& loop, local_address address, local_options options,
                     std::weak_ptr<store_listener> listener)
        : connection{loop, std::move(listener)}, address_{std::move(address)}, options_{std::move(options)} {}

    /// On the thread of the client.
    void perform(std::span<const tagged_command> commands) {
        bytes_.clear();
        tags_.clear();
        for (const tagged_command& each : commands) {
            resp::encode(bytes_, each.command);
            tags_.push_back(each.tag);
        }
        send(bytes_, tags_);
    }
    void inspect(const inspect_filter& filter, inspect_answer answer) {
        std::string bytes;
        resp::encode(bytes, resp::inspect_request{filter});
        const command_tag tag = add_inspection(std::move(answer));
        if (send(bytes, std::array{tag})) return;
        if (const auto inspection = take_inspection(tag)) inspection({errc::store_unavailable}, {});
    }

private:
    void open_socket(resp::socket_result done) override {
        resp::opened_socket made = try_connect();
        if (made.error.code != errc::no_agent) return done(made);
        if (!options_.start) return done({-1, {errc::no_agent}, true});
        run_slow_work(
            process_wide<slow_threads>(), [this, self = shared_from_this()] { return start_and_connect(); },
            [kept = loop().shared_from_this(), done = std::move(done)](const resp::opened_socket& started) {
                kept->post([started, done] { done(started); });
            });
    }
    resp::handshake_step begin_handshake() override {
        offered_epoch_ = 0;
        resp::handshake_step step;
        step.with = pidfds();
        resp::hello hello{resp::wire_version, address_.space, {}};
        // Without a pidfd the agent asks the kernel which process this is. With a companion that must not be: the
        // session would end with this process, and the companion may live on.
        if (!step.with.empty() || options_.companion) hello.processes = step.with.size();
        resp::encode(step.send, hello);
        return step;
    }
    resp::handshake_step continue_handshake(const resp::value& answer) override {
        // To BATON.SWEEP. An agent of another user, which may not kill, refuses it: then nothing is swept.
        if (const baton::epoch offered = std::exchange(offered_epoch_, 0); offered != 0) return {.epoch = offered};
        if (const auto handshake = resp::decode_hello_reply(answer)) {
            retired_ = 0;
            if (options_.tree.cookie.empty()) return {.epoch = handshake->epoch};
            offered_epoch_ = handshake->epoch;
            resp::handshake_step step;
            resp::encode(step.send, resp::sweep{options_.tree});
            return step;
        }
        // It makes way for ours. If ours is of another version as well, there is no use in starting it again and again.
        if (says(answer, "RETIRING ") && ++retired_ <= most_retired)
            return {.error = {errc::store_unavailable, std::string{answer.text}}};
        return {.error = error_of(answer), .permanent = true};
    }
    void down(const store_error& why) override {
        fail_inspections({errc::store_unavailable, why.text});
        connection::down(why);
    }
    void answered(command_tag tag, const resp::value& answer) override {
        if ((tag & inspection_bit) != 0) {
            if (const auto inspection = take_inspection(tag)) answer_inspection(inspection, answer);
            return;
        }
        const auto told = listener();
        if (!told) return;
        if (resp::decode_answer(answer, heard_))
            told->replied(tag, heard_.epoch, heard_.events);
        else
            told->failed(tag, command_failure::rejected, error_of(answer));
    }
    void pushed(const resp::value& message) override {
        const auto told = listener();
        auto notice = resp::decode_notice(message);
        if (told && notice) told->noticed(notice->epoch, std::move(notice->events.front()));
    }

    /// Tags of inspections have a bit that clients' tags never reach.
    command_tag add_inspection(inspect_answer answer) {
        const std::lock_guard lock{mutex_};
        const command_tag tag = inspection_bit | ++last_inspection_;
        inspections_.emplace(tag, std::move(answer));
        return tag;
    }
    inspect_answer take_inspection(command_tag tag) {
        const std::lock_guard lock{mutex_};
        auto node = inspections_.extract(tag);
        return node ? std::move(node.mapped()) : nullptr;
    }

    /// Of this process and of the companion; or of none. Made for each connection: after fork it is another process
    /// that connects.
    [[nodiscard]] resp::passed_descriptors pidfds() const {
        resp::passed_descriptors made{std::make_shared<descriptor>(pidfd_of(getpid()))};
        if (options_.companion) made.push_back(options_.companion);
        const bool all = std::ranges::all_of(made, [](const auto& each) { return each->is_open(); });
        return all ? made : resp::passed_descriptors{};
    }

    static constexpr command_tag inspection_bit = command_tag{1} << 62U;

    [[nodiscard]] resp::opened_socket try_connect() const {
        std::error_code error;
        std::string why;
        const int socket = connect_local(address_, error, why);
        if (error == std::errc::connection_refused || error == std::errc::no_such_file_or_directory)
            return {-1, {errc::no_agent}};
        return {socket, explained(error, why), error == errc::not_permitted};
    }
    [[nodiscard]] resp::opened_socket start_and_connect() const {
        std::string said;
        const auto failed = start_agent(address_, said);
        if (!failed) return try_connect();
        return {-1, explained(failed, said), failed == errc::no_agent};
    }
    /// Where the address is of no use, with what else to do.
    [[nodiscard]] store_error explained(std::error_code error, const std::string& why) const {
        const bool useless = error == errc::not_permitted || error == errc::no_agent;
        return {error, useless && address_.is_own() && !why.empty() ? why + use_a_socket_file() : why};
    }
    void fail_inspections(const store_error& why) {
        std::map<command_tag, inspect_answer> failed;
        {
            const std::lock_guard lock{mutex_};
            failed.swap(inspections_);
        }
        for (const auto& [tag, answer] : failed) answer(why, {});
    }
    static void answer_inspection(const inspect_answer& inspection, const resp::value& answer) {
        if (auto seen = resp::decode_snapshot(answer))
            inspection({}, std::move(*seen));
        else
            inspection(error_of(answer), {});
    }

    const local_address address_;
    const local_options options_;

    // By the loop owner.
    baton::epoch offered_epoch_ = 0;  // by an agent that has yet to answer BATON.SWEEP
    int retired_ = 0;                 // agents of another version that made way, in a row
    resp::answer heard_;              // the last one; its memory is used again

    // Of the thread that sends, one at a time.
    std::string bytes_;
    std::vector<command_tag> tags_;

    std::mutex mutex_;
    command_tag last_inspection_ = 0;
    std::map<command_tag, inspect_answer> inspections_;
};

class local final : public store {
public:
    local(local_address address, local_options options) : address_{std::move(address)}, options_{std::move(options)} {}

    std::unique_ptr<store_connection> connect(std::weak_ptr<store_listener> listener) override {
        return std::make_unique<resp::connection_to<agent_connection>>(loop_, address_, options_, std::move(listener));
    }
    [[nodiscard]] lease_clock clock() const override { return lease_clock::monotonic; }

private:
    const local_address address_;
    const local_options options_;
    const std::shared_ptr<event_loop> loop_ = process_wide<event_loop>();
};

}  // namespace

std::shared_ptr<store> local_store(local_address address, local_options options) {
    return std::make_shared<local>(std::move(address), std::move(options));
}

}  // namespace baton::detail
