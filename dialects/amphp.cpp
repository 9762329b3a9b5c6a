// The mutex of amphp/redis: a key with the token of the holder, which expires, and a list with the tokens of the
// waiters. The original clients poll. Ours poll less often: they watch the key while they are near the head, and a
// release notifies the next waiter through a key that the original clients do not use. docs/dialects.md.
#include <algorithm>
#include <utility>

#include "base64.hpp"
#include "baton/error.hpp"
#include "dialect.hpp"
#include "listing.hpp"
#include "option_reader.hpp"
#include "scripts.hpp"

namespace baton::dialects {
namespace {

using namespace std::chrono_literals;

struct amphp_options {
    std::string key_prefix;
    std::chrono::milliseconds lock_expiration{3'000};
    std::chrono::milliseconds lock_renew_interval{1'000};
    std::chrono::milliseconds lock_timeout{10'000};
};

struct amphp_keys {
    std::string prefix;

    [[nodiscard]] std::string lock(const std::string& name) const { return prefix + "lock:" + name; }
    [[nodiscard]] std::string queue(const std::string& name) const { return prefix + "lock-queue:" + name; }
    [[nodiscard]] std::string notice(const std::string& token) const { return prefix + "lock-notify:" + token; }
};

std::string text_of(std::chrono::milliseconds time) { return std::to_string(time.count()); }

/// Whether the replies are a number and the time.
bool is_whole(const replies& replies) {
    return replies.size() == 2 && replies[0].kind == resp::kind::number && time_in(replies[1]) != server_time{};
}

claim_result not_understood() { return {.status = claim_status::failed, .error = errc::rejected}; }

class amphp_entry final : public queue_entry {
public:
    amphp_entry(context& context, const amphp_options& options, const std::string& name)
        : context_{context},
          options_{options},
          keys_{options.key_prefix},
          lock_{keys_.lock(name)},
          queue_{keys_.queue(name)},
          token_{base64(context.random_bytes())} {}

    void poll(callback done) override {
        // Most requests are granted at once. For those the server need not track a watched key.
        if (queued_) context_.watch(keys_.notice(token_), *this);
        if (near()) context_.watch(lock_, *this);
        context_.execute({call(amphp_scripts::lock, {lock_, queue_},
                               {token_, text_of(options_.lock_expiration),
                                text_of(options_.lock_expiration + options_.lock_timeout), keys_.notice("")}),
                          {"TIME"}},
                         [this, done = std::move(done)](const replies& replies) { polled(replies, done); });
    }

    void renew(callback done) override {
        context_.execute({call(amphp_scripts::renew, {lock_}, {text_of(options_.lock_expiration), token_}), {"TIME"}},
                         [done = std::move(done)](const replies& replies) {
                             if (const auto* error = error_in(replies)) return done(failure_of(*error));
                             if (!is_whole(replies)) return done(not_understood());
                             done({.status = replies[0].number == 1 ? claim_status::held : claim_status::gone,
                                   .at = time_in(replies[1])});
                         });
    }

    /// Leaves the queue first, so that no other client can give it the lock before the unlock.
    void leave(std::function<void()> done) override {
        left_ = true;
        std::vector<redis_command> commands{{"LREM", queue_, "0", token_},
                                            call(amphp_scripts::unlock, {lock_, queue_},
                                                 {token_, text_of(options_.lock_expiration), keys_.notice("")})};
        // The server tracks a watched key until it changes; a key that is never written would be tracked for ever.
        if (queued_)
            commands.insert(commands.end(), {{"SET", keys_.notice(token_), ""}, {"DEL", keys_.notice(token_)}});
        context_.execute(std::move(commands), [done = std::move(done)](const replies&) { done(); });
    }

    /// The delays of the original clients, unless it watches the lock. Every renewal of the session polls as well, so
    /// an entry finds a lock that it was given before that lock expires, and the queue does not expire between two
    /// polls.
    [[nodiscard]] protocol::duration poll_delay() const override {
        const bool watching = near() && context_.can_watch();
        return watching ? longest_delay : 5ms + std::min(10ms * position_, longest_delay);
    }

    [[nodiscard]] std::vector<std::string> names() const override { return {token_}; }

private:
    static constexpr std::chrono::milliseconds longest_delay{300};

    void polled(const replies& replies, const callback& done) {
        if (const auto* error = error_in(replies)) return done(failure_of(*error));
        if (!is_whole(replies)) return done(not_understood());
        if (replies[0].number > 0) {
            if (queued_) context_.execute({{"DEL", keys_.notice(token_)}}, [](const dialects::replies&) {});
            return done({.status = claim_status::held, .at = time_in(replies[1])});
        }
        const bool newly_queued = !std::exchange(queued_, true);
        const bool was_near = near();
        position_ = -1 - replies[0].number;
        const bool watches_more = newly_queued || (near() && !was_near);
        // Poll again with the new watch, which misses earlier changes. An entry that has left must not queue again.
        if (watches_more && !left_ && context_.can_watch()) return poll(done);
        done({.status = claim_status::waiting});
    }

    /// The reply to the first poll counts from 1, later replies from 0.
    [[nodiscard]] bool near() const { return position_ <= 1; }

    context& context_;
    const amphp_options& options_;
    const amphp_keys keys_;
    const std::string lock_;
    const std::string queue_;
    const std::string token_;
    std::int64_t position_ = 2;  // the last known position in the queue
    bool queued_ = false;
    bool left_ = false;
};

class amphp_client final : public dialect::protocol_client {
public:
    amphp_client(context& context, const amphp_options& options)
        : context_{context}, options_{options}, keys_{options.key_prefix} {}

    [[nodiscard]] std::unique_ptr<queue_entry> make_entry(const claim& claim, const protocol::enter_options&) override {
        return std::make_unique<amphp_entry>(context_, options_, claim.resource);
    }

    void list(const inspect_filter& filter, list_callback done) override {
        find_keys(context_, filter, keys_.lock(""), "string",
                  [this, done = std::move(done)](std::error_code error, const std::vector<std::string>& locks) {
                      if (error) return done(error, {});
                      list_names(locks, done);
                  });
    }

private:
    void list_names(const std::vector<std::string>& locks, const list_callback& done) {
        if (locks.empty()) return done({}, {});
        std::vector<redis_command> commands;
        std::vector<std::string> names;
        for (const std::string& lock : locks) {
            names.push_back(lock.substr(keys_.lock("").size()));
            commands.push_back({"GET", lock});
            commands.push_back({"LRANGE", keys_.queue(names.back()), "0", "-1"});
        }
        context_.execute(commands, [names, done](const replies& replies) {
            listing found;
            for (std::size_t i = 0; i < names.size(); ++i) {
                const resp::value& token = replies[2 * i];
                if (token.kind != resp::kind::bulk) continue;  // released since the scan
                found.requests.push_back({names[i], token.text, true});
                for (const resp::value& waiter : replies[2 * i + 1].items)
                    found.requests.push_back({names[i], waiter.text, false});
            }
            done({}, std::move(found));
        });
    }

    context& context_;
    const amphp_options& options_;
    const amphp_keys keys_;
};

class amphp final : public dialect {
public:
    explicit amphp(amphp_options options) : options_{std::move(options)} {}

    [[nodiscard]] lease_pace pace() const override { return {options_.lock_expiration, options_.lock_renew_interval}; }
    [[nodiscard]] std::string objection(std::span<const claim> claims,
                                        const protocol::enter_options& options) const override {
        return one_exclusive_name("amphp", claims, options);
    }
    [[nodiscard]] std::span<const redis::script_text> scripts() const override { return amphp_scripts::all; }
    [[nodiscard]] std::unique_ptr<protocol_client> make_protocol_client(context& context) const override {
        return std::make_unique<amphp_client>(context, options_);
    }

private:
    const amphp_options options_;
};

}  // namespace

std::shared_ptr<const dialect> make_amphp(const options& given) {
    option_reader read{"amphp", given};
    amphp_options options;
    options.key_prefix = read.text("key_prefix", "", 512);
    options.lock_expiration = read.time("lock_expiration", options.lock_expiration, 100ms, 24h);
    const auto usual = std::min(options.lock_renew_interval, options.lock_expiration / 3);
    options.lock_renew_interval = read.time("lock_renew_interval", usual, 10ms, options.lock_expiration / 2);
    options.lock_timeout = read.time("lock_timeout", options.lock_timeout, 0ms, 24h);
    read.finish();
    return std::make_shared<amphp>(std::move(options));
}

}  // namespace baton::dialects
