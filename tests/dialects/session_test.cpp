// A session of a dialect with scripted queue entries: when it polls, renews and leaves, and which events the client
// receives.
#include <gtest/gtest.h>

#include <deque>

#include "baton/error.hpp"
#include "dialect_session.hpp"

namespace baton::dialects {
namespace {

using namespace std::chrono_literals;
using namespace protocol;

/// A call of a queue entry that is pending.
struct call {
    std::string verb;
    std::uint64_t number;
    queue_entry::callback answer;
    std::function<void()> left;
};

class scripted final : public dialect, public context, public session_listener {
public:
    // The dialect.
    [[nodiscard]] lease_pace pace() const override { return {3s, 1s}; }
    [[nodiscard]] std::string objection(std::span<const claim> claims, const enter_options&) const override {
        return claims.size() == 1 ? "" : "one at a time";
    }
    [[nodiscard]] std::span<const redis::script_text> scripts() const override { return {}; }
    [[nodiscard]] std::unique_ptr<protocol_client> make_protocol_client(context&) const override { return nullptr; }

    // The server.
    void execute(std::vector<redis_command>, std::function<void(const replies&)> done) override {
        if (connected) times.push_back(std::move(done));
    }
    void sent(call made) {
        if (connected) calls.push_back(std::move(made));
    }
    void watch(const std::string&, const queue_entry&) override {}
    void subscribe(const std::string&, const queue_entry&) override {}
    [[nodiscard]] bool can_watch() const override { return true; }
    [[nodiscard]] instant now() const override { return time; }
    [[nodiscard]] server_time server_now() const override { return {}; }
    [[nodiscard]] std::string random_bytes() override { return std::string(16, 'r'); }

    // The client.
    void reply(command_tag tag, std::vector<event> events) override {
        for (const event& event : events) say(std::to_string(tag), event);
    }
    void fail(command_tag tag, std::error_code why) override {
        events.push_back(std::to_string(tag) + " failed " + why.message());
    }
    void notice(event event) override { say("notice", event); }

    void say(const std::string& to, const event& event) {
        std::string text = to + " ";
        if (const auto* what = std::get_if<granted>(&event.what))
            text += "granted " + std::to_string(what->request.number) + " fence " + std::to_string(what->fence);
        if (const auto* what = std::get_if<queued>(&event.what))
            text += "queued " + std::to_string(what->request.number);
        if (const auto* what = std::get_if<refused>(&event.what))
            text += "refused " + std::string{to_string(what->reason)};
        if (const auto* what = std::get_if<ended>(&event.what))
            text += "ended " + std::to_string(what->request.number) + " " + std::string{to_string(what->reason)};
        if (std::holds_alternative<closed>(event.what)) text += "closed";
        if (const auto* what = std::get_if<alive>(&event.what)) text += "alive " + std::to_string(what->count);
        if (const auto* what = std::get_if<protocol::listed>(&event.what)) {
            text += "listed";
            for (const request_state& state : what->requests)
                text += " " + std::to_string(state.number) + (state.fence != 0 ? " held" : " waits");
        }
        events.push_back(text);
    }

    bool connected = true;  // otherwise calls are dropped, as `context` does without a connection
    std::deque<call> calls;
    std::deque<std::function<void(const replies&)>> times;
    std::vector<std::string> events;
    instant time{};
};

class scripted_entry final : public queue_entry {
public:
    explicit scripted_entry(scripted& script) : script_{script} {}
    void poll(callback done) override { script_.sent({"poll", number, std::move(done), {}}); }
    void renew(callback done) override { script_.sent({"renew", number, std::move(done), {}}); }
    void leave(std::function<void()> done) override { script_.sent({"leave", number, {}, std::move(done)}); }
    [[nodiscard]] duration poll_delay() const override { return 100ms; }
    [[nodiscard]] std::vector<std::string> names() const override { return {}; }

private:
    scripted& script_;
};

class scripted_client final : public dialect::protocol_client {
public:
    explicit scripted_client(scripted& script) : script_{script} {}
    [[nodiscard]] std::unique_ptr<queue_entry> make_entry(const claim&, const enter_options&) override {
        return std::make_unique<scripted_entry>(script_);
    }
    void list(const inspect_filter&, list_callback) override {}

private:
    scripted& script_;
};

class DialectSession : public testing::Test {
protected:
    void SetUp() override {
        perform(open{id_, 3s, "test", 1, 0, {}});
        answer_time();
        expect_events({"1 alive 0"});
    }

    command_tag perform(command command) {
        session_.perform({++tag_, std::move(command)});
        return tag_;
    }
    void enter(std::uint64_t number, enter_options options = {}) {
        perform(protocol::enter{{id_, number}, exclusive("a").list(), options});
    }
    /// Completes the oldest call, which must be this one.
    void answer(const std::string& verb, std::uint64_t number, claim_result result) {
        const call pending = take(verb, number);
        if (pending.answer) pending.answer(result);
    }
    void answer_leave(std::uint64_t number) {
        if (const call pending = take("leave", number); pending.left) pending.left();
    }
    void answer_time() {
        ASSERT_FALSE(script_.times.empty());
        const auto done = std::move(script_.times.front());
        script_.times.pop_front();
        done({});
    }
    void expect_events(const std::vector<std::string>& words) { EXPECT_EQ(std::exchange(script_.events, {}), words); }
    void lose_connection() {
        script_.calls.clear();
        script_.times.clear();
        session_.connection_lost();
    }
    void reopen_with(std::uint64_t number) {
        perform(open{id_, 3s, "test", 2, number, {{number, exclusive("a").list(), 1, 0, {}, {}}}});
    }
    void expect_no_calls() {
        for (const call& each : script_.calls) ADD_FAILURE() << each.verb << " " << each.number;
    }

    static claim_result held(std::int64_t at) {
        return {.status = claim_status::held, .at = server_time{std::chrono::microseconds{at}}};
    }
    static claim_result waiting() { return {.status = claim_status::waiting}; }
    static claim_result gone() { return {.status = claim_status::gone}; }

    const session_id id_{1, 2};
    command_tag tag_ = 0;
    scripted script_;
    scripted_client protocol_client_{script_};
    dialect_session session_{script_, script_, protocol_client_, script_};

private:
    call take(const std::string& verb, std::uint64_t number) {
        if (script_.calls.empty() || script_.calls.front().verb != verb || script_.calls.front().number != number) {
            ADD_FAILURE() << "no call to " << verb << " " << number;
            return {};
        }
        call pending = std::move(script_.calls.front());
        script_.calls.pop_front();
        return pending;
    }
};

TEST_F(DialectSession, GrantsAtOnceOrLater) {
    enter(1);
    answer("poll", 1, held(7));
    enter(2);
    answer("poll", 2, waiting());
    expect_events({"2 granted 1 fence 7", "3 queued 2"});
    script_.time += 99ms;
    session_.poll_due();
    expect_no_calls();
    EXPECT_EQ(session_.next_poll(), script_.time + 1ms);
    script_.time += 1ms;
    session_.poll_due();
    answer("poll", 2, held(8));
    expect_events({"notice granted 2 fence 8"});
    EXPECT_FALSE(session_.next_poll());
}

TEST_F(DialectSession, ANowaitRequestLeavesBeforeItIsRefused) {
    enter(1, {.nowait = true});
    answer("poll", 1, waiting());
    expect_events({});
    answer_leave(1);
    expect_events({"2 refused busy"});
}

TEST_F(DialectSession, ARenewalReportsTheStateOfEachLease) {
    enter(1);
    answer("poll", 1, held(7));
    enter(2);
    answer("poll", 2, held(8));
    enter(3);
    answer("poll", 3, waiting());
    expect_events({"2 granted 1 fence 7", "3 granted 2 fence 8", "4 queued 3"});
    perform(renew{id_});
    answer("renew", 1, held(9));
    answer("renew", 2, gone());
    answer("poll", 3, waiting());
    answer_leave(2);
    expect_events({"notice ended 2 gone"});
    answer_time();
    expect_events({"5 alive 2"});
    perform(protocol::list{id_, 0});
    perform(protocol::list{id_, 1});
    expect_events({"6 listed 1 held 3 waits", "7 listed 3 waits"});
}

// The grant is older than the renewal, so the server may let it expire before the deadline that the client computes.
TEST_F(DialectSession, AGrantOlderThanARenewalIsRenewedBeforeItIsReported) {
    enter(1);
    perform(renew{id_});
    answer("poll", 1, held(7));
    expect_events({});
    answer_time();
    expect_events({"3 alive 0"});  // the client does not know of the grant
    answer("renew", 1, held(8));
    expect_events({"2 granted 1 fence 7"});
}

TEST_F(DialectSession, ASessionKeepsItsRequestsWhenItsConnectionIsLost) {
    enter(1);
    answer("poll", 1, held(7));
    enter(2);
    answer("poll", 2, waiting());
    enter(3);
    perform(leave{{id_, 2}, release_kind::clean});
    script_.calls.clear();
    script_.events.clear();
    session_.connection_lost();

    perform(open{
        id_, 3s, "test", 2, 3, {{1, exclusive("a").list(), 1, 7, {}, {}}, {3, exclusive("a").list(), 0, 0, {}, {}}}});
    answer_leave(2);
    answer("renew", 1, held(7));
    answer("poll", 3, waiting());
    answer_time();
    expect_events({"6 alive 2"});
    perform(protocol::list{id_, 0});
    expect_events({"7 listed 1 held 3 waits"});
    expect_no_calls();
}

// A timer that has fired before the connection is lost runs its handler afterwards.
TEST_F(DialectSession, ATimerWithoutAConnectionPollsNothing) {
    enter(1);
    answer("poll", 1, waiting());
    script_.time += 200ms;
    lose_connection();
    EXPECT_FALSE(session_.next_poll());
    session_.poll_due();
    expect_no_calls();
    reopen_with(1);
    answer("poll", 1, held(7));
    answer_time();
    expect_events({"2 queued 1", "notice granted 1 fence 7", "3 alive 1"});
}

// The connection is lost before the session is notified, so the call is not sent and gets no reply.
TEST_F(DialectSession, APollThatCouldNotBeSentIsNotPending) {
    enter(1);
    answer("poll", 1, waiting());
    script_.connected = false;
    script_.time += 200ms;
    session_.poll_due();
    script_.connected = true;
    perform(renew{id_});
    answer("poll", 1, held(7));
    answer_time();
    expect_events({"2 queued 1", "notice granted 1 fence 7", "3 alive 1"});
}

// The same during the confirmation of a grant: the waiter polls again.
TEST_F(DialectSession, AConfirmationThatCouldNotBeSentIsNotPending) {
    enter(1);
    perform(renew{id_});
    script_.connected = false;
    answer("poll", 1, held(7));
    script_.connected = true;
    answer_time();
    perform(renew{id_});
    answer("poll", 1, held(8));
    answer_time();
    expect_events({"3 alive 0", "2 granted 1 fence 8", "4 alive 1"});
}

TEST_F(DialectSession, AnotherSessionEndsTheRequestsOfTheFormerOne) {
    enter(1);
    answer("poll", 1, held(7));
    session_.connection_lost();
    script_.events.clear();
    perform(open{{id_.high, id_.low + 1}, 3s, "test", 1, 1, {}});
    answer_leave(1);
    answer_time();
    expect_events({"3 alive 0"});
}

// The list may come in several messages.
TEST_F(DialectSession, OpenEndsNothing) {
    enter(1);
    answer("poll", 1, held(7));
    session_.connection_lost();
    script_.events.clear();
    perform(open{id_, 3s, "test", 2, 2, {{2, exclusive("a").list(), 0, 0, {}, {}}}});
    answer("renew", 1, held(7));
    answer_time();
    expect_events({"3 alive 1"});
    expect_no_calls();
}

TEST_F(DialectSession, AFailedRenewalProlongsNothing) {
    enter(1);
    answer("poll", 1, held(7));
    script_.events.clear();
    perform(renew{id_});
    answer("renew", 1, {.status = claim_status::failed, .error = make_error_code(errc::store_full)});
    answer_time();
    expect_events({"3 failed " + make_error_code(errc::store_full).message()});
}

TEST_F(DialectSession, RefusesUnsupportedCommands) {
    perform(protocol::enter{{id_, 1}, exclusive("a", "b").list(), {}});
    perform(revoke{"a", 1, "", false});
    perform(renew{session_id{9, 9}});
    const std::string unsupported = " failed " + make_error_code(errc::unsupported).message();
    expect_events({"2" + unsupported, "3" + unsupported, "4 refused unknown session"});
}

TEST_F(DialectSession, CloseIsConfirmedWhenAllRequestsHaveLeft) {
    enter(1);
    answer("poll", 1, held(7));
    script_.events.clear();
    perform(close{id_, closing::left});
    answer_time();
    expect_events({});
    answer_leave(1);
    expect_events({"3 closed"});
}

}  // namespace
}  // namespace baton::dialects
