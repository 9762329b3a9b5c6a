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
#include "stores/redis/connect.hpp"
#include "stores/redis/function_call.hpp"
#include "stores/redis/function_reply.hpp"
#include "stores/redis/handshake.hpp"
#include "stores/redis/inspect_pages.hpp"
#include "stores/redis/reply_class.hpp"
#include "stores/redis/waiting_requests.hpp"
#include "stores/resp/connection.hpp"

namespace baton::redis {
namespace {

using namespace std::chrono_literals;
using detail::redis_address;
using detail::reply_class;

constexpr page_size inspected_at_once{64};
constexpr page_size holders_shown{blockers_shown};
/// Of those that wait, the first inspections; who waits behind it looks so much later for each ahead, in case that
/// those ahead are dead as well. Most never do: the answer to their next renewal says that it is not needed, or is a
/// look itself.
constexpr std::chrono::milliseconds tick_spread{10};
constexpr std::uint64_t last_place = 100'000;
/// How long a client that closes settles what is owed. A client gives its close 1 s by default.
constexpr std::chrono::milliseconds settles_for{500};

/// Something is left that the next step can settle at once.
bool owes(const reply_head& head) { return head.due && *head.due <= head.at && head.paused_until <= head.at; }

bool is_closed(const function_reply& reply) {
    return std::ranges::any_of(reply.events, [](const protocol::event& event) {
        return std::holds_alternative<protocol::closed>(event.what);
    });
}

void subscribe(std::string& out, const char* how, const std::string& channel) {
    resp::writer write{out};
    write.array(2);
    write.bulk(how);
    write.bulk(channel);
}

/// Commands as calls of functions, replies and messages as events.
class redis_connection final : public resp::connection {
public:
    redis_connection(detail::event_loop& loop, redis_address address, std::weak_ptr<store_listener> listener)
        : connection{loop, std::move(listener)},
          address_{std::move(address)},
          handshake_{native_handshake(address_, [this] {
              return known_history{epoch_, highest_};
          })} {}

    /// On the thread of the client, one at a time.
    void perform(std::span<const tagged_command> commands);
    void inspect(const inspect_filter& filter, inspect_answer answer);

private:
    void begin() override {
        tick_timer_.emplace(loop(), [this, weak = weak_from_this()] {
            if (const auto alive = weak.lock()) tick();
        });
    }
    void open_socket(resp::socket_result done) override { connect_redis(loop(), address_, std::move(done)); }
    resp::handshake_step begin_handshake() override { return handshake_.begin(); }
    resp::handshake_step continue_handshake(const resp::value& answer) override { return handshake_.answered(answer); }

    void up(epoch epoch) override {
        follow(epoch);
        connection::up(epoch);
        for (const auto& inspection : take_postponed()) begin_inspection(inspection);
    }
    void down(const store_error& why) override {
        forget({errc::store_unavailable, why.text});
        connection::down(why);
    }
    void answered(command_tag tag, const resp::value& answer) override;
    void pushed(const resp::value& message) override;

    static constexpr command_tag tick_tag = command_tag{1} << 61U;

    struct inspection {
        inspect_filter filter;
        inspect_answer answer;
        inspect_pages pages;
        std::optional<std::string> name = {};  // whose pages are asked for; none: those of the space
        bool own_wait = false;                 // the one page of a waiting connection
        std::vector<shown_wait> waits = {};
        bool begun_again = false;

        [[nodiscard]] function_call next_call(std::string_view space, epoch epoch, std::string_view cursor) const {
            if (name) return name_page_call(space, epoch, *name, cursor, inspected_at_once);
            const bool by_prefix = filter.how == inspect_filter::match::prefix && !filter.related;
            return space_page_call(space, epoch, by_prefix ? filter.name : "", cursor, inspected_at_once);
        }
    };

    void reconnect(std::string_view why) { reset({errc::store_unavailable, std::string{why}}); }
    /// Serials of another epoch say nothing about this one.
    void follow(epoch epoch) {
        if (epoch_.exchange(epoch) != epoch) highest_ = 0;
    }
    void note_serials(const function_reply& answer);
    void forget(const store_error& why);
    void failed(command_tag tag, std::string_view error);
    void heard(const function_reply& answer, bool is_former);
    void tick_when_due(const reply_head& head, bool waits, std::uint64_t ahead);
    void tick();
    void settle_before_close();
    void begin_inspection(const std::shared_ptr<inspection>& inspection);
    bool postpone(const std::shared_ptr<inspection>& inspection);
    std::vector<std::shared_ptr<inspection>> take_postponed() {
        const std::lock_guard lock{mutex_};
        return std::exchange(postponed_, {});
    }
    void ask_page(const std::shared_ptr<inspection>& inspection, const std::string& cursor);
    void take_page(const std::shared_ptr<inspection>& inspection, const resp::value& page);

    redis_address address_;  // its password may change between connections
    handshake handshake_;
    std::atomic<epoch> epoch_{0};
    std::atomic<protocol::serial> highest_{0};  // ticket or fence of this epoch that the server told

    // By the loop owner.
    std::optional<detail::event_loop::timer> tick_timer_;
    std::minstd_rand dice_{std::random_device{}()};
    function_reply heard_;  // the last one; its memory is used again
    /// The answer to `close`, which the client gets when nothing is owed any more.
    struct held_answer {
        command_tag tag;
        baton::epoch epoch;
        std::vector<protocol::event> events;
        std::chrono::steady_clock::time_point until;
    };
    std::optional<held_answer> closing_;

    // Of the thread that sends.
    std::string bytes_;
    std::vector<command_tag> tags_;
    function_call call_;

    /// A client's command that is not answered, and who sent it, as answers do not say it.
    struct asked_command {
        command_tag tag;
        protocol::session_id sender;
    };
    protocol::session_id take_sender(command_tag tag);

    std::mutex mutex_;
    waiting_requests waiting_;
    detail::fifo<asked_command> asked_;
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
        asked_.clear();
        waiting_.clear();
        subscribed_.reset();
        inspections.swap(inspections_);
    }
    for (const auto& [tag, inspection] : inspections) inspection->answer(why, {});
}

void redis_connection::perform(std::span<const tagged_command> commands) {
    bytes_.clear();
    tags_.clear();
    {
        const std::lock_guard lock{mutex_};
        for (const tagged_command& each : commands) {
            const protocol::session_id sender = protocol::sender_of(each.command);
            // Before the session is opened, so that no notice to it is missed.
            if (std::holds_alternative<protocol::open>(each.command) && subscribed_ != sender) {
                if (subscribed_) subscribe(bytes_, "UNSUBSCRIBE", wake_channel(address_.space, *subscribed_));
                subscribe(bytes_, "SUBSCRIBE", wake_channel(address_.space, sender));
                subscribed_ = sender;
            }
            if (const auto* opening = std::get_if<protocol::open>(&each.command)) waiting_.present(*opening);
            const auto* renewal = std::get_if<protocol::renew>(&each.command);
            if (renewal != nullptr && waiting_.any())
                call_ = renew_call(address_.space, epoch_, *renewal, waiting_.oldest(), std::move(call_));
            else
                call_ = call_of(address_.space, epoch_, each.command, std::move(call_));
            encode(bytes_, call_);
            tags_.push_back(each.tag);
            asked_.push({each.tag, sender});
        }
    }
    if (send(bytes_, tags_)) return;
    const std::lock_guard lock{mutex_};
    for (const command_tag tag : tags_) take_sender(tag);
    subscribed_.reset();
}

/// None for a question of our own. Answers come in order, so it is the first, unless a connection broke in between.
protocol::session_id redis_connection::take_sender(command_tag tag) {
    const auto found = std::ranges::find(asked_, tag, &asked_command::tag);
    if (found == asked_.end()) return {};
    const protocol::session_id sender = found->sender;
    asked_.erase(found);
    return sender;
}

void redis_connection::answered(command_tag tag, const resp::value& answer) {
    const bool is_own = (tag & tick_tag) != 0;
    bool is_former = false;  // the answer to a session that the client has replaced since
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
    if (inspection) return take_page(inspection, answer);
    if (answer.kind == resp::kind::error) return failed(tag, answer.text);
    if (!decode_reply(answer.text, sender, heard_)) return reconnect("the answer is not understood");
    heard(heard_, is_former);
    if (is_own && closing_) return settle_before_close();
    if (is_closed(heard_) && owes(heard_.head) && !is_former) {
        closing_ = {tag, heard_.head.epoch, heard_.events, std::chrono::steady_clock::now() + settles_for};
        return tick();
    }
    if (const auto listener = this->listener(); listener && !is_own)
        listener->replied(tag, heard_.head.epoch, heard_.events);
}

/// A session with many requests ends in parts. The client that closes it settles them before it goes, for a while.
void redis_connection::settle_before_close() {
    if (owes(heard_.head) && std::chrono::steady_clock::now() < closing_->until) return tick();
    const held_answer held = *std::exchange(closing_, std::nullopt);
    if (const auto listener = this->listener()) listener->replied(held.tag, held.epoch, held.events);
}

void redis_connection::failed(command_tag tag, std::string_view error) {
    const reply_class what = detail::classify(error);
    // A new connection loads the library again, and repeats what was not answered.
    if (what == reply_class::no_function || what == reply_class::unavailable) return reconnect(error);
    if (const auto listener = this->listener(); listener && (tag & tick_tag) == 0)
        listener->failed(tag, command_failure::rejected, {detail::error_of(what), std::string{error}});
}

void redis_connection::pushed(const resp::value& message) {
    if (message.items.size() != 3 || message.items[0].text != "message") return;
    protocol::session_id session;
    {
        const std::lock_guard lock{mutex_};
        if (!subscribed_ || message.items[1].text != wake_channel(address_.space, *subscribed_)) return;
        session = *subscribed_;
    }
    auto notice = decode_reply(message.items[2].text, session);
    const auto listener = this->listener();
    if (!notice || !listener) return;
    heard(*notice, false);
    for (protocol::event& event : notice->events) listener->noticed(notice->head.epoch, std::move(event));
}

void redis_connection::note_serials(const function_reply& answer) {
    if (answer.head.epoch != epoch_) return;
    const auto note = [this](protocol::serial serial) {
        if (serial > highest_) highest_ = serial;
    };
    for (const protocol::event& event : answer.events) {
        if (const auto* is = std::get_if<protocol::granted>(&event.what)) note(is->fence);
        if (const auto* is = std::get_if<protocol::queued>(&event.what)) note(is->ticket);
    }
}

/// Numbers of a former session are those of the present one, so what is told of it does not say who waits.
void redis_connection::heard(const function_reply& answer, bool is_former) {
    note_serials(answer);
    bool any = false;
    std::uint64_t ahead = 0;
    {
        const std::lock_guard lock{mutex_};
        if (!is_former) waiting_.hear(answer);
        any = waiting_.any();
        ahead = waiting_.ahead();
    }
    tick_when_due(answer.head, any, ahead);
}

/// A server does nothing by itself: whoever waits looks when a deadline has passed. Every answer says when that is.
void redis_connection::tick_when_due(const reply_head& head, bool waits, std::uint64_t ahead) {
    if (!waits || !head.due) {
        tick_timer_->cancel();
        return;
    }
    const auto places = static_cast<std::int64_t>(std::min(ahead, last_place));
    // Those who are first in different lines do not look all at once either.
    // What is owed already is settled at once by the first of them: each look settles a part of it.
    const bool owed = owes(head) && places == 0;
    const auto chance = owed ? 0ms : tick_spread * static_cast<int>(dice_() % 1024U) / 1024;
    const auto spread = tick_spread * places + chance;
    tick_timer_->set_after(std::max(*head.due - head.at, protocol::duration{0}) + spread);
}

void redis_connection::tick() {
    std::string bytes;
    command_tag tag = 0;
    {
        const std::lock_guard lock{mutex_};
        tag = tick_tag | ++own_;
    }
    encode(bytes, call_of(address_.space, epoch_, protocol::tick{}));
    send(bytes, std::array{tag});
}

void redis_connection::inspect(const inspect_filter& filter, inspect_answer answer) {
    begin_inspection(std::make_shared<inspection>(inspection{filter, std::move(answer), {}}));
}

void redis_connection::begin_inspection(const std::shared_ptr<inspection>& inspection) {
    if (inspection->filter.how == inspect_filter::match::exact && !inspection->filter.related)
        inspection->name = inspection->filter.name;
    if (inspection->filter.own_wait) {
        const std::lock_guard lock{mutex_};
        inspection->own_wait = subscribed_ && waiting_.any();
        inspection->name = inspection->filter.name;
    }
    ask_page(inspection, "0");
}

/// The library is missing: a new connection loads it, and the look begins again there, once.
bool redis_connection::postpone(const std::shared_ptr<inspection>& inspection) {
    if (std::exchange(inspection->begun_again, true)) return false;
    inspection->pages = {};
    inspection->waits.clear();
    inspection->name.reset();
    {
        const std::lock_guard lock{mutex_};
        postponed_.push_back(inspection);
    }
    reconnect("the server does not have the function library");
    return true;
}

void redis_connection::ask_page(const std::shared_ptr<inspection>& inspection, const std::string& cursor) {
    std::string bytes;
    function_call call;
    command_tag tag = 0;
    {
        const std::lock_guard lock{mutex_};
        tag = tick_tag | ++own_;
        inspections_.emplace(tag, inspection);
        if (inspection->own_wait && subscribed_)
            call = wait_page_call(address_.space, epoch_, *subscribed_, waiting_.oldest(), holders_shown);
        else
            call = inspection->next_call(address_.space, epoch_, cursor);
    }
    encode(bytes, call);
    if (send(bytes, std::array{tag})) return;
    {
        const std::lock_guard lock{mutex_};
        if (inspections_.erase(tag) == 0) return;
    }
    inspection->answer({errc::store_unavailable}, {});
}

void redis_connection::take_page(const std::shared_ptr<inspection>& inspection, const resp::value& page) {
    if (page.kind == resp::kind::error) {
        const reply_class what = detail::classify(page.text);
        if (what == reply_class::no_function && postpone(inspection)) return;
        return inspection->answer({detail::error_of(what), std::string{page.text}}, {});
    }
    const auto cursor = inspection->pages.add(page, inspection->own_wait ? &inspection->waits : nullptr);
    if (!cursor) return inspection->answer({errc::rejected, "the answer is not understood"}, {});
    if (*cursor != "0") return ask_page(inspection, *cursor);
    inspection->name = inspection->pages.next_large();
    if (inspection->name) return ask_page(inspection, "0");
    snapshot seen = inspection->pages.take();
    protocol::explain(seen);
    if (inspection->own_wait) {
        correct(seen, inspection->waits);
        return inspection->answer({}, std::move(seen));
    }
    const bool related = inspection->filter.related && !inspection->filter.own_wait;
    related ? protocol::keep_related(seen, inspection->filter) : protocol::keep_matching(seen, inspection->filter);
    inspection->answer({}, std::move(seen));
}

class redis_space final : public store {
public:
    explicit redis_space(redis_address address) : address_{std::move(address)} {}

    std::unique_ptr<store_connection> connect(std::weak_ptr<store_listener> listener) override {
        return std::make_unique<resp::connection_to<redis_connection>>(loop_, address_, std::move(listener));
    }

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
