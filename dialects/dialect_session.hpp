// A client's session on a server that knows none: which requests there are, when each is looked at, renewed and left,
// and what the client is told of it. The protocol of each dialect is in its queue entries. No I/O and no clock here.
//
// A lease is believed for a ttl after the client sent a renewal that was answered. So everything that the client is
// told to hold was held, or prolonged, by something that was sent after that renewal was heard of here.
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

/// What the client is told.
class teller {
public:
    virtual ~teller() = default;
    virtual void reply(command_tag tag, std::vector<protocol::event> events) = 0;
    virtual void fail(command_tag tag, std::error_code why) = 0;
    virtual void notice(protocol::event event) = 0;
};

class dialect_session {
public:
    dialect_session(const dialect& dialect, talk& talk, dialect::speaker& speaker, teller& teller)
        : dialect_{dialect}, talk_{talk}, speaker_{speaker}, teller_{teller} {}

    /// Only while there is a connection.
    void perform(const tagged_command& each);
    /// What was asked will not be answered. Nothing is asked until the client opens its session on the next connection.
    void connection_lost();
    void listen(const std::string& name, const queue_entry& who);
    /// False if nobody listens for it.
    bool heard(const std::string& name);
    /// Gives those of the client its label, and what they claim.
    void name_ours(listing& listing) const;
    /// Looks where that is due.
    void pass_time();
    [[nodiscard]] std::optional<protocol::instant> next_poll() const;

private:
    enum class phase : std::uint8_t { waiting, held, leaving };
    /// What a waiting record has asked the server, and not heard the answer to. The callback that takes the answer owns
    /// the query and the record only refers to it: a callback that is dropped, because there is no connection to
    /// send it on, leaves no query behind that would be waited for.
    enum class query : std::uint8_t {
        poll,
        confirm,  // it was granted, and its client does not know yet
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
        std::optional<command_tag> asked;  // by an `enter` that is not answered
        bool told = false;                 // the client has heard of it
        std::weak_ptr<const dialect_session::query> query;
        bool poll_again = false;                 // something changed during the look
        std::uint64_t round = 0;                 // the renewal after which it was asked for
        protocol::instant polled_at;             // when the last look was begun
        protocol::instant poll_at;               // when the next is due
        std::optional<protocol::instant> alarm;  // as it stands among the alarms
        std::set<std::string> listens;
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
    void answer(record& record);
    void refuse_busy(const record_ptr& record);
    [[nodiscard]] query_ptr begin(record& record, query what);
    [[nodiscard]] bool end(record& record, const query_ptr& query);
    [[nodiscard]] static bool confirming(const record& record);
    void set_alarm(record& record);
    void drop(const record_ptr& record, std::function<void()> done);
    void forget(const record_ptr& record);
    [[nodiscard]] protocol::event granted(const record& record) const;
    template <typename What> [[nodiscard]] protocol::event event(What what) const {
        return {talk_.now(), std::move(what)};
    }

    const dialect& dialect_;
    talk& talk_;
    dialect::speaker& speaker_;
    teller& teller_;
    protocol::session_id id_;
    std::string label_;
    std::uint64_t round_ = 0;
    protocol::serial ticket_ = 0;
    std::map<std::uint64_t, record_ptr> records_;  // by number
    std::map<std::string, std::set<std::uint64_t>> listeners_;
    std::set<std::pair<protocol::instant, std::uint64_t>> alarms_;  // of those who wait, when each is looked at
};

}  // namespace baton::dialects
