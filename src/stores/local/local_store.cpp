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

bool is_error(const resp::value& reply, std::string_view prefix) {
    return reply.kind == resp::kind::error && reply.text.starts_with(prefix);
}

/// The text is the agent's error reply.
store_error error_of(const resp::value& reply) {
    const auto with = [&reply](errc code) { return store_error{code, std::string{reply.text}}; };
    if (is_error(reply, "DENIED ")) return with(errc::not_permitted);
    if (is_error(reply, "VERSION ") || is_error(reply, "RETIRING ")) return with(errc::version_mismatch);
    if (is_error(reply, "UNSUPPORTED ")) return with(errc::unsupported);
    if (is_error(reply, "LIMIT ") || is_error(reply, "UNRECORDED ")) return with(errc::store_full);
    return with(errc::rejected);
}

/// Advice if the user's own address cannot be used: another user can listen there, but not on a socket file in a folder
/// of this user.
std::string use_a_socket_file() {
    const char* const folder = std::getenv("XDG_RUNTIME_DIR");
    const bool known = folder != nullptr && *folder == '/';
    return "; set BATON_URL=local:" + (known ? std::string{folder} + "/baton" : "PATH") +
           " for all programs that share locks" +
           (known ? "" : ", where PATH is a socket file in a folder that only this user may write to");
}

/// Give up after three agents of another version: then the program that this client starts is of another version too.
constexpr int most_retired = 3;

class agent_connection final : public resp::connection {
public:
    agent_connection(event_loop& loop, local_address address, local_options options,
                     std::weak_ptr<store_listener> listener)
        : connection{loop, std::move(listener)}, address_{std::move(address)}, options_{std::move(options)} {}

    // On the thread of the client.
    void perform(std::span<const tagged_command> commands) {
        bytes_.clear();
        tags_.clear();
        for (const tagged_command& each : commands) {
            resp::encode(bytes_, each.command);
            tags_.push_back(each.tag);
        }
        send(bytes_, tags_);
    }
    void inspect(const inspect_filter& filter, snapshot_callback done) {
        std::string bytes;
        resp::encode(bytes, resp::inspect_request{filter});
        const command_tag tag = add_inspection(std::move(done));
        if (send(bytes, std::array{tag})) return;
        if (const auto inspection = take_inspection(tag)) inspection({errc::store_unavailable}, {});
    }

private:
    void open_socket(resp::socket_result done) override {
        resp::opened_socket made = try_connect();
        if (made.error.code != errc::no_agent) return done(made);
        if (!options_.start) return done({-1, {errc::no_agent}, true});
        auto kept = loop().kept();
        if (!kept) return;
        run_slow_work(
            process_wide<slow_threads>(), [this, self = shared_from_this()] { return start_and_connect(); },
            [kept = std::move(kept), done = std::move(done)](const resp::opened_socket& started) {
                kept->post([started, done] { done(started); });
            });
    }
    resp::handshake_step begin_handshake() override {
        offered_epoch_ = 0;
        resp::handshake_step step;
        step.with = pidfds();
        resp::hello hello{resp::wire_version, address_.space, {}};
        // Without a count the agent asks the kernel for this process, and ends the session with it. That is wrong if
        // there is a companion, which may live on.
        if (!step.with.empty() || options_.companion) hello.processes = step.with.size();
        resp::encode(step.send, hello);
        return step;
    }
    resp::handshake_step continue_handshake(const resp::value& reply) override {
        // The reply to BATON.SWEEP. An agent of another user refuses it, because it may not kill: then nothing is
        // swept.
        if (const baton::epoch offered = std::exchange(offered_epoch_, 0); offered != 0) return {.epoch = offered};
        if (const auto handshake = resp::decode_hello_reply(reply)) {
            retired_ = 0;
            if (options_.tree.cookie.empty()) return {.epoch = handshake->epoch};
            offered_epoch_ = handshake->epoch;
            resp::handshake_step step;
            resp::encode(step.send, resp::sweep{options_.tree});
            return step;
        }
        // The agent retires, so that the next attempt starts one of this version.
        if (is_error(reply, "RETIRING ") && ++retired_ <= most_retired)
            return {.error = {errc::store_unavailable, std::string{reply.text}}};
        return {.error = error_of(reply), .permanent = true};
    }
    void down(const store_error& why) override {
        fail_inspections({errc::store_unavailable, why.text});
        connection::down(why);
    }
    void answered(command_tag tag, const resp::value& reply) override {
        if ((tag & inspection_bit) != 0) {
            if (const auto inspection = take_inspection(tag)) finish_inspection(inspection, reply);
            return;
        }
        const auto to = listener();
        if (!to) return;
        if (resp::decode_reply(reply, reply_))
            to->replied(tag, reply_.epoch, reply_.events);
        else
            to->failed(tag, command_failure::rejected, error_of(reply));
    }
    void pushed(const resp::value& message) override {
        const auto to = listener();
        auto notice = resp::decode_notice(message);
        if (to && notice) to->noticed(notice->epoch, std::move(notice->events.front()));
    }

    /// Inspections have tags with a bit that the tags of commands do not reach.
    command_tag add_inspection(snapshot_callback done) {
        const std::lock_guard lock{mutex_};
        const command_tag tag = inspection_bit | ++last_inspection_;
        inspections_.emplace(tag, std::move(done));
        return tag;
    }
    snapshot_callback take_inspection(command_tag tag) {
        const std::lock_guard lock{mutex_};
        auto node = inspections_.extract(tag);
        return node ? std::move(node.mapped()) : nullptr;
    }

    /// The pidfds of this process and of its companion; empty if one of them is missing. Made for each connection,
    /// because after a fork another process connects.
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
        std::string message;
        const auto failed = start_agent(address_, message);
        if (!failed) return try_connect();
        return {-1, explained(failed, message), failed == errc::no_agent};
    }
    /// Adds advice if the user's own address cannot be used.
    [[nodiscard]] store_error explained(std::error_code error, const std::string& why) const {
        const bool useless = error == errc::not_permitted || error == errc::no_agent;
        return {error, useless && address_.is_own() && !why.empty() ? why + use_a_socket_file() : why};
    }
    void fail_inspections(const store_error& why) {
        std::map<command_tag, snapshot_callback> failed;
        {
            const std::lock_guard lock{mutex_};
            failed.swap(inspections_);
        }
        for (const auto& [tag, done] : failed) done(why, {});
    }
    static void finish_inspection(const snapshot_callback& inspection, const resp::value& reply) {
        if (auto snapshot = resp::decode_snapshot(reply))
            inspection({}, std::move(*snapshot));
        else
            inspection(error_of(reply), {});
    }

    const local_address address_;
    const local_options options_;

    // By the loop owner.
    baton::epoch offered_epoch_ = 0;  // from the handshake, while BATON.SWEEP is pending
    int retired_ = 0;                 // consecutive agents of another version
    resp::reply reply_;               // the last reply; kept for its memory

    // One thread at a time sends.
    std::string bytes_;
    std::vector<command_tag> tags_;

    std::mutex mutex_;
    command_tag last_inspection_ = 0;
    std::map<command_tag, snapshot_callback> inspections_;
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
