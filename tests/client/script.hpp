// Drives a session machine by hand: the test is clock, connection and engine at once. It makes the inputs and checks
// the actions.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include "client/session.hpp"

namespace baton::detail {

using namespace std::chrono_literals;

class Script : public testing::Test {
protected:
    static constexpr auto ttl = std::chrono::milliseconds{9'000};
    static constexpr auto margin = std::chrono::milliseconds{270};  // 3 %
    static constexpr epoch first_epoch = 7;
    static constexpr auto timeout = std::chrono::minutes{5};  // for waits that must not time out

    Script() : Script{{.ttl = ttl, .label = "tester", .names_own_blockers = true}} {}
    explicit Script(session_options options)
        : session{std::move(options), [this] {
                      return protocol::session_id{++ids, 0};
                  }} {}

    client_time now{1'000s};
    protocol::instant engine_now{1'800'000'000s};  // the engine's clock differs from the client's
    std::uint64_t ids = 0;                         // the session's id is the last one drawn
    detail::session session;
    epoch epoch_now = first_epoch;
    std::vector<action> actions;                              // actions that the test has not taken yet
    mutable std::vector<protocol::request_state> engine_has;  // from the last `alive`
    bool answers_lists = true;                                // answer a `list` from `engine_has` at once

    protocol::session_id id() const { return {ids, 0}; }

    void advance(client_duration time) {
        now += time;
        engine_now += time;
    }
    void collect() {
        for (action& action : session.take_actions()) actions.push_back(std::move(action));
    }

    /// Removes the first action of this kind from the list and returns it.
    template <typename Action> std::optional<Action> take() {
        collect();
        for (auto next = actions.begin(); next != actions.end(); ++next) {
            if (auto* found = std::get_if<Action>(&*next)) {
                Action taken = std::move(*found);
                actions.erase(next);
                return taken;
            }
        }
        return {};
    }

    /// Removes the first sent command of this kind and returns it with its tag.
    template <typename Command> std::optional<std::pair<tag, Command>> sent() {
        collect();
        for (auto next = actions.begin(); next != actions.end(); ++next) {
            const auto* found = std::get_if<send>(&*next);
            if (found == nullptr) continue;
            const auto* command = std::get_if<Command>(&found->command);
            if (command == nullptr) continue;
            std::pair taken{found->tag, *command};
            actions.erase(next);
            return taken;
        }
        return {};
    }

    void forget() {
        collect();
        actions.clear();
    }

    template <typename What> void reply(tag tag, What what) {
        session.reply(now, tag, epoch_now, std::array{protocol::event{engine_now, std::move(what)}});
        if constexpr (std::is_same_v<What, protocol::alive>)
            while (answers_lists && answer_page()) {
            }
    }
    /// Replies to the `list` that was sent. False if none was.
    bool answer_page(std::size_t size = protocol::bounds::page) {
        const auto asked = sent<protocol::list>();
        if (!asked) return false;
        protocol::listed page{id(), asked->second.after, {}, false};
        for (const protocol::request_state& state : engine_has) {
            if (state.number <= page.after) continue;
            page.more = page.requests.size() == size;
            if (page.more) break;
            page.requests.push_back(state);
        }
        reply(asked->first, page);
        return true;
    }
    template <typename What> void notice(What what) {
        session.notice(now, epoch_now, protocol::event{engine_now, std::move(what)});
    }

    protocol::alive alive(std::vector<protocol::request_state> requests = {}) const {
        engine_has = std::move(requests);
        protocol::alive told{id(), engine_now + ttl, engine_has.size(), 0};
        for (const protocol::request_state& state : engine_has) told.digest += protocol::request_digest(state);
        return told;
    }
    protocol::granted granted(std::uint64_t number, protocol::serial fence = 200) const {
        return {{id(), number}, 100, fence, {}, {}, {}};
    }

    /// Connects; replies to `open`.
    void connect() {
        session.connection_up(now, epoch_now);
        const auto open = sent<protocol::open>();
        ASSERT_TRUE(open);
        reply(open->first, alive());
        forget();
    }

    /// The connection breaks, and a second later the client connects to another epoch. Returns the `open` that it
    /// sends.
    std::optional<std::pair<tag, protocol::open>> meet_another_epoch() {
        session.connection_down(now);
        advance(1s);
        epoch_now = first_epoch + 1;
        session.connection_up(now, epoch_now);
        return sent<protocol::open>();
    }

    /// Replies to the renewal that is due now.
    void renew(std::vector<protocol::request_state> requests = {}) {
        session.wake(now);
        const auto renewal = sent<protocol::renew>();
        ASSERT_TRUE(renewal);
        reply(renewal->first, alive(std::move(requests)));
    }

    acquire_order order(std::string name = "x") const {
        return {{{std::move(name), claim_mode::exclusive, 0, 0}}, false, {}, {}, {}};
    }

    /// An acquire that is granted at once.
    handle hold(acquire_order wanted, std::optional<protocol::instant> hold_deadline = {}) {
        const handle handle = session.acquire(now, std::move(wanted));
        const auto enter = sent<protocol::enter>();
        EXPECT_TRUE(enter);
        auto grant = granted(enter->second.request.number);
        grant.hold_deadline = hold_deadline;
        reply(enter->first, grant);
        EXPECT_TRUE(take<acquired>());
        return handle;
    }
    handle hold() { return hold(order()); }
};

}  // namespace baton::detail
