// The semaphores of asyncio-advanced-semaphores: sorted sets of who holds and who waits, by the time at which each
// counts as dead; a slot is given to the first that waits by whoever runs `wake_up_nexts`, and a list of its own tells
// it so. Ours run that when they release, watch their list, and the slots while they are first in line.
// docs/dialects.md.
#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "stores/dialects/dialect.hpp"
#include "stores/dialects/hex.hpp"
#include "stores/dialects/listing.hpp"
#include "stores/dialects/option_reader.hpp"
#include "stores/dialects/scripts.hpp"
#include "stores/redis/url_text.hpp"

namespace baton::dialects {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

constexpr std::int64_t no_ttl = 2'147'483'637;
constexpr const char* id_placeholder = "@@@ACQUISITION_ID@@@";
constexpr auto turn_around = 1s;  // how often its own clients look

struct adv_sem_options {
    std::string name_space = "adv-sem";
    seconds heartbeat_max_interval{180};
    std::chrono::milliseconds ping_interval{36'000};
    std::optional<seconds> ttl;
};

struct adv_sem_keys {
    std::string start;  // of all of them

    [[nodiscard]] std::string main(const std::string& name) const { return start + "semaphore_main:" + name; }
    [[nodiscard]] std::string ttl(const std::string& name) const { return start + "semaphore_ttl:" + name; }
    [[nodiscard]] std::string max(const std::string& name) const { return start + "semaphore_max:" + name; }
    [[nodiscard]] std::string waiting(const std::string& name) const { return start + "semaphore_waiting:" + name; }
    [[nodiscard]] std::string heartbeat(const std::string& name) const {
        return start + "semaphore_waiting_heartbeat:" + name;
    }
    [[nodiscard]] std::string notice(const std::string& id) const { return start + "acquisition_notification:" + id; }
};

/// Seconds with microseconds, as its scripts read them.
std::string text_of(server_time time) {
    std::array<char, 40> text{};
    const auto micros = time.time_since_epoch().count();
    const int size = std::snprintf(text.data(), text.size(), "%lld.%06lld", static_cast<long long>(micros / 1'000'000),
                                   static_cast<long long>(micros % 1'000'000));
    return {text.data(), static_cast<std::size_t>(size)};
}

/// A uuid of version 4, without its hyphens.
std::string draw_id(talk& talk) {
    std::string bytes = talk.random_bytes();
    bytes[6] = static_cast<char>((static_cast<unsigned char>(bytes[6]) & 0x0fU) | 0x40U);
    bytes[8] = static_cast<char>((static_cast<unsigned char>(bytes[8]) & 0x3fU) | 0x80U);
    return hex(bytes);
}

class adv_sem_turn final : public turn {
public:
    adv_sem_turn(talk& talk, const adv_sem_options& options, const adv_sem_keys& keys, const claim& claim,
                 std::optional<protocol::duration> hold_limit)
        : talk_{talk},
          options_{options},
          keys_{keys},
          main_{keys.main(claim.resource)},
          ttl_{keys.ttl(claim.resource)},
          max_{keys.max(claim.resource)},
          waiting_{keys.waiting(claim.resource)},
          heartbeat_{keys.heartbeat(claim.resource)},
          alone_{claim.mode == mode::exclusive},
          id_{draw_id(talk)},
          limit_text_{std::to_string(alone_ ? 1U : claim.limit)},
          heartbeat_text_{std::to_string(options.heartbeat_max_interval.count())},
          ttl_text_{std::to_string(hold_limit ? std::chrono::ceil<seconds>(*hold_limit).count() : no_ttl)} {}

    void look(heard done) override {
        talk_.watch(keys_.notice(id_), *this);
        if (first_) talk_.watch(main_, *this);
        const std::string now = text_of(talk_.server_now());
        std::vector<words> asked;
        if (!std::exchange(queued_, true)) {
            asked.push_back(
                call(adv_sem_scripts::queue, {waiting_, heartbeat_}, {id_, heartbeat_text_, ttl_text_, now}));
            last_ping_ = talk_.now();
        } else if (talk_.now() - last_ping_ >= options_.ping_interval) {
            asked.push_back(ping(now));
        }
        asked.push_back({"ZRANGEBYSCORE", main_, "-inf", now, "LIMIT", "0", "100"});
        const std::size_t dead = asked.size() - 1;
        asked.push_back(wake(now));
        asked.push_back({"ZSCORE", main_, id_});
        asked.push_back({"ZRANK", waiting_, id_});
        talk_.ask(std::move(asked), [this, dead, done = std::move(done)](const answers& answers) {
            if (const auto* error = error_in(answers)) return done(failure_of(*error));
            if (answers[dead + 2].kind != resp::kind::null) return acquire(marks_of(answers[dead]), done);
            const resp::value& rank = answers[dead + 3];
            if (rank.kind == resp::kind::null) {  // taken for dead, or never arrived
                queued_ = false;
                return look(done);
            }
            const bool was_first = std::exchange(first_, rank.number == 0);
            // Whatever happened before it is watched is not heard of.
            if (first_ && !was_first && talk_.can_watch()) return look(done);
            done({.standing = standing::waiting});
        });
    }

    void renew(heard done) override {
        talk_.ask({ping(text_of(talk_.server_now())), {"TIME"}}, [done = std::move(done)](const answers& answers) {
            if (const auto* error = error_in(answers)) return done(failure_of(*error));
            const bool held = answers[0].items.size() == 2 && answers[0].items[1].number == 1;
            done({.standing = held ? standing::held : standing::gone, .at = time_in(answers[1])});
        });
    }

    /// The slot passes on at once: its own clients would find it when they look next.
    void leave(std::function<void()> done) override {
        talk_.ask({call(adv_sem_scripts::release, {main_, ttl_, waiting_, heartbeat_}, {id_}),
                   {"DEL", keys_.notice(id_)},
                   wake(text_of(talk_.server_now()))},
                  [done = std::move(done)](const answers&) { done(); });
    }

    [[nodiscard]] protocol::duration patience() const override {
        return std::min<protocol::duration>(turn_around, options_.ping_interval);
    }

private:
    [[nodiscard]] words wake(const std::string& now) const {
        return call(adv_sem_scripts::wake_up_nexts, {main_, ttl_, waiting_, heartbeat_},
                    {limit_text_, heartbeat_text_, ttl_text_, now, keys_.notice(id_placeholder)});
    }
    [[nodiscard]] words ping(const std::string& now) {
        last_ping_ = talk_.now();
        return call(adv_sem_scripts::ping, {waiting_, heartbeat_, main_}, {id_, heartbeat_text_, ttl_text_, now});
    }

    /// A slot is reserved for it.
    void acquire(std::vector<protocol::mark> abandoned, heard done) {
        const std::string now = text_of(talk_.server_now());
        talk_.ask(
            {call(adv_sem_scripts::acquire, {main_, ttl_, max_}, {id_, limit_text_, heartbeat_text_, ttl_text_, now}),
             {"DEL", keys_.notice(id_)},
             {"TIME"}},
            [this, abandoned = std::move(abandoned), done = std::move(done)](const answers& answers) {
                if (const auto* error = error_in(answers)) return done(failure_of(*error));
                const bool held = !answers[0].items.empty() && answers[0].items[0].number == 1;
                if (!held) return look(done);  // it died in between, for the others
                done({.standing = standing::held, .at = time_in(answers[2]), .abandoned = abandoned});
            });
    }

    /// Those who held it alone, and were dead when we looked.
    [[nodiscard]] std::vector<protocol::mark> marks_of(const resp::value& dead) const {
        if (!alone_ || dead.items.empty()) return {};
        return {
            {dead.items.back().text, 0, protocol::instant{talk_.server_now().time_since_epoch()}, dead.items.size()}};
    }

    talk& talk_;
    const adv_sem_options& options_;
    const adv_sem_keys& keys_;
    const std::string main_, ttl_, max_, waiting_, heartbeat_;
    const bool alone_;
    const std::string id_;
    const std::string limit_text_, heartbeat_text_, ttl_text_;
    bool queued_ = false;
    bool first_ = false;  // in the queue, when it was told last
    protocol::instant last_ping_;
};

class adv_sem_speaker final : public dialect::speaker {
public:
    adv_sem_speaker(talk& talk, const adv_sem_options& options)
        : talk_{talk}, options_{options}, keys_{options.name_space + ":"} {}

    [[nodiscard]] std::unique_ptr<turn> make_turn(const claim& claim, const protocol::enter_options& options) override {
        return std::make_unique<adv_sem_turn>(talk_, options_, keys_, claim, options.hold_limit);
    }

    void list(const inspect_filter& filter, list_answer done) override {
        const std::string names = filter.how == inspect_filter::match::all      ? "*"
                                  : filter.how == inspect_filter::match::prefix ? literal(filter.name) + "*"
                                                                                : literal(filter.name);
        scan(talk_, {"MATCH", literal(keys_.main("")) + names, "TYPE", "zset"},
             [this, done = std::move(done)](std::error_code error, const std::vector<std::string>& keys) {
                 if (error) return done(error, {});
                 list_names(keys, done);
             });
    }

private:
    void list_names(const std::vector<std::string>& keys, const list_answer& done) {
        if (keys.empty()) return done({}, {});
        const std::string now = text_of(talk_.server_now());
        std::vector<words> asked;
        std::vector<std::string> names;
        for (const std::string& key : keys) {
            const std::string& name = names.emplace_back(key.substr(keys_.main("").size()));
            asked.push_back(call(adv_sem_scripts::card, {key, keys_.ttl(name)}, {now}));
            asked.push_back({"ZRANGE", key, "0", "-1"});
            asked.push_back({"ZRANGE", keys_.waiting(name), "0", "-1"});
            asked.push_back({"GET", keys_.max(name)});
        }
        talk_.ask(std::move(asked), [names, done](const answers& answers) {
            if (const auto* error = error_in(answers)) return done(failure_of(*error).error, {});
            listing found;
            for (std::size_t i = 0; i < names.size(); ++i) {
                for (const resp::value& id : answers[4 * i + 1].items)
                    found.requests.push_back({names[i], id.text, true});
                for (const resp::value& id : answers[4 * i + 2].items)
                    found.requests.push_back({names[i], id.text, false});
                if (const auto limit = detail::number_in<std::uint32_t>(answers[4 * i + 3].text, 1, 0xffffffffU))
                    found.limits.emplace_back(names[i], *limit);
            }
            done({}, std::move(found));
        });
    }

    talk& talk_;
    const adv_sem_options& options_;
    const adv_sem_keys keys_;
};

class adv_sem final : public dialect {
public:
    explicit adv_sem(adv_sem_options options) : options_{std::move(options)} {}

    [[nodiscard]] lease_pace pace() const override { return {options_.heartbeat_max_interval, options_.ping_interval}; }
    [[nodiscard]] std::optional<protocol::duration> hold_limit() const override { return options_.ttl; }
    [[nodiscard]] std::string objection(const std::vector<claim>& claims,
                                        const protocol::enter_options& options) const override {
        if (claims.size() != 1)
            return "the dialect adv-sem has one semaphore at a time; several at once need the native protocol";
        const claim& claim = claims.front();
        if (claim.mode == mode::shared)
            return "the dialect adv-sem has semaphores and exclusive locks, which are semaphores of one; shared locks "
                   "need the native protocol";
        if (claim.mode == mode::permits && claim.permits != 1)
            return "the dialect adv-sem takes one slot at a time; several need the native protocol";
        if (options.queue_bound) return "the dialect adv-sem cannot bound its queue; give a wait instead";
        return {};
    }
    [[nodiscard]] std::span<const redis::script_text> scripts() const override { return adv_sem_scripts::all; }
    [[nodiscard]] std::unique_ptr<speaker> make_speaker(talk& talk) const override {
        return std::make_unique<adv_sem_speaker>(talk, options_);
    }

private:
    const adv_sem_options options_;
};

seconds whole_seconds(const std::string& name, std::chrono::milliseconds time) {
    if (time.count() % 1'000 != 0)
        detail::refuse(name + " is a whole number of seconds: the protocol has no shorter ones");
    return std::chrono::duration_cast<seconds>(time);
}

}  // namespace

std::shared_ptr<const dialect> make_adv_sem(const options& given) {
    option_reader read{"adv-sem", given};
    adv_sem_options options;
    options.name_space = read.text("namespace", options.name_space, 512);
    options.heartbeat_max_interval = whole_seconds(
        "heartbeat_max_interval", read.time("heartbeat_max_interval", options.heartbeat_max_interval, 1s, 24h));
    options.ping_interval = read.time("ping_interval", std::chrono::milliseconds{options.heartbeat_max_interval} / 5,
                                      10ms, std::chrono::milliseconds{options.heartbeat_max_interval} / 2);
    const bool limited = read.has("ttl");
    const auto ttl = whole_seconds("ttl", read.time("ttl", 1s, 1s, std::chrono::days{366}));
    if (limited) options.ttl = ttl;
    read.finish();
    return std::make_shared<adv_sem>(std::move(options));
}

}  // namespace baton::dialects
