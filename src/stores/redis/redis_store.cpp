#include "stores/redis/redis_store.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <utility>

#include "base/fifo.hpp"
#include "base/process_wide.hpp"
#include "baton/error.hpp"
#include "protocol/sender_of.hpp"
#include "protocol/snapshot_filter.hpp"
#include "protocol/wait_graph.hpp"
#include "stores/redis/cluster_route.hpp"
#include "stores/redis/connect.hpp"
#include "stores/redis/former_primary.hpp"
#include "stores/redis/function_call.hpp"
#include "stores/redis/function_reply.hpp"
#include "stores/redis/handshake.hpp"
#include "stores/redis/hash_slot.hpp"
#include "stores/redis/inspect_pages.hpp"
#include "stores/redis/missing_rights.hpp"
#include "stores/redis/refusals.hpp"
#include "stores/redis/reply_class.hpp"
#include "stores/redis/sentinel_connection.hpp"
#include "stores/redis/waiting_requests.hpp"
#include "stores/resp/connection.hpp"

namespace baton::redis {
namespace {

using namespace std::chrono_literals;
using detail::redis_address;
using detail::reply_class;

constexpr page_size claims_per_page{64};
constexpr page_size holders_shown{blockers_shown};
/// The first waiter ticks when something is due. Each waiter behind it ticks later by this much for each claim ahead of
/// it, in case those clients are dead too. Most waiters never tick, because their next renewal does the same work or
/// brings a later due time.
constexpr std::chrono::milliseconds tick_spread{10};
constexpr std::uint64_t last_position = 100'000;
/// How long a client that closes works off what is owed. A client gives its close 1 s by default.
constexpr std::chrono::milliseconds settles_for{500};

/// Whether a tick now can work off something that is owed.
bool owes(const reply_head& head) { return head.due && *head.due <= head.at && head.paused_until <= head.at; }

bool is_closed(const function_reply& reply) {
    return std::ranges::any_of(reply.events, [](const protocol::event& event) {
        return std::holds_alternative<protocol::closed>(event.what);
    });
}

void subscribe(std::string& out, const char* how, const std::string& channel) {
    resp::encode_command(out, {how, channel});
}

/// Finding the server may take an attempt for each Sentinel, and one for the server that they name.
std::chrono::milliseconds time_to_find(const redis_address& address) {
    const auto sentinels = static_cast<int>(address.sentinel.hosts.size());
    return sentinels == 0 ? 0ms : address.connect_timeout * (sentinels + 1);
}

/// Sends commands as function calls, and reports replies and channel messages as events.
class redis_connection final : public resp::connection {
public:
    redis_connection(detail::event_loop& loop, redis_address address, std::weak_ptr<store_listener> listener)
        : connection{loop, std::move(listener), address.connect_timeout, time_to_find(address)},
          address_{std::move(address)},
          handshake_{native_handshake(
              address_,
              [this] {
                  return known_history{epoch_, highest_};
              },
              [this] { return !had_session_; }, [this] { return attested_; })} {
        if (!address_.cluster.empty()) route_.emplace(address_.cluster, hash_slot_of(address_.space));
    }

    // On the thread of the client; one thread at a time.
    void perform(std::span<const tagged_command> commands);
    void inspect(const inspect_filter& filter, snapshot_callback done);

private:
    void begin() override {
        tick_timer_.emplace(loop(), [this, weak = weak_from_this()] {
            if (const auto alive = weak.lock()) tick();
        });
        if (address_.sentinel.hosts.empty()) return;
        sentinel_ = std::make_shared<sentinel_connection>(loop(), address_, [this, weak = weak_from_this()] {
            if (const auto alive = weak.lock())
                restart({errc::store_unavailable, "following a failover: the Sentinels name another primary"});
        });
        sentinel_->start();
    }
    void end() override {
        if (sentinel_) sentinel_->stop();
        former_primary_.reset();
    }
    void open_socket(resp::socket_result done) override {
        if (route_) return open_node(std::move(done));
        if (!sentinel_) return connect_redis(loop(), address_, std::move(done));
        sentinel_->find([this, done = std::move(done)](const found_primary& found) {
            if (found.error.code) return done({-1, found.error, found.permanent});
            address_.host = found.at.host;
            address_.port = found.at.port;
            connect_redis(loop(), address_, done);
        });
    }
    resp::handshake_step begin_handshake() override {
        former_primary_.reset();
        attested_ = former_primary_search::can_search;
        return handshake_.begin();
    }
    resp::handshake_step continue_handshake(const resp::value& reply) override {
        const auto question = former_primary_search::question_in(reply);
        if (!question) {
            resp::handshake_step step = handshake_.answered(reply);
            return route_ && step.error.code ? rerouted(std::move(step), reply.text) : step;
        }
        if (!former_primary_) former_primary_ = std::make_shared<former_primary_search>(loop(), address_);
        former_primary_->search(*question, [this, attempt = attempt(), weak = weak_from_this()](std::string attested) {
            if (const auto alive = weak.lock()) {
                attested_ = std::move(attested);
                continue_later(attempt, handshake_.repeat_last());
            }
        });
        return {.later = true};
    }

    [[nodiscard]] resp::handshake_step explain(const resp::broken_connection& broken) const override {
        if (route_ && !broken.was_up && route_->has_next()) return {.again = true};
        return refused(address_, broken);
    }

    void up(epoch epoch) override {
        follow(epoch);
        former_primary_.reset();
        only_inspects_ = handshake_.only_inspects();
        in_cluster_ = handshake_.in_cluster();
        knows_nodes_ = false;
        if (route_) route_->keep();
        // A viewer sees any state: also no space, and a server that was started with older data.
        if (only_inspects_) epoch = told_epoch_ = std::max({told_epoch_, epoch, baton::epoch{1}});
        connection::up(epoch);
        for (const auto& inspection : take_postponed()) begin_inspection(inspection);
    }
    void down(const store_error& why) override {
        former_primary_.reset();
        forget({errc::store_unavailable, why.text});
        connection::down(why);
    }
    void answered(command_tag tag, const resp::value& reply) override;
    void pushed(const resp::value& message) override;

    static constexpr command_tag tick_tag = command_tag{1} << 61U;
    static constexpr command_tag nodes_tag = command_tag{1} << 62U;

    struct inspection {
        inspect_filter filter;
        snapshot_callback done;
        inspect_pages pages;
        std::optional<std::string> name = {};  // reads the pages of this name; none: of the space
        bool own_wait = false;                 // reads one page for the status line of a waiting client
        std::vector<shown_wait> waits = {};
        bool restarted = false;

        [[nodiscard]] function_call next_call(called_space space, epoch epoch, std::string_view cursor) const {
            if (name) return name_page_call(space, epoch, *name, cursor, claims_per_page);
            const bool by_prefix = filter.how == inspect_filter::match::prefix && !filter.related;
            return space_page_call(space, epoch, by_prefix ? filter.name : "", cursor, claims_per_page);
        }
    };

    static constexpr std::string_view slot_moved = "the slot of the space has moved to another node";
    static constexpr std::string_view library_missing = "the server does not have the function library any more";

    void reconnect(std::string_view why) {
        reset({errc::store_unavailable, "reconnecting to " + address_.shown() + ": " + std::string{why}});
    }
    /// The error of a command.
    [[nodiscard]] store_error explained(std::string_view error) const {
        return refused(address_, {origin::reply, error}).error;
    }
    /// The next connection leads to the node that has the slot now.
    [[nodiscard]] bool has_moved(std::string_view error) const { return route_ && error.starts_with("MOVED "); }
    [[nodiscard]] called_space space() const { return {address_.space, in_cluster_}; }
    void open_node(resp::socket_result done);
    resp::handshake_step rerouted(resp::handshake_step failed, std::string_view error);
    void ask_for_nodes();
    void refuse_all(std::span<const tagged_command> commands);
    /// Tickets and fences of different epochs cannot be compared.
    void follow(epoch epoch) {
        if (epoch_.exchange(epoch) != epoch) highest_ = 0;
    }
    void note_serials(const function_reply& reply);
    void forget(const store_error& why);
    void failed(command_tag tag, std::string_view error);
    void note_reply(const function_reply& reply, bool is_former);
    void tick_when_due(const reply_head& head, bool waits, std::uint64_t ahead);
    void tick();
    void settle_before_close();
    void begin_inspection(const std::shared_ptr<inspection>& inspection);
    bool postpone(const std::shared_ptr<inspection>& inspection, std::string_view why);
    std::vector<std::shared_ptr<inspection>> take_postponed() {
        const std::lock_guard lock{mutex_};
        return std::exchange(postponed_, {});
    }
    void request_page(const std::shared_ptr<inspection>& inspection, const std::string& cursor);
    void take_page(const std::shared_ptr<inspection>& inspection, const resp::value& page);

    redis_address address_;  // the password may change between connections
    handshake handshake_;
    std::atomic<epoch> epoch_{0};
    // A client with a session waits for its rights to come back, because it has leases or queue positions to save.
    std::atomic<bool> had_session_{false};
    std::atomic<bool> only_inspects_{false};    // the user may not run FCALL
    std::atomic<bool> in_cluster_{false};       // the server is a node of a cluster
    std::atomic<protocol::serial> highest_{0};  // the highest known ticket or fence of this epoch

    // By the loop owner.
    baton::epoch told_epoch_ = 0;                            // of a viewer: the last one that the client was told
    std::shared_ptr<sentinel_connection> sentinel_;          // null: the address names the server itself
    std::optional<cluster_route> route_;                     // none: the address does not name a cluster
    bool knows_nodes_ = false;                               // this connection has asked for the nodes of the cluster
    std::shared_ptr<former_primary_search> former_primary_;  // during a handshake after a failover
    std::string attested_;
    std::optional<detail::event_loop::timer> tick_timer_;
    std::minstd_rand dice_{std::random_device{}()};
    function_reply reply_;  // the last reply; kept for its memory
    /// The reply to `close`, which the client gets when nothing is owed any more.
    struct held_reply {
        command_tag tag;
        baton::epoch epoch;
        std::vector<protocol::event> events;
        std::chrono::steady_clock::time_point until;
    };
    std::optional<held_reply> closing_;

    // Of the thread that sends.
    std::string bytes_;
    std::vector<command_tag> tags_;
    function_call call_;

    /// A pending command of the client, and its session, which replies do not contain.
    struct pending_command {
        command_tag tag;
        protocol::session_id sender;
    };
    protocol::session_id take_sender(command_tag tag);

    std::mutex mutex_;
    waiting_requests waiting_;
    detail::fifo<pending_command> pending_;
    std::map<command_tag, std::shared_ptr<inspection>> inspections_;
    std::vector<std::shared_ptr<inspection>> postponed_;  // until the next connection, which loads the library
    std::optional<protocol::session_id> subscribed_;
    command_tag own_ = 0;
};

void redis_connection::forget(const store_error& why) {
    tick_timer_->cancel();
    closing_.reset();
    std::map<command_tag, std::shared_ptr<inspection>> inspections;
    {
        const std::lock_guard lock{mutex_};
        pending_.clear();
        waiting_.clear();
        subscribed_.reset();
        inspections.swap(inspections_);
    }
    for (const auto& [tag, inspection] : inspections) inspection->done(why, {});
}

void redis_connection::open_node(resp::socket_result done) {
    const detail::host_and_port& node = route_->next();
    address_.host = node.host;
    address_.port = node.port;
    connect_redis(loop(), address_, [this, done = std::move(done)](resp::opened_socket made) {
        made.again = made.error.code && route_->has_next();
        done(std::move(made));
    });
}

/// A handshake with a node has failed: another node may have the slot, or know which one has it.
resp::handshake_step redis_connection::rerouted(resp::handshake_step failed, std::string_view error) {
    if (const auto node = moved_to(error, route_->current())) {
        if (route_->redirected(*node)) return {.again = true};
        failed = refused(address_, {origin::redirect, error});
    }
    if (error.starts_with("ASK ") || error.starts_with("TRYAGAIN "))
        route_->keep();  // until the slot has moved
    else if (failed.error.code == errc::store_unavailable && route_->has_next())
        return {.again = true};
    return failed;
}

/// For the time when the present node is dead. Not before the first reply to a command, which shows that the node can
/// be used.
void redis_connection::ask_for_nodes() {
    knows_nodes_ = true;
    std::string bytes;
    resp::encode_command(bytes, {"CLUSTER", "SLOTS"});
    send(bytes, std::array{nodes_tag});
}

void redis_connection::refuse_all(std::span<const tagged_command> commands) {
    const auto listener = this->listener();
    for (const tagged_command& each : commands)
        if (listener)
            listener->failed(each.tag, command_failure::rejected,
                             {errc::not_permitted, may_only_inspect_text(address_)});
}

void redis_connection::perform(std::span<const tagged_command> commands) {
    if (only_inspects_) return refuse_all(commands);
    bytes_.clear();
    tags_.clear();
    {
        const std::lock_guard lock{mutex_};
        for (const tagged_command& each : commands) {
            const protocol::session_id sender = protocol::sender_of(each.command);
            // Subscribe before the session is opened, so that no notice is missed.
            if (std::holds_alternative<protocol::open>(each.command) && subscribed_ != sender) {
                const bool sharded = in_cluster_;
                if (subscribed_)
                    subscribe(bytes_, sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE",
                              wake_channel(address_.space, *subscribed_));
                subscribe(bytes_, sharded ? "SSUBSCRIBE" : "SUBSCRIBE", wake_channel(address_.space, sender));
                subscribed_ = sender;
                had_session_ = true;
            }
            if (const auto* opening = std::get_if<protocol::open>(&each.command)) waiting_.present(*opening);
            const auto* renewal = std::get_if<protocol::renew>(&each.command);
            if (renewal != nullptr && waiting_.any())
                call_ = renew_call(space(), epoch_, *renewal, waiting_.oldest(), std::move(call_));
            else
                call_ = call_of(space(), epoch_, each.command, std::move(call_));
            encode(bytes_, call_);
            tags_.push_back(each.tag);
            pending_.push({each.tag, sender});
        }
    }
    if (send(bytes_, tags_)) return;
    const std::lock_guard lock{mutex_};
    for (const command_tag tag : tags_) take_sender(tag);
    subscribed_.reset();
}

/// An empty id for a tick or an inspection. Replies arrive in order, so it is the first one, unless the connection has
/// broken in between.
protocol::session_id redis_connection::take_sender(command_tag tag) {
    const auto found = std::ranges::find(pending_, tag, &pending_command::tag);
    if (found == pending_.end()) return {};
    const protocol::session_id sender = found->sender;
    pending_.erase(found);
    return sender;
}

void redis_connection::answered(command_tag tag, const resp::value& reply) {
    if (tag == nodes_tag) {
        if (reply.kind != resp::kind::error) route_->learn(reply);  // without the right to ask, only MOVED leads on
        return;
    }
    const bool is_own = (tag & tick_tag) != 0;
    bool is_former = false;  // the reply is for a session that the client has replaced since
    protocol::session_id sender;
    std::shared_ptr<inspection> inspection;
    {
        const std::lock_guard lock{mutex_};
        if (!is_own)
            sender = take_sender(tag);
        else if (auto node = inspections_.extract(tag))
            inspection = std::move(node.mapped());
        is_former = !is_own && subscribed_ && sender != *subscribed_;
    }
    if (inspection) return take_page(inspection, reply);
    if (reply.kind == resp::kind::error) return failed(tag, reply.text);
    if (!decode_reply(reply.text, sender, reply_)) return reconnect("the reply of the function is not valid");
    note_reply(reply_, is_former);
    if (route_ && !knows_nodes_) ask_for_nodes();
    if (is_own && closing_) return settle_before_close();
    if (is_closed(reply_) && owes(reply_.head) && !is_former) {
        closing_ = {tag, reply_.head.epoch, reply_.events, std::chrono::steady_clock::now() + settles_for};
        return tick();
    }
    if (const auto listener = this->listener(); listener && !is_own)
        listener->replied(tag, reply_.head.epoch, reply_.events);
}

/// The end of a session with many requests takes several steps. The client that closes it sends the ticks for them, up
/// to `settles_for`.
void redis_connection::settle_before_close() {
    if (owes(reply_.head) && std::chrono::steady_clock::now() < closing_->until) return tick();
    const held_reply held = *std::exchange(closing_, std::nullopt);
    if (const auto listener = this->listener()) listener->replied(held.tag, held.epoch, held.events);
}

void redis_connection::failed(command_tag tag, std::string_view error) {
    if (has_moved(error)) return reconnect(slot_moved);
    const reply_class what = detail::classify(error);
    // The handshake of a new connection loads the library again, and the client repeats its pending commands.
    if (what == reply_class::no_function) return reconnect(library_missing);
    if (what == reply_class::unavailable) return reset(explained(error));
    if (const auto listener = this->listener(); listener && (tag & tick_tag) == 0)
        listener->failed(
            tag, command_failure::rejected,
            what == reply_class::denied ? explained(error) : store_error{detail::error_of(what), std::string{error}});
}

void redis_connection::pushed(const resp::value& message) {
    if (message.items.size() != 3) return;
    const std::string& what = message.items[0].text;
    if (what != "message" && what != "smessage" && what != "sunsubscribe") return;
    protocol::session_id session;
    {
        const std::lock_guard lock{mutex_};
        if (!subscribed_ || message.items[1].text != wake_channel(address_.space, *subscribed_)) return;
        session = *subscribed_;
    }
    // A node that gives the slot away ends the subscription.
    if (what == "sunsubscribe") return reconnect(slot_moved);
    auto notice = decode_reply(message.items[2].text, session);
    const auto listener = this->listener();
    if (!notice || !listener) return;
    note_reply(*notice, false);
    for (protocol::event& event : notice->events) listener->noticed(notice->head.epoch, std::move(event));
}

void redis_connection::note_serials(const function_reply& reply) {
    if (reply.head.epoch != epoch_) return;
    const auto note = [this](protocol::serial serial) {
        if (serial > highest_) highest_ = serial;
    };
    for (const protocol::event& event : reply.events) {
        if (const auto* is = std::get_if<protocol::granted>(&event.what)) note(is->fence);
        if (const auto* is = std::get_if<protocol::queued>(&event.what)) note(is->ticket);
    }
}

/// Two sessions of a client use the same request numbers, so a reply for a former session must not change `waiting_`.
void redis_connection::note_reply(const function_reply& reply, bool is_former) {
    note_serials(reply);
    bool any = false;
    std::uint64_t ahead = 0;
    {
        const std::lock_guard lock{mutex_};
        if (!is_former) waiting_.note(reply);
        any = waiting_.any();
        ahead = waiting_.ahead();
    }
    tick_when_due(reply.head, any, ahead);
}

/// A Redis server does nothing by itself: waiting clients send a tick when a deadline has passed. Each reply has the
/// time of the next deadline.
void redis_connection::tick_when_due(const reply_head& head, bool waits, std::uint64_t ahead) {
    if (!waits || !head.due) {
        tick_timer_->cancel();
        return;
    }
    const auto claims_ahead = static_cast<std::int64_t>(std::min(ahead, last_position));
    // Work that is owed already is done at once by the first waiter. Otherwise a random delay separates the first
    // waiters of different queues.
    const bool owed = owes(head) && claims_ahead == 0;
    const auto chance = owed ? 0ms : tick_spread * static_cast<int>(dice_() % 1024U) / 1024;
    const auto spread = tick_spread * claims_ahead + chance;
    tick_timer_->set_after(std::max(*head.due - head.at, protocol::duration{0}) + spread);
}

void redis_connection::tick() {
    std::string bytes;
    command_tag tag = 0;
    {
        const std::lock_guard lock{mutex_};
        tag = tick_tag | ++own_;
    }
    encode(bytes, call_of(space(), epoch_, protocol::tick{}));
    send(bytes, std::array{tag});
}

void redis_connection::inspect(const inspect_filter& filter, snapshot_callback done) {
    begin_inspection(std::make_shared<inspection>(inspection{filter, std::move(done), {}}));
}

void redis_connection::begin_inspection(const std::shared_ptr<inspection>& inspection) {
    if (inspection->filter.how == inspect_filter::match::exact && !inspection->filter.related)
        inspection->name = inspection->filter.name;
    if (inspection->filter.own_wait) {
        const std::lock_guard lock{mutex_};
        inspection->own_wait = subscribed_ && waiting_.any();
        inspection->name = inspection->filter.name;
    }
    request_page(inspection, "0");
}

/// If the library is missing, or the space has another epoch, the next connection finds out, and the inspection starts
/// again there, once.
bool redis_connection::postpone(const std::shared_ptr<inspection>& inspection, std::string_view why) {
    if (std::exchange(inspection->restarted, true)) return false;
    inspection->pages = {};
    inspection->waits.clear();
    inspection->name.reset();
    {
        const std::lock_guard lock{mutex_};
        postponed_.push_back(inspection);
    }
    reconnect(why);
    return true;
}

void redis_connection::request_page(const std::shared_ptr<inspection>& inspection, const std::string& cursor) {
    std::string bytes;
    function_call call;
    command_tag tag = 0;
    {
        const std::lock_guard lock{mutex_};
        tag = tick_tag | ++own_;
        inspections_.emplace(tag, inspection);
        if (inspection->own_wait && subscribed_)
            call = wait_page_call(space(), epoch_, *subscribed_, waiting_.oldest(), holders_shown);
        else
            call = inspection->next_call(space(), epoch_, cursor);
    }
    encode(bytes, call);
    if (send(bytes, std::array{tag})) return;
    {
        const std::lock_guard lock{mutex_};
        if (inspections_.erase(tag) == 0) return;
    }
    inspection->done({errc::store_unavailable}, {});
}

void redis_connection::take_page(const std::shared_ptr<inspection>& inspection, const resp::value& page) {
    if (page.kind == resp::kind::error) {
        const reply_class what = detail::classify(page.text);
        const bool is_outdated =
            what == reply_class::no_function || page.text.starts_with("BATONEPOCH ") || has_moved(page.text);
        if (is_outdated && postpone(inspection, what == reply_class::no_function ? library_missing : page.text)) return;
        if (what == reply_class::denied || what == reply_class::unavailable)
            return inspection->done(explained(page.text), {});
        return inspection->done({detail::error_of(what), std::string{page.text}}, {});
    }
    const auto cursor = inspection->pages.add(page, inspection->own_wait ? &inspection->waits : nullptr);
    if (!cursor) return inspection->done({errc::rejected, "the reply of the function is not valid"}, {});
    if (*cursor != "0") return request_page(inspection, *cursor);
    inspection->name = inspection->pages.next_large();
    if (inspection->name) return request_page(inspection, "0");
    snapshot seen = inspection->pages.take();
    protocol::explain(seen);
    if (inspection->own_wait) {
        correct(seen, inspection->waits);
        return inspection->done({}, std::move(seen));
    }
    const bool related = inspection->filter.related && !inspection->filter.own_wait;
    related ? protocol::keep_related(seen, inspection->filter) : protocol::keep_matching(seen, inspection->filter);
    inspection->done({}, std::move(seen));
}

class redis_space final : public store {
public:
    explicit redis_space(redis_address address) : address_{std::move(address)} {}

    std::unique_ptr<store_connection> connect(std::weak_ptr<store_listener> listener) override {
        return std::make_unique<resp::connection_to<redis_connection>>(loop_, address_, std::move(listener));
    }
    [[nodiscard]] baton::if_unavailable if_unavailable() const override { return address_.if_unavailable; }

private:
    const redis_address address_;
    const std::shared_ptr<detail::event_loop> loop_ = detail::process_wide<detail::event_loop>();
};

}  // namespace
}  // namespace baton::redis

namespace baton::detail {

std::shared_ptr<store> redis_store(redis_address address) {
    return std::make_shared<redis::redis_space>(std::move(address));
}

}  // namespace baton::detail
