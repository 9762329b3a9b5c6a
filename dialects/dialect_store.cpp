// The store of an address with a dialect: its connection, which joins a dialect to a client, and the factory.
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
#include "stores/redis/refusals.hpp"
#include "stores/redis/reply_class.hpp"
#include "stores/resp/connection.hpp"

namespace baton::dialects {
namespace {

using detail::redis_address;
using detail::reply_class;

/// The protocols have no epochs.
constexpr epoch only_epoch = 1;
constexpr command_tag any_tag = 1;  // replies arrive in the order of the commands

/// The first commands of a dialect are confirmed by pushed messages, so that TIME has the only reply.
std::string last_commands(dialect::protocol_client& protocol_client) {
    std::string out;
    for (const redis_command& command : protocol_client.first_commands()) resp::encode_command(out, command);
    resp::encode_command(out, {"TIME"});
    return out;
}

constexpr std::chrono::milliseconds pause{100};  // before the next connection to a server that is unavailable

/// Joins a dialect to a client. The loop owner runs all of it, except `perform` and `inspect`, which post to it.
class dialect_connection final : public resp::connection, public context, public session_listener {
public:
    dialect_connection(detail::event_loop& loop, redis_address address, std::shared_ptr<const dialect> dialect,
                       std::weak_ptr<store_listener> listener)
        : connection{loop, std::move(listener), address.connect_timeout},
          address_{std::move(address)},
          dialect_{std::move(dialect)},
          protocol_client_{dialect_->make_protocol_client(*this)},
          handshake_{address_, dialect_->scripts(), last_commands(*protocol_client_),
                     [this](const resp::value& reply) { return read_time(reply); }},
          session_{*dialect_, *this, *protocol_client_, *this} {}

    // On the thread of the client.
    void perform(std::span<tagged_command> commands);
    void inspect(const inspect_filter& filter, snapshot_callback done);

private:
    // resp::connection
    void begin() override;
    void open_socket(resp::socket_result done) override { connect_redis(loop(), address_, std::move(done)); }
    resp::handshake_step begin_handshake() override { return handshake_.begin(); }
    resp::handshake_step continue_handshake(const resp::value& reply) override { return handshake_.answered(reply); }
    [[nodiscard]] resp::handshake_step explain(const resp::broken_connection& broken) const override {
        return redis::refused(address_, broken);
    }
    void up(epoch epoch) override;
    void down(const store_error& why) override {
        forget({errc::store_unavailable, why.text});
        connection::down(why);
    }
    void answered(command_tag tag, const resp::value& reply) override;
    void pushed(const resp::value& message) override;

    // context
    void execute(std::vector<redis_command> commands, std::function<void(const replies&)> done) override;
    void watch(const std::string& key, const queue_entry& entry) override;
    void subscribe(const std::string& name, const queue_entry& entry) override { session_.subscribe(name, entry); }
    [[nodiscard]] bool can_watch() const override { return can_watch_; }
    [[nodiscard]] protocol::instant now() const override {
        return protocol::instant{detail::read_clock(lease_clock::boottime).time_since_epoch()};
    }
    [[nodiscard]] server_time server_now() const override { return server_time{now().time_since_epoch() + ahead_}; }
    [[nodiscard]] std::string random_bytes() override;

    // session_listener
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
        replies received;
        std::function<void(const replies&)> done;
    };

    [[nodiscard]] std::shared_ptr<dialect_connection> self() {
        return std::static_pointer_cast<dialect_connection>(shared_from_this());
    }
    bool transmit(std::string_view bytes, std::size_t expected);
    void forget(const store_error& why);
    void give_up_connection(std::chrono::milliseconds after, std::string_view why);
    void set_timer();
    void set_server_time(server_time time) { ahead_ = time.time_since_epoch() - now().time_since_epoch(); }
    resp::handshake_step read_time(const resp::value& reply);

    redis_address address_;  // the password may change between connections
    const std::shared_ptr<const dialect> dialect_;
    std::optional<detail::event_loop::timer> poll_timer_;
    std::optional<detail::event_loop::timer> pause_timer_;
    bool up_ = false;
    std::string give_up_reason_;          // the error reply
    bool can_watch_ = true;               // false if the server refused CLIENT TRACKING
    std::chrono::microseconds ahead_{0};  // the server's clock minus the client's
    std::random_device random_;
    std::unique_ptr<dialect::protocol_client> protocol_client_;
    redis::handshake handshake_;
    dialect_session session_;
    std::deque<pending_reply> pending_;  // its callbacks own queue entries, which use the members above
    std::map<std::uint64_t, snapshot_callback> inspections_;
    std::uint64_t last_inspection_ = 0;
};

resp::handshake_step dialect_connection::read_time(const resp::value& reply) {
    if (reply.kind == resp::kind::error) return redis::refused(address_, {redis::origin::reply, reply.text});
    set_server_time(time_in(reply));
    return {.epoch = only_epoch};
}

void dialect_connection::up(epoch epoch) {
    up_ = true;
    execute({{"CLIENT", "TRACKING", "ON", "OPTIN"}},
            [this](const replies& replies) { can_watch_ = !error_in(replies); });
    connection::up(epoch);
}

void dialect_connection::begin() {
    poll_timer_.emplace(loop(), [this, weak = weak_from_this()] {
        const auto alive = weak.lock();
        if (!alive || !up_) return;
        session_.poll_due();
        set_timer();
    });
    pause_timer_.emplace(loop(), [this, weak = weak_from_this()] {
        const auto alive = weak.lock();
        if (alive && !up_) reset(redis::refused(address_, {redis::origin::reply, give_up_reason_}).error);
    });
}

void dialect_connection::forget(const store_error& why) {
    up_ = false;
    poll_timer_->cancel();
    pause_timer_->cancel();
    const auto pending = std::exchange(pending_, {});  // destroyed at the end of this function
    session_.connection_lost();
    for (const auto& [number, done] : std::exchange(inspections_, {})) done(why, {});
}

/// Ignores all further replies of this connection: only their order assigns replies to commands.
void dialect_connection::give_up_connection(std::chrono::milliseconds after, std::string_view why) {
    up_ = false;
    give_up_reason_ = why;
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

void dialect_connection::execute(std::vector<redis_command> commands, std::function<void(const replies&)> done) {
    std::string bytes;
    for (const redis_command& command : commands) resp::encode_command(bytes, command);
    if (transmit(bytes, commands.size())) pending_.push_back({commands.size(), {}, std::move(done)});
}

void dialect_connection::answered(command_tag, const resp::value& reply) {
    if (!up_ || pending_.empty()) return;
    if (reply.kind == resp::kind::error) {
        const reply_class what = detail::classify(reply.text);
        if (what == reply_class::no_script) return give_up_connection(std::chrono::milliseconds{0}, reply.text);
        if (what == reply_class::unavailable) return give_up_connection(pause, reply.text);
    }
    pending_reply& first = pending_.front();
    first.received.push_back(reply);
    if (--first.missing != 0) return;
    const pending_reply complete = std::move(first);
    pending_.pop_front();
    complete.done(complete.received);
    set_timer();
}

void dialect_connection::pushed(const resp::value& message) {
    if (!up_ || message.items.empty()) return;
    if (message.items[0].text == "invalidate" && message.items.size() == 2)
        for (const resp::value& key : message.items[1].items) session_.notify(key.text);
    else if (const std::string name = protocol_client_->handle_push(message); !name.empty())
        session_.notify(name);
    set_timer();
}

/// With CLIENT TRACKING OPTIN the server reports the next change of a key that was read after CACHING YES.
void dialect_connection::watch(const std::string& key, const queue_entry& entry) {
    if (!can_watch_) return;
    session_.subscribe(key, entry);
    execute({{"CLIENT", "CACHING", "YES"}, {"EXISTS", key}}, [](const replies&) {});
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

void dialect_connection::inspect(const inspect_filter& filter, snapshot_callback done) {
    loop().post([self = self(), filter, done = std::move(done)] {
        if (!self->up_) return done({errc::store_unavailable}, {});
        const std::uint64_t number = ++self->last_inspection_;
        self->inspections_.emplace(number, done);
        dialect_connection& user = *self;
        user.protocol_client_->list(filter, [&user, number, filter](std::error_code error, listing found) {
            const auto inspection = user.inspections_.extract(number);
            if (!inspection) return;
            if (error) return inspection.mapped()({error}, {});
            user.session_.add_own_labels(found);
            const protocol::instant at{user.server_now().time_since_epoch()};
            inspection.mapped()({}, snapshot_of(found, filter, at));
        });
    });
}

class dialect_store final : public store {
public:
    dialect_store(redis_address address, std::shared_ptr<const dialect> dialect)
        : address_{std::move(address)}, dialect_{std::move(dialect)} {}

    std::unique_ptr<store_connection> connect(std::weak_ptr<store_listener> listener) override {
        return std::make_unique<resp::connection_to<dialect_connection>>(loop_, address_, dialect_,
                                                                         std::move(listener));
    }
    [[nodiscard]] std::optional<lease_pace> pace() const override { return dialect_->pace(); }
    [[nodiscard]] baton::if_unavailable if_unavailable() const override { return address_.if_unavailable; }
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

/// Throws `error` with bad_url for an unknown dialect or option.
std::shared_ptr<store> make_store(redis_address address) {
    auto dialect = make_dialect(address.dialect, address.options);
    return std::make_shared<dialect_store>(std::move(address), std::move(dialect));
}

}  // namespace
}  // namespace baton::dialects

namespace baton {
inline namespace v1 {

void register_dialects() noexcept { detail::register_dialect_factory(&dialects::make_store); }

}  // namespace v1
}  // namespace baton
