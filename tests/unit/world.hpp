// The fixture of the engine's tests: a clock that the test moves, sessions with names, and an engine whose invariants
// are checked after every step. Each command returns the engine's events as text, in order:
//
//     EXPECT_EQ(enter("A", {exclusive("x")}), "granted A");
//     EXPECT_EQ(enter("B", {shared("x")}), "queued B");
//     EXPECT_EQ(leave("A"), "ended A: left; granted B");
//
// The text of `alive` lists the session's requests, unless the engine has a budget: "alive A: A holds, A.2 waits".
//
// "A" is the first request of session A, "A.2" its second. A session is opened by its first `enter`, with a ttl of 10 s
// and its name as its label. The fixture remembers events as clients do, so that a session can present its requests
// again: `open("A", {live("A")})`.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/check.hpp"
#include "engine/engine.hpp"
#include "engine/inspect.hpp"

namespace baton::core::test {

using namespace std::chrono_literals;

/// The time of the clock when a test begins.
inline constexpr instant start{std::chrono::seconds{1'700'000'000}};

inline const enter_options nowait{true, {}, {}};
inline enter_options hold_limit(duration limit) { return {false, limit, {}}; }
inline enter_options queue_bound(std::size_t bound) { return {false, {}, bound}; }

class world : public testing::Test {
protected:
    explicit world(engine_options options = {});

    // Begin with a new engine and new sessions. The clock goes on.
    void begin_with(engine_options options);
    void begin_with_budget(std::uint32_t budget) { begin_with({15s, budget}); }
    void begin_again() { begin_with(options_); }

    // Replaces the engine by an empty one; the clients keep their records.
    void lose_memory();

    // Time. `now` may be set freely; `advance` also applies a tick.
    instant now = start;
    std::string advance(duration by);

    // Commands.
    std::string open(const std::string& session, std::vector<live_request> live = {},
                     std::chrono::milliseconds ttl = 10s);
    std::string enter(const std::string& request, std::vector<claim> claims, enter_options options = {});
    std::string leave(const std::string& request, release_kind release_kind = release_kind::clean);
    std::string renew(const std::string& session);
    std::string list(const std::string& session, std::uint64_t after = 0);
    std::string close(const std::string& session, closing how = closing::left);
    std::string tick();
    std::string revoke(const std::string& resource, const std::string& request, const std::string& note = "",
                       bool at_once = false);
    std::string mend(const std::string& resource);
    std::string resize(const std::string& resource, std::optional<std::uint32_t> limit);
    std::string pause(duration length);
    std::string apply(const command& command);

    // The command of `open`, with the next connection number and the highest number used.
    core::open open_command(const std::string& session, std::vector<live_request> live = {});

    // The records of the clients.
    session_id session(const std::string& name);
    request_id id(const std::string& request);
    serial ticket(const std::string& request) const { return known_.at(request).ticket; }
    serial fence(const std::string& request) const { return known_.at(request).fence; }
    live_request live(const std::string& request) const { return known_.at(request); }
    live_request as_waiter(const std::string& request) const;

    // All pages of `list` for a session. Without a budget, `list` changes nothing.
    std::vector<request_state> requests(const std::string& session) { return requests_of(this->session(session)); }

    // The events of the last step; `the<granted>()` is the only event of that type.
    const std::vector<event>& events() const { return events_; }
    template <typename What> What the() const;

    // The state of the engine.
    snapshot take_snapshot(const inspect_filter& filter = {}) const { return inspect(*engine_, filter, now); }
    std::string holders(const std::string& resource) const;  // "A B", by ticket
    std::string queue(const std::string& resource) const;    // "A(reserved) B", by ticket
    std::optional<resource_view> resource(const std::string& name) const;
    request_view view(const std::string& request) const;
    std::string state() const;  // everything visible, to compare before and after
    std::optional<instant> next_due() const { return engine_->next_due(now); }
    bool idle() const { return engine_->idle(); }
    core::engine& engine() { return *engine_; }
    std::string name_of(serial ticket) const;

private:
    std::string name_of(const session_id& session) const { return names_.at(session); }
    std::string name_of(const request_id& request) const;
    std::string words(const event& event) const;
    std::vector<request_state> requests_of(const session_id& session) const;
    std::vector<request_state> requests_then(const alive& reported) const;
    void remember(const event& event);

    engine_options options_;
    std::unique_ptr<core::engine> engine_;
    std::vector<event> events_;
    std::map<session_id, std::string> names_;
    std::map<std::string, std::uint64_t> links_;    // connection numbers, by session that was opened
    std::map<std::string, std::uint64_t> highest_;  // by session
    std::map<std::string, live_request> known_;     // by request
};

template <typename What> What world::the() const {
    const What* found = nullptr;
    for (const event& event : events_) {
        const What* what = std::get_if<What>(&event.what);
        if (what == nullptr) continue;
        EXPECT_EQ(found, nullptr) << "more than one event of this type";
        found = what;
    }
    EXPECT_NE(found, nullptr) << "no event of this type";
    return found != nullptr ? *found : What{};
}

}  // namespace baton::core::test
