// A small world to tell stories in: a clock that the test moves, sessions with names, and an engine whose every step is
// held against the invariants. Each command answers with what the engine told, in words and in order:
//
//     EXPECT_EQ(enter("A", {exclusive("x")}), "granted A");
//     EXPECT_EQ(enter("B", {shared("x")}), "queued B");
//     EXPECT_EQ(leave("A"), "ended A: left; granted B");
//
// After `alive` the world lists the session's requests, unless the engine has a budget, and says what they do:
// "alive A: A holds, A.2 waits".
//
// "A" is the first request of session A, "A.2" its second. A session opens by itself when it first enters, with a ttl
// of 10 s and its name as its label. The world remembers what it was told, as clients do, so that a session can
// present its requests again: `open("A", {live("A")})`.
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

/// Where the clock stands when a story begins.
inline constexpr instant start{std::chrono::seconds{1'700'000'000}};

inline const enter_options nowait{true, {}, {}};
inline enter_options hold_limit(duration limit) { return {false, limit, {}}; }
inline enter_options queue_bound(std::size_t bound) { return {false, {}, bound}; }

class world : public testing::Test {
protected:
    explicit world(engine_options options = {});

    // Another story. The clock goes on.
    void begin_with(engine_options options);
    void begin_with_budget(std::uint32_t budget) { begin_with({15s, budget}); }
    void begin_again() { begin_with(options_); }

    // The engine forgets everything; its clients remember.
    void lose_memory();

    // Time. `now` may be set freely; `advance` also lets the engine look at what is due.
    instant now = start;
    std::string advance(duration by);

    // Commands.
    std::string open(const std::string& session, std::vector<live_request> live = {},
                     std::chrono::milliseconds ttl = 10s);
    std::string enter(const std::string& request, std::vector<claim> claims, enter_options options = {});
    std::string leave(const std::string& request, manner manner = manner::clean);
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

    // What `open` would send: the next link, the highest number used.
    core::open open_command(const std::string& session, std::vector<live_request> live = {});

    // What clients know.
    session_id session(const std::string& name);
    request_id id(const std::string& request);
    serial ticket(const std::string& request) const { return known_.at(request).ticket; }
    serial fence(const std::string& request) const { return known_.at(request).fence; }
    live_request live(const std::string& request) const { return known_.at(request); }
    live_request as_waiter(const std::string& request) const;

    // What `list` shows of a session now, all pages. Without a budget, asking changes nothing.
    std::vector<request_state> requests(const std::string& session) { return requests_of(this->session(session)); }

    // The last step's events; `the<granted>()` is its only one of that kind.
    const std::vector<event>& events() const { return events_; }
    template <typename What> What the() const;

    // Looking.
    snapshot look(const inspect_filter& filter = {}) const { return inspect(*engine_, filter, now); }
    std::string holders(const std::string& resource) const;  // "A B", by ticket
    std::string queue(const std::string& resource) const;    // "A(reserved) B", by ticket
    std::optional<resource_view> resource(const std::string& name) const;
    request_view view(const std::string& request) const;
    std::string state() const;  // all that can be seen of the engine, for "nothing has changed"
    std::optional<instant> next_due() const { return engine_->next_due(now); }
    bool idle() const { return engine_->idle(); }
    core::engine& engine() { return *engine_; }
    std::string name_of(serial ticket) const;

private:
    std::string name_of(const session_id& session) const { return names_.at(session); }
    std::string name_of(const request_id& request) const;
    std::string words(const event& event) const;
    std::vector<request_state> requests_of(const session_id& session) const;
    std::vector<request_state> requests_then(const alive& told) const;
    void remember(const event& event);

    engine_options options_;
    std::unique_ptr<core::engine> engine_;
    std::vector<event> events_;
    std::map<session_id, std::string> names_;
    std::map<std::string, std::uint64_t> links_;    // by session; those that have opened
    std::map<std::string, std::uint64_t> highest_;  // by session
    std::map<std::string, live_request> known_;     // by request, as its client knows it
};

template <typename What> What world::the() const {
    const What* found = nullptr;
    for (const event& event : events_) {
        const What* what = std::get_if<What>(&event.what);
        if (what == nullptr) continue;
        EXPECT_EQ(found, nullptr) << "more than one";
        found = what;
    }
    EXPECT_NE(found, nullptr) << "none";
    return found != nullptr ? *found : What{};
}

}  // namespace baton::core::test
