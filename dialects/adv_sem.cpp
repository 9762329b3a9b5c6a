// The semaphores of asyncio-advanced-semaphores: sorted sets of who holds and who waits, by the time at which each
// counts as dead; a slot is given to the first that waits by whoever runs `wake_up_nexts`, and a list of its own tells
// it so. Ours run that when they release, watch their list, and the slots when they are nearly at the head.
// docs/dialects.md.
#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "baton/error.hpp"
#include "dialect.hpp"
#include "hex.hpp"
#include "listing.hpp"
#include "option_reader.hpp"
#include "scripts.hpp"
#include "stores/redis/url_text.hpp"

namespace baton::dialects {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

constexpr std::int64_t no_ttl = 2'147'483'637;
constexpr const char* id_placeholder = "@@@ACQUISITION_ID@@@";
constexpr auto turn_around = 1s;   // how often its own clients look
constexpr std::int64_t many = 16;  // who is so far behind has time
// A client of another's with a ttl of 1 s makes the keys of all end after 11 s: a ping is the only cure of that.
constexpr std::chrono::milliseconds rarest_ping = 5s;

struct adv_sem_options {
    std::string name_space = "adv-sem";
    seconds heartbeat_max_interval{180};
    std::chrono::milliseconds ping_interval = rarest_ping;
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

/// A uuid of version 4, without its hyphens.
std::string draw_id(talk& talk) {
    std::string bytes = talk.random_bytes();
    bytes[6] = static_cast<char>((static_cast<unsigned char>(bytes[6]) & 0x0fU) | 0x40U);
    bytes[8] = static_cast<char>((static_cast<unsigned char>(bytes[8]) & 0x3fU) | 0x80U);
    return hex(bytes);
}

class adv_sem_entry final : public queue_entry {
public:
    adv_sem_entry(talk& talk, const adv_sem_options& options, const adv_sem_keys& keys, const claim& claim,
                  std::optional<protocol::duration> hold_limit)
        : talk_{talk},
          options_{options},
          keys_{keys},
          main_{keys.main(claim.resource)},
          ttl_{keys.ttl(claim.resource)},
          max_{keys.max(claim.resource)},
          waiting_{keys.waiting(claim.resource)},
          heartbeat_{keys.heartbeat(claim.resource)},
          alone_{claim.mode == claim_mode::exclusive},
          id_{draw_id(talk)},
          limit_text_{std::to_string(alone_ ? 1U : claim.limit)},
          heartbeat_text_{std::to_string(options.heartbeat_max_interval.count())},
          ttl_text_{std::to_string(hold_limit ? std::chrono::ceil<seconds>(*hold_limit).count() : no_ttl)} {}

    void poll(heard done) override {
        // What it asked before it left is answered after: it must not come back.
        if (left_) return done({.status = claim_status::waiting});
        talk_.watch(keys_.notice(id_), *this);
        if (near_) talk_.watch(main_, *this);
        std::vector<words> asked;
        if (!std::exchange(queued_, true)) asked.push_back(queue());
        const bool pinged = asked.empty() && talk_.now() - last_ping_ >= options_.ping_interval;
        if (pinged) asked.push_back(ping());
        asked.insert(asked.end(), {wake(), {"ZSCORE", main_, id_}, {"ZRANK", waiting_, id_}});
        talk_.ask(std::move(asked), [this, pinged, done = std::move(done)](const answers& answers) {
            if (const auto* error = error_in(answers)) return failed(*error, done);
            const auto* last = &answers.back();  // the place in the queue, the slot, the waking
            if (last[-1].kind != resp::kind::null) {
                note_abandoned(last[-2]);
                return acquire(done);
            }
            if (last->kind == resp::kind::null || (pinged && !is_there(answers.front(), 0))) {
                queued_ = false;  // taken for dead, at least in part, or it never arrived
                return poll(done);
            }
            // The second in the queue has to hear that it has become the first.
            far_ = last->number >= many;
            const bool was_near = std::exchange(near_, last->number <= 1);
            // Whatever happened before it is watched is not heard of.
            if (near_ && !was_near && talk_.can_watch()) return poll(done);
            done({.status = claim_status::waiting});
        });
    }

    void renew(heard done) override {
        talk_.ask({ping()}, [done = std::move(done)](const answers& answers) {
            if (const auto* error = error_in(answers)) return done(failure_of(*error));
            done({.status = is_there(answers.front(), 1) ? claim_status::held : claim_status::gone});
        });
    }

    /// The slot passes on at once: its own clients would find it when they look next.
    void leave(std::function<void()> done) override {
        left_ = true;
        talk_.ask(
            {call(adv_sem_scripts::release, {main_, ttl_, waiting_, heartbeat_, keys_.notice(id_)}, {id_}), wake()},
            [done = std::move(done)](const answers&) { done(); });
    }

    /// Its own clients look as often, and a ping is never late. Waiters far from the head do not poll: whoever
    /// gives it a slot tells it.
    [[nodiscard]] protocol::duration poll_delay() const override {
        const protocol::duration until_ping = last_ping_ + options_.ping_interval - talk_.now();
        const bool is_notified = far_ && talk_.can_watch();
        return std::max<protocol::duration>(
            is_notified ? until_ping : std::min<protocol::duration>(until_ping, turn_around), 1ms);
    }

    [[nodiscard]] std::vector<std::string> names() const override { return {id_}; }

private:
    [[nodiscard]] words queue() {
        last_ping_ = talk_.now();
        return call(adv_sem_scripts::queue, {waiting_, heartbeat_, main_}, {id_, heartbeat_text_, ttl_text_});
    }
    [[nodiscard]] words wake() const {
        return call(adv_sem_scripts::wake_up_nexts, {main_, ttl_, waiting_, heartbeat_},
                    {limit_text_, heartbeat_text_, ttl_text_, keys_.notice(id_placeholder)});
    }
    [[nodiscard]] words ping() {
        last_ping_ = talk_.now();
        return call(adv_sem_scripts::ping, {waiting_, heartbeat_, main_}, {id_, heartbeat_text_, ttl_text_});
    }
    /// What a ping says of the queue (0) or of the slots (1).
    [[nodiscard]] static bool is_there(const resp::value& ping, std::size_t where) {
        return ping.items.size() == 2 && ping.items[where].number == 1;
    }

    /// It may have arrived all the same, or not: it is asked for again.
    void failed(const resp::value& error, const heard& done) {
        queued_ = false;
        done(failure_of(error));
    }

    /// A slot is reserved for it.
    void acquire(heard done) {
        if (left_) return done({.status = claim_status::waiting});
        talk_.ask({call(adv_sem_scripts::acquire, {main_, ttl_, max_}, {id_, limit_text_, heartbeat_text_, ttl_text_}),
                   {"DEL", keys_.notice(id_)},
                   {"TIME"}},
                  [this, done = std::move(done)](const answers& answers) {
                      if (const auto* error = error_in(answers)) return failed(*error, done);
                      const bool held = !answers[0].items.empty() && answers[0].items[0].number == 1;
                      if (!held) return poll(done);  // it died in between, for the others
                      done({.status = claim_status::held, .at = time_in(answers[2]), .abandoned = abandoned_});
                  });
    }

    /// Whose slot it was, if one had it alone and did not give it back. Kept: it may have to look again before it can
    /// tell that it holds it.
    void note_abandoned(const resp::value& woken) {
        if (!alone_ || woken.items.size() != 2 || woken.items[1].items.empty()) return;
        const auto& over = woken.items[1].items;
        abandoned_ = {{over.back().text, 0, protocol::instant{talk_.server_now().time_since_epoch()}, over.size()}};
    }

    talk& talk_;
    const adv_sem_options& options_;
    const adv_sem_keys& keys_;
    const std::string main_, ttl_, max_, waiting_, heartbeat_;
    const bool alone_;
    const std::string id_;
    const std::string limit_text_, heartbeat_text_, ttl_text_;
    bool queued_ = false;
    bool left_ = false;
    bool near_ = false;  // first or second in the queue, when it was told last
    bool far_ = false;   // has many before it
    protocol::instant last_ping_;
    std::vector<protocol::mark> abandoned_;
};

class adv_sem_speaker final : public dialect::speaker {
public:
    adv_sem_speaker(talk& talk, const adv_sem_options& options)
        : talk_{talk}, options_{options}, keys_{options.name_space + ":"} {}

    [[nodiscard]] std::unique_ptr<queue_entry> make_entry(const claim& claim,
                                                          const protocol::enter_options& options) override {
        return std::make_unique<adv_sem_entry>(talk_, options_, keys_, claim, options.hold_limit);
    }

    void list(const inspect_filter& filter, list_answer done) override {
        find_keys(talk_, filter, keys_.main(""), "zset",
                  [this, done = std::move(done)](std::error_code error, const std::vector<std::string>& keys) {
                      if (error) return done(error, {});
                      list_names(keys, done);
                  });
    }

private:
    void list_names(const std::vector<std::string>& keys, const list_answer& done) {
        if (keys.empty()) return done({}, {});
        std::vector<words> asked;
        std::vector<std::string> names;
        for (const std::string& key : keys) {
            const std::string& name = names.emplace_back(key.substr(keys_.main("").size()));
            asked.push_back(call(adv_sem_scripts::card, {key, keys_.ttl(name)}, {}));
            asked.push_back({"ZRANGE", key, "0", "-1"});
            asked.push_back({"ZRANGE", keys_.waiting(name), "0", "-1"});
            asked.push_back({"GET", keys_.max(name)});
        }
        talk_.ask(std::move(asked), [names, done](const answers& answers) {
            for (const resp::value& answer : answers) {  // one name with something else under its keys hides no others
                if (answer.kind != resp::kind::error) continue;
                if (const auto why = failure_of(answer).error; why != errc::rejected && why != errc::foreign_data)
                    return done(why, {});
            }
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

    [[nodiscard]] lease_pace pace() const override {
        return {options_.heartbeat_max_interval, options_.ping_interval, options_.ttl};
    }
    [[nodiscard]] std::string objection(std::span<const claim> claims,
                                        const protocol::enter_options& options) const override {
        if (claims.size() != 1)
            return "the dialect adv-sem has one semaphore at a time; several at once need the native protocol";
        const claim& claim = claims.front();
        if (claim.mode == claim_mode::shared)
            return "the dialect adv-sem has semaphores and exclusive locks, which are semaphores of one; shared locks "
                   "need the native protocol";
        if (claim.mode == claim_mode::permits && claim.permits != 1)
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
    const std::chrono::milliseconds heartbeat = options.heartbeat_max_interval;
    options.ping_interval = read.time("ping_interval", std::min(heartbeat / 5, rarest_ping), 10ms, heartbeat / 2);
    const bool limited = read.has("ttl");
    const auto ttl = whole_seconds("ttl", read.time("ttl", 1s, 1s, std::chrono::days{366}));
    if (limited) options.ttl = ttl;
    read.finish();
    return std::make_shared<adv_sem>(std::move(options));
}

}  // namespace baton::dialects
