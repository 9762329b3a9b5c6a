// The mutex of amphp/redis: a key with the token of its owner, which expires, and a list of the tokens that wait. Its
// clients ask again and again. Ours do so too, but seldom: they watch the key while they are first in the queue, and
// among each other they pass it on at once, with a notice under a key that others do not know. docs/dialects.md.
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

/// A number, and the time.
bool is_whole(const answers& answers) {
    return answers.size() == 2 && answers[0].kind == resp::kind::number && time_in(answers[1]) != server_time{};
}

claim_result not_understood() { return {.status = claim_status::failed, .error = errc::rejected}; }

class amphp_entry final : public queue_entry {
public:
    amphp_entry(talk& talk, const amphp_options& options, const std::string& name)
        : talk_{talk},
          options_{options},
          keys_{options.key_prefix},
          lock_{keys_.lock(name)},
          queue_{keys_.queue(name)},
          token_{base64(talk.random_bytes())} {}

    void poll(heard done) override {
        // Most are never told anything: the server would remember what they watched.
        if (queued_) talk_.watch(keys_.notice(token_), *this);
        if (near()) talk_.watch(lock_, *this);
        talk_.ask({call(amphp_scripts::lock, {lock_, queue_},
                        {token_, text_of(options_.lock_expiration),
                         text_of(options_.lock_expiration + options_.lock_timeout), keys_.notice("")}),
                   {"TIME"}},
                  [this, done = std::move(done)](const answers& answers) { polled(answers, done); });
    }

    void renew(heard done) override {
        talk_.ask({call(amphp_scripts::renew, {lock_}, {text_of(options_.lock_expiration), token_}), {"TIME"}},
                  [done = std::move(done)](const answers& answers) {
                      if (const auto* error = error_in(answers)) return done(failure_of(*error));
                      if (!is_whole(answers)) return done(not_understood());
                      done({.status = answers[0].number == 1 ? claim_status::held : claim_status::gone,
                            .at = time_in(answers[1])});
                  });
    }

    /// First out of the queue: else it might be made the owner in between.
    void leave(std::function<void()> done) override {
        left_ = true;
        std::vector<words> said{{"LREM", queue_, "0", token_},
                                call(amphp_scripts::unlock, {lock_, queue_},
                                     {token_, text_of(options_.lock_expiration), keys_.notice("")})};
        // The server keeps a list of what is watched until it changes: a notice that never came would stay in it.
        if (queued_) said.insert(said.end(), {{"SET", keys_.notice(token_), ""}, {"DEL", keys_.notice(token_)}});
        talk_.ask(std::move(said), [done = std::move(done)](const answers&) { done(); });
    }

    /// As its own clients do; who is first and watches the key has no need to. Every renewal looks as well: so a lock
    /// that was given to it is found before it expires, however short that is, and no queue expires between two looks.
    [[nodiscard]] protocol::duration poll_delay() const override {
        const bool watching = near() && talk_.can_watch();
        return watching ? longest_delay : 5ms + std::min(10ms * position_, longest_delay);
    }

    [[nodiscard]] std::vector<std::string> names() const override { return {token_}; }

private:
    static constexpr std::chrono::milliseconds longest_delay{300};

    void polled(const answers& answers, const heard& done) {
        if (const auto* error = error_in(answers)) return done(failure_of(*error));
        if (!is_whole(answers)) return done(not_understood());
        if (answers[0].number > 0) {
            if (queued_) talk_.ask({{"DEL", keys_.notice(token_)}}, [](const dialects::answers&) {});
            return done({.status = claim_status::held, .at = time_in(answers[1])});
        }
        const bool newly_queued = !std::exchange(queued_, true);
        const bool was_near = near();
        position_ = -1 - answers[0].number;
        const bool watches_more = newly_queued || (near() && !was_near);
        // Whatever happened before it is watched is not heard of. Who has left meanwhile must not queue again.
        if (watches_more && !left_ && talk_.can_watch()) return poll(done);
        done({.status = claim_status::waiting});
    }

    /// The answer to the first look counts from 1, later ones from 0.
    [[nodiscard]] bool near() const { return position_ <= 1; }

    talk& talk_;
    const amphp_options& options_;
    const amphp_keys keys_;
    const std::string lock_;
    const std::string queue_;
    const std::string token_;
    std::int64_t position_ = 2;  // in the queue, when it was told last
    bool queued_ = false;
    bool left_ = false;
};

class amphp_speaker final : public dialect::speaker {
public:
    amphp_speaker(talk& talk, const amphp_options& options)
        : talk_{talk}, options_{options}, keys_{options.key_prefix} {}

    [[nodiscard]] std::unique_ptr<queue_entry> make_entry(const claim& claim, const protocol::enter_options&) override {
        return std::make_unique<amphp_entry>(talk_, options_, claim.resource);
    }

    void list(const inspect_filter& filter, list_answer done) override {
        find_keys(talk_, filter, keys_.lock(""), "string",
                  [this, done = std::move(done)](std::error_code error, const std::vector<std::string>& locks) {
                      if (error) return done(error, {});
                      list_names(locks, done);
                  });
    }

private:
    void list_names(const std::vector<std::string>& locks, const list_answer& done) {
        if (locks.empty()) return done({}, {});
        std::vector<words> asked;
        std::vector<std::string> names;
        for (const std::string& lock : locks) {
            names.push_back(lock.substr(keys_.lock("").size()));
            asked.push_back({"GET", lock});
            asked.push_back({"LRANGE", keys_.queue(names.back()), "0", "-1"});
        }
        talk_.ask(asked, [names, done](const answers& answers) {
            listing found;
            for (std::size_t i = 0; i < names.size(); ++i) {
                const resp::value& token = answers[2 * i];
                if (token.kind != resp::kind::bulk) continue;  // released meanwhile
                found.requests.push_back({names[i], token.text, true});
                for (const resp::value& waiter : answers[2 * i + 1].items)
                    found.requests.push_back({names[i], waiter.text, false});
            }
            done({}, std::move(found));
        });
    }

    talk& talk_;
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
    [[nodiscard]] std::unique_ptr<speaker> make_speaker(talk& talk) const override {
        return std::make_unique<amphp_speaker>(talk, options_);
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
