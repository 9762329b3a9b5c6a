// A store that speaks the protocol of another program on a Redis or Valkey server, and the factory that makes it.
#include <array>
#include <deque>
#include <map>
#include <random>
#include <utility>

#include "base/own_clock.hpp"
#include "base/process_wide.hpp"
#include "baton/dialects.hpp"
#include "baton/error.hpp"
#include "dialect.hpp"
#include "dialect_session.hpp"
#include "listing.hpp"
#include "stores/redis/connect.hpp"
#include "stores/redis/dialect_factory.hpp"
#include "stores/redis/handshake.hpp"
#include "stores/redis/reply_class.hpp"
#include "stores/resp/connection.hpp"

namespace baton::dialects {
namespace {

using detail::redis_address;
using detail::reply_class;

/// These servers remember nothing of who they were: there is one memory, whatever becomes of it.
constexpr epoch only_epoch = 1;
constexpr command_tag any_tag = 1;  // answers come in order

/// What the dialect says on every connection is confirmed by a push, if it is not refused; TIME brings the answer.
std::string last_words(dialect::speaker& speaker) {
    std::string out;
    for (const words& command : speaker.first_words()) resp::encode_command(out, command);
    resp::encode_command(out, {"TIME"});
    return out;
}

constexpr std::chrono::milliseconds pause{100};  // before a server that cannot do anything now is asked again

/// Between a dialect and a client. All of it runs with the loop owner, but for `perform` and `inspect`, which pass on
/// to it.
class dialect_connection final : public resp::connection, public talk, public teller {
public:
    dialect_connection(detail::event_loop& loop, redis_address address, std::shared_ptr<const dialect> dialect,
                       std::weak_ptr<store_listener> listener)
        : connection{loop, std::move(listener)},
          address_{std::move(address)},
          dialect_{std::move(dialect)},
          speaker_{dialect_->make_speaker(*this)},
          handshake_{address_, dialect_->scripts(), last_words(*speaker_),
                     [this](const resp::value& answer) { return read_time(answer); }},
          session_{*dialect_, *this, *speaker_, *this} {}

    /// On the thread of the client.
    void perform(std::span<tagged_command> commands);
    void inspect(const inspect_filter& filter, inspect_answer answer);

private:
    // The connection.
    void begin() override;
    void open_socket(resp::socket_result done) override { connect_redis(loop(), address_, std::move(done)); }
    resp::handshake_step begin_handshake() override { return handshake_.begin(); }
    resp::handshake_step continue_handshake(const resp::value& answer) override { return handshake_.answered(answer); }
    void up(epoch epoch) override;
    void down(const store_error& why) override {
        forget({errc::store_unavailable, why.text});
        connection::down(why);
    }
    void answered(command_tag tag, const resp::value& answer) override;
    void pushed(const resp::value& message) override;

    // The queue entries.
    void ask(std::vector<words> commands, std::function<void(const answers&)> done) override;
    void watch(const std::string& key, const queue_entry& who) override;
    void listen(const std::string& name, const queue_entry& who) override { session_.listen(name, who); }
    [[nodiscard]] bool can_watch() const override { return can_watch_; }
    [[nodiscard]] protocol::instant now() const override {
        return protocol::instant{detail::read_clock(lease_clock::boottime).time_since_epoch()};
    }
    [[nodiscard]] server_time server_now() const override { return server_time{now().time_since_epoch() + ahead_}; }
    [[nodiscard]] std::string random_bytes() override;

    // The client.
    void reply(command_tag tag, std::vector<protocol::event> events) override {
        if (const auto to = listener()) to->replied(tag, only_epoch, events);
    }
    void fail(command_tag tag, std::error_code why) override {
        if (const auto to = listener()) to->failed(tag, command_failure::rejected, {why});
    }
    void notice(protocol::event event) override {
        if (const auto to = listener()) to->noticed(only_epoch, std::move(event));
    }

    struct pending_reply {
        std::size_t missing = 0;
        answers heard;
        std::function<void(const answers&)> done;
    };

    [[nodiscard]] std::shared_ptr<dialect_connection> self() {
        return std::static_pointer_cast<dialect_connection>(shared_from_this());
    }
    bool transmit(std::string_view bytes, std::size_t expected);
    void forget(const store_error& why);
    void give_up_connection(std::chrono::milliseconds after, std::string_view why);
    void set_timer();
    void hear_time(server_time time) { ahead_ = time.time_since_epoch() - now().time_since_epoch(); }
    resp::handshake_step read_time(const resp::value& answer);

    redis_address address_;  // its password may change between connections
    const std::shared_ptr<const dialect> dialect_;
    std::optional<detail::event_loop::timer> poll_timer_;
    std::optional<detail::event_loop::timer> pause_timer_;
    bool up_ = false;
    std::string given_up_for_;            // the server's words
    bool can_watch_ = true;               // until the server says no
    std::chrono::microseconds ahead_{0};  // the server's clock, of ours
    std::random_device random_;
    std::unique_ptr<dialect::speaker> speaker_;
    redis::handshake handshake_;
    dialect_session session_;
    std::deque<pending_reply> pending_;  // keep queue entries alive, which need what is above
    std::map<std::uint64_t, inspect_answer> inspections_;
    std::uint64_t last_inspection_ = 0;
};

resp::handshake_step dialect_connection::read_time(const resp::value& answer) {
    if (answer.kind == resp::kind::error) return redis::refused_handshake(answer.text);
    hear_time(time_in(answer));
    return {.epoch = only_epoch};
}

void dialect_connection::up(epoch epoch) {
    up_ = true;
    ask({{"CLIENT", "TRACKING", "ON", "OPTIN"}}, [this](const answers& answers) { can_watch_ = !error_in(answers); });
    connection::up(epoch);
}

void dialect_connection::begin() {
    poll_timer_.emplace(loop(), [this, weak = weak_from_this()] {
        const auto alive = weak.lock();
        if (!alive || !up_) return;
        session_.pass_time();
        set_timer();
    });
    pause_timer_.emplace(loop(), [this, weak = weak_from_this()] {
        const auto alive = weak.lock();
        if (alive && !up_) reset({errc::store_unavailable, given_up_for_});
    });
}

void dialect_connection::forget(const store_error& why) {
    up_ = false;
    poll_timer_->cancel();
    pause_timer_->cancel();
    const auto pending = std::exchange(pending_, {});  // with all that they keep alive, at the end of this
    session_.connection_lost();
    for (const auto& [number, answer] : std::exchange(inspections_, {})) answer(why, {});
}

/// The rest of what this connection answers is not heard: answers are told apart by their order alone.
void dialect_connection::give_up_connection(std::chrono::milliseconds after, std::string_view why) {
    up_ = false;
    given_up_for_ = why;
    poll_timer_->cancel();
    pause_timer_->set_after(after);
}

bool dialect_connection::transmit(std::string_view bytes, std::size_t expected) {
    return up_ && send(bytes, std::vector<command_tag>(expected, any_tag));
}

void dialect_connection::perform(std::span<tagged_command> commands) {
    std::vector<tagged_command> moved{std::make_move_iterator(commands.begin()),
                                      std::make_move_iterator(commands.end())};
    loop().post([self = self(), moved = std::move(moved)] {
        if (!self->up_) return;
        for (const tagged_command& each : moved) self->session_.perform(each);
        self->set_timer();
    });
}

void dialect_connection::ask(std::vector<words> commands, std::function<void(const answers&)> done) {
    std::string bytes;
    for (const words& command : commands) resp::encode_command(bytes, command);
    if (transmit(bytes, commands.size())) pending_.push_back({commands.size(), {}, std::move(done)});
}

void dialect_connection::answered(command_tag, const resp::value& answer) {
    if (!up_ || pending_.empty()) return;
    if (answer.kind == resp::kind::error) {
        const reply_class what = detail::classify(answer.text);
        if (what == reply_class::no_script) return give_up_connection(std::chrono::milliseconds{0}, answer.text);
        if (what == reply_class::unavailable) return give_up_connection(pause, answer.text);
    }
    pending_reply& asked = pending_.front();
    asked.heard.push_back(answer);
    if (--asked.missing != 0) return;
    const pending_reply complete = std::move(asked);
    pending_.pop_front();
    complete.done(complete.heard);
    set_timer();
}

/// Invalidations of what was watched, and whatever the dialect listens to.
void dialect_connection::pushed(const resp::value& message) {
    if (!up_ || message.items.empty()) return;
    if (message.items[0].text == "invalidate" && message.items.size() == 2)
        for (const resp::value& key : message.items[1].items) session_.heard(key.text);
    else if (const std::string name = speaker_->heard(message); !name.empty())
        session_.heard(name);
    set_timer();
}

/// The server tells of the next change of a key that was read after CACHING YES.
void dialect_connection::watch(const std::string& key, const queue_entry& who) {
    if (!can_watch_) return;
    session_.listen(key, who);
    ask({{"CLIENT", "CACHING", "YES"}, {"EXISTS", key}}, [](const answers&) {});
}

std::string dialect_connection::random_bytes() {
    std::string bytes;
    for (int i = 0; i < 4; ++i)
        for (auto [word, left] = std::pair{random_(), 4}; left > 0; --left, word >>= 8U)
            bytes += static_cast<char>(word & 0xffU);
    return bytes;
}

void dialect_connection::set_timer() {
    const auto next = session_.next_poll();
    if (!next || !up_)
        poll_timer_->cancel();
    else
        poll_timer_->set_after(std::max(*next - now(), protocol::duration{0}));
}

void dialect_connection::inspect(const inspect_filter& filter, inspect_answer answer) {
    loop().post([self = self(), filter, answer = std::move(answer)] {
        if (!self->up_) return answer({errc::store_unavailable}, {});
        const std::uint64_t number = ++self->last_inspection_;
        self->inspections_.emplace(number, answer);
        dialect_connection& user = *self;
        user.speaker_->list(filter, [&user, number, filter](std::error_code error, listing found) {
            const auto asked = user.inspections_.extract(number);
            if (!asked) return;
            if (error) return asked.mapped()({error}, {});
            user.session_.name_ours(found);
            const protocol::instant at{user.server_now().time_since_epoch()};
            asked.mapped()({}, snapshot_of(found, filter, at));
        });
    });
}

class foreign_space final : public store {
public:
    foreign_space(redis_address address, std::shared_ptr<const dialect> dialect)
        : address_{std::move(address)}, dialect_{std::move(dialect)} {}

    std::unique_ptr<store_connection> connect(std::weak_ptr<store_listener> listener) override {
        return std::make_unique<resp::connection_to<dialect_connection>>(loop_, address_, dialect_,
                                                                         std::move(listener));
    }
    [[nodiscard]] std::optional<lease_pace> pace() const override { return dialect_->pace(); }
    [[nodiscard]] bool shows_labels() const override { return false; }
    [[nodiscard]] std::string objection(std::span<const claim> claims,
                                        const protocol::enter_options& options) const override {
        return dialect_->objection(claims, options);
    }

private:
    const redis_address address_;
    const std::shared_ptr<const dialect> dialect_;
    const std::shared_ptr<detail::event_loop> loop_ = detail::process_wide<detail::event_loop>();
};

/// Throws `error` with bad_url if the address names no dialect, or options that it does not have.
std::shared_ptr<store> make_store(redis_address address) {
    auto dialect = make_dialect(address.dialect, address.options);
    return std::make_shared<foreign_space>(std::move(address), std::move(dialect));
}

}  // namespace
}  // namespace baton::dialects

namespace baton {
inline namespace v1 {

void register_dialects() noexcept { detail::register_dialect_factory(&dialects::make_store); }

}  // namespace v1
}  // namespace baton
