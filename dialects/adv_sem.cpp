// The semaphores of asyncio-advanced-semaphores: sorted sets of holders and waiters, by the time at which each counts
// as dead. The script `wake_up_nexts`, which any client may run, gives free slots to the first waiters, and pushes to
// the notification list of each. Our clients run it when they release, watch their notification list, and near the head
// also the set of holders. docs/dialects.md.
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
constexpr auto longest_delay = 1s;         // the poll interval of the original clients
constexpr std::int64_t far_position = 16;  // from here on waiters rely on notifications
// An original client with a ttl of 1 s makes the keys expire after 11 s; only pings prevent that.
constexpr std::chrono::milliseconds rarest_ping = 5s;

struct adv_sem_options {
    std::string name_space = "adv-sem";
    seconds heartbeat_max_interval{180};
    std::chrono::milliseconds ping_interval = rarest_ping;
    std::optional<seconds> ttl;
};

struct adv_sem_keys {
    std::string start;  // of all keys

    [[nodiscard]] std::string main(const std::string& name) const { return start + "semaphore_main:" + name; }
    [[nodiscard]] std::string ttl(const std::string& name) const { return start + "semaphore_ttl:" + name; }
    [[nodiscard]] std::string max(const std::string& name) const { return start + "semaphore_max:" + name; }
    [[nodiscard]] std::string waiting(const std::string& name) const { return start + "semaphore_waiting:" + name; }
    [[nodiscard]] std::string heartbeat(const std::string& name) const {
        return start + "semaphore_waiting_heartbeat:" + name;
    }
    [[nodiscard]] std::string notice(const std::string& id) const { return start + "acquisition_notification:" + id; }
};

/// A UUID of version 4 without hyphens.
std::string draw_id(context& context) {
    std::string bytes = context.random_bytes();
    bytes[6] = static_cast<char>((static_cast<unsigned char>(bytes[6]) & 0x0fU) | 0x40U);
    bytes[8] = static_cast<char>((static_cast<unsigned char>(bytes[8]) & 0x3fU) | 0x80U);
    return hex(bytes);
}

class adv_sem_entry final : public queue_entry {
public:
    adv_sem_entry(context& context, const adv_sem_options& options, const adv_sem_keys& keys, const claim& claim,
                  std::optional<protocol::duration> hold_limit)
        : context_{context},
          options_{options},
          keys_{keys},
          main_{keys.main(claim.resource)},
          ttl_{keys.ttl(claim.resource)},
          max_{keys.max(claim.resource)},
          waiting_{keys.waiting(claim.resource)},
          heartbeat_{keys.heartbeat(claim.resource)},
          exclusive_{claim.mode == claim_mode::exclusive},
          id_{draw_id(context)},
          limit_text_{std::to_string(exclusive_ ? 1U : claim.limit)},
          heartbeat_text_{std::to_string(options.heartbeat_max_interval.count())},
          ttl_text_{std::to_string(hold_limit ? std::chrono::ceil<seconds>(*hold_limit).count() : no_ttl)} {}

    void poll(callback done) override {
        // A reply to an earlier command may arrive after `leave`: the entry must not queue again.
        if (left_) return done({.status = claim_status::waiting});
        context_.watch(keys_.notice(id_), *this);
        if (near_) context_.watch(main_, *this);
        std::vector<redis_command> commands;
        if (!std::exchange(queued_, true)) commands.push_back(queue());
        const bool pinged = commands.empty() && context_.now() - last_ping_ >= options_.ping_interval;
        if (pinged) commands.push_back(ping());
        commands.insert(commands.end(), {wake(), {"ZSCORE", main_, id_}, {"ZRANK", waiting_, id_}});
        context_.execute(std::move(commands), [this, pinged, done = std::move(done)](const replies& replies) {
            if (const auto* error = error_in(replies)) return failed(*error, done);
            const auto* last = &replies.back();  // ZRANK; before it ZSCORE, and before that wake_up_nexts
            if (last[-1].kind != resp::kind::null) {
                note_abandoned(last[-2]);
                return acquire(done);
            }
            if (last->kind == resp::kind::null || (pinged && !is_there(replies.front(), 0))) {
                queued_ = false;  // another client removed it as dead, or it was never added
                return poll(done);
            }
            far_ = last->number >= far_position;
            // The second watches too, so that it notices when it becomes the first.
            const bool was_near = std::exchange(near_, last->number <= 1);
            // Poll again with the new watch, which misses earlier changes.
            if (near_ && !was_near && context_.can_watch()) return poll(done);
            done({.status = claim_status::waiting});
        });
    }

    void renew(callback done) override {
        context_.execute({ping()}, [done = std::move(done)](const replies& replies) {
            if (const auto* error = error_in(replies)) return done(failure_of(*error));
            done({.status = is_there(replies.front(), 1) ? claim_status::held : claim_status::gone});
        });
    }

    /// Hands the slot over at once; without `wake_up_nexts` the next waiter finds it at its next poll.
    void leave(std::function<void()> done) override {
        left_ = true;
        context_.execute(
            {call(adv_sem_scripts::release, {main_, ttl_, waiting_, heartbeat_, keys_.notice(id_)}, {id_}), wake()},
            [done = std::move(done)](const replies&) { done(); });
    }

    /// The poll interval of the original clients, or the time to the next ping if that is sooner. Waiters far from the
    /// head do not poll; they are notified.
    [[nodiscard]] protocol::duration poll_delay() const override {
        const protocol::duration until_ping = last_ping_ + options_.ping_interval - context_.now();
        const bool is_notified = far_ && context_.can_watch();
        return std::max<protocol::duration>(
            is_notified ? until_ping : std::min<protocol::duration>(until_ping, longest_delay), 1ms);
    }

    [[nodiscard]] std::vector<std::string> names() const override { return {id_}; }

private:
    [[nodiscard]] redis_command queue() {
        last_ping_ = context_.now();
        return call(adv_sem_scripts::queue, {waiting_, heartbeat_, main_}, {id_, heartbeat_text_, ttl_text_});
    }
    [[nodiscard]] redis_command wake() const {
        return call(adv_sem_scripts::wake_up_nexts, {main_, ttl_, waiting_, heartbeat_},
                    {limit_text_, heartbeat_text_, ttl_text_, keys_.notice(id_placeholder)});
    }
    [[nodiscard]] redis_command ping() {
        last_ping_ = context_.now();
        return call(adv_sem_scripts::ping, {waiting_, heartbeat_, main_}, {id_, heartbeat_text_, ttl_text_});
    }
    /// Whether a ping found the entry among the waiters (0) or among the holders (1).
    [[nodiscard]] static bool is_there(const resp::value& ping, std::size_t where) {
        return ping.items.size() == 2 && ping.items[where].number == 1;
    }

    /// The commands may have been executed or not: the next poll queues again.
    void failed(const resp::value& error, const callback& done) {
        queued_ = false;
        done(failure_of(error));
    }

    /// Takes the slot that `wake_up_nexts` has given to the entry.
    void acquire(callback done) {
        if (left_) return done({.status = claim_status::waiting});
        context_.execute(
            {call(adv_sem_scripts::acquire, {main_, ttl_, max_}, {id_, limit_text_, heartbeat_text_, ttl_text_}),
             {"DEL", keys_.notice(id_)},
             {"TIME"}},
            [this, done = std::move(done)](const replies& replies) {
                if (const auto* error = error_in(replies)) return failed(*error, done);
                const bool held = !replies[0].items.empty() && replies[0].items[0].number == 1;
                if (!held) return poll(done);  // another client removed it as dead
                done({.status = claim_status::held, .at = time_in(replies[2]), .abandoned = abandoned_});
            });
    }

    /// Keeps the dead holders of an exclusive claim for the result, which a later poll may bring.
    void note_abandoned(const resp::value& woken) {
        if (!exclusive_ || woken.items.size() != 2 || woken.items[1].items.empty()) return;
        const auto& dead = woken.items[1].items;
        abandoned_ = {{dead.back().text, 0, protocol::instant{context_.server_now().time_since_epoch()}, dead.size()}};
    }

    context& context_;
    const adv_sem_options& options_;
    const adv_sem_keys& keys_;
    const std::string main_, ttl_, max_, waiting_, heartbeat_;
    const bool exclusive_;
    const std::string id_;
    const std::string limit_text_, heartbeat_text_, ttl_text_;
    bool queued_ = false;
    bool left_ = false;
    bool near_ = false;  // first or second in the queue at the last poll
    bool far_ = false;   // at `far_position` or behind it at the last poll
    protocol::instant last_ping_;
    std::vector<protocol::mark> abandoned_;
};

class adv_sem_client final : public dialect::protocol_client {
public:
    adv_sem_client(context& context, const adv_sem_options& options)
        : context_{context}, options_{options}, keys_{options.name_space + ":"} {}

    [[nodiscard]] std::unique_ptr<queue_entry> make_entry(const claim& claim,
                                                          const protocol::enter_options& options) override {
        return std::make_unique<adv_sem_entry>(context_, options_, keys_, claim, options.hold_limit);
    }

    void list(const inspect_filter& filter, list_callback done) override {
        find_keys(context_, filter, keys_.main(""), "zset",
                  [this, done = std::move(done)](std::error_code error, const std::vector<std::string>& keys) {
                      if (error) return done(error, {});
                      list_names(keys, done);
                  });
    }

private:
    void list_names(const std::vector<std::string>& keys, const list_callback& done) {
        if (keys.empty()) return done({}, {});
        std::vector<redis_command> commands;
        std::vector<std::string> names;
        for (const std::string& key : keys) {
            const std::string& name = names.emplace_back(key.substr(keys_.main("").size()));
            commands.push_back(call(adv_sem_scripts::card, {key, keys_.ttl(name)}, {}));
            commands.push_back({"ZRANGE", key, "0", "-1"});
            commands.push_back({"ZRANGE", keys_.waiting(name), "0", "-1"});
            commands.push_back({"GET", keys_.max(name)});
        }
        context_.execute(std::move(commands), [names, done](const replies& replies) {
            for (const resp::value& reply : replies) {  // other data under the keys of one name do not hide other names
                if (reply.kind != resp::kind::error) continue;
                if (const auto why = failure_of(reply).error; why != errc::rejected && why != errc::foreign_data)
                    return done(why, {});
            }
            listing found;
            for (std::size_t i = 0; i < names.size(); ++i) {
                for (const resp::value& id : replies[4 * i + 1].items)
                    found.requests.push_back({names[i], id.text, true});
                for (const resp::value& id : replies[4 * i + 2].items)
                    found.requests.push_back({names[i], id.text, false});
                if (const auto limit = detail::number_in<std::uint32_t>(replies[4 * i + 3].text, 1, 0xffffffffU))
                    found.limits.emplace_back(names[i], *limit);
            }
            done({}, std::move(found));
        });
    }

    context& context_;
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
    [[nodiscard]] std::unique_ptr<protocol_client> make_protocol_client(context& context) const override {
        return std::make_unique<adv_sem_client>(context, options_);
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
