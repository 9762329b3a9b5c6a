// A client's session on a server that has no sessions: it keeps the client's requests, decides when to poll, renew and
// leave each, and reports their state to the client. The protocol of a dialect is in its queue entries. No I/O and no
// clock here.
//
// The client trusts a lease for a ttl from the moment at which it sent a renewal that was confirmed. So the session
// reports a request as held only if a command that took or renewed it was sent after that renewal arrived here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baton/store.hpp"
#include "dialect.hpp"

namespace baton::dialects {

/// Receives what the session reports to the client.
class session_listener {
public:
    virtual ~session_listener() = default;
    virtual void reply(command_tag tag, std::vector<protocol::event> events) = 0;
    virtual void fail(command_tag tag, std::error_code why) = 0;
    virtual void notice(protocol::event event) = 0;
};

class dialect_session {
public:
    dialect_session(const dialect& dialect, context& context, dialect::protocol_client& protocol_client,
                    session_listener& listener)
        : dialect_{dialect}, context_{context}, protocol_client_{protocol_client}, listener_{listener} {}

    /// Requires a connection.
    void perform(const tagged_command& each);
    /// Pending commands get no replies. The session sends nothing until the client opens it on the next connection.
    void connection_lost();
    void subscribe(const std::string& name, const queue_entry& entry);
    /// Polls the entries that have subscribed to the name. False if there are none.
    bool notify(const std::string& name);
    /// Sets label and claim of the client's own requests.
    void add_own_labels(listing& listing) const;
    /// Polls all entries whose next poll is due.
    void poll_due();
    [[nodiscard]] std::optional<protocol::instant> next_poll() const;

private:
    enum class phase : std::uint8_t { waiting, held, leaving };
    /// The pending query of a waiting record. The callback owns the query, and the record has a weak pointer: if the
    /// callback is dropped because there is no connection, the record has no pending query.
    enum class query : std::uint8_t {
        poll,
        confirm,  // renews a request that was granted and is not reported yet
    };
    using query_ptr = std::shared_ptr<const query>;
    struct record {
        protocol::request_id request;
        baton::claim claim;
        protocol::enter_options options;
        std::unique_ptr<queue_entry> entry;
        dialect_session::phase phase = phase::waiting;
        protocol::serial ticket = 0;
        protocol::serial fence = 0;
        std::vector<protocol::abandoned_resource> abandoned;
        std::optional<protocol::instant> hold_deadline;
        std::optional<command_tag> pending_enter;  // an `enter` without its reply
        bool reported = false;                     // the client has a reply or a notice about it
        std::weak_ptr<const dialect_session::query> query;
        bool poll_again = false;                 // a notification arrived during the poll
        std::uint64_t round = 0;                 // the last renewal round before the last poll
        protocol::instant polled_at;             // when the last poll began
        protocol::instant poll_at;               // when the next poll is due
        std::optional<protocol::instant> alarm;  // its entry in `alarms_`
        std::set<std::string> subscriptions;
    };
    using record_ptr = std::shared_ptr<record>;
    struct round {
        command_tag tag = 0;
        std::size_t missing = 0;
        std::error_code error;
    };

    void enter(command_tag tag, const protocol::enter& command);
    void leave(command_tag tag, const protocol::leave& command);
    void open(command_tag tag, const protocol::open& command);
    void close(command_tag tag, const protocol::close& command);
    void list(command_tag tag, const protocol::list& command);
    void renew_all(command_tag tag);
    void renewed(const std::shared_ptr<round>& round, const record_ptr& record, const claim_result& result);
    void finish(const std::shared_ptr<round>& round);
    void poll(const record_ptr& record);
    void polled(const record_ptr& record, const query_ptr& query, const claim_result& result);
    void confirm(const record_ptr& record, const claim_result& found);
    void grant(record& record, const claim_result& result);
    void reply_to_enter(record& record);
    void refuse_busy(const record_ptr& record);
    [[nodiscard]] query_ptr begin(record& record, query what);
    [[nodiscard]] bool end(record& record, const query_ptr& query);
    [[nodiscard]] static bool confirming(const record& record);
    void set_alarm(record& record);
    void drop(const record_ptr& record, std::function<void()> done);
    void forget(const record_ptr& record);
    [[nodiscard]] protocol::event granted(const record& record) const;
    template <typename What> [[nodiscard]] protocol::event event(What what) const {
        return {context_.now(), std::move(what)};
    }

    const dialect& dialect_;
    context& context_;
    dialect::protocol_client& protocol_client_;
    session_listener& listener_;
    protocol::session_id id_;
    std::string label_;
    std::uint64_t round_ = 0;
    protocol::serial ticket_ = 0;
    std::map<std::uint64_t, record_ptr> records_;  // by number
    std::map<std::string, std::set<std::uint64_t>> subscribers_;
    std::set<std::pair<protocol::instant, std::uint64_t>> alarms_;  // when the next poll of each waiter is due
};

}  // namespace baton::dialects
