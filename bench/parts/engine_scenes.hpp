// The scenes of the engine's benchmarks: engines in a known state, and the commands that are timed. A scene prepares
// its commands beforehand, so that the time is the engine's own: reading the command, changing the state, returning and
// freeing the events. The engine's clock moves one microsecond per command, and sessions expire only where that is
// timed.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/scene.hpp"
#include "engine/engine.hpp"

namespace baton::bench {

inline constexpr std::chrono::milliseconds long_ttl = std::chrono::hours{24};

class bare_engine {
public:
    std::vector<core::event> apply(const core::command& command) {
        now_ += core::duration{1};
        return core_.apply(command, now_);
    }

    std::vector<core::event> apply_after(const core::command& command, core::duration pause) {
        now_ += pause;
        return core_.apply(command, now_);
    }

    core::session_id open_session(std::chrono::milliseconds ttl = long_ttl) {
        const core::session_id id{random_(), random_()};
        (void)apply(core::open{id, ttl, "host.example/job:123", 1, 0, {}});  // a label of 20 bytes
        return id;
    }

    std::mt19937_64& random() { return random_; }

private:
    std::mt19937_64 random_{1};  // the same scene every time
    core::instant now_{std::chrono::seconds{1'700'000'000}};
    core::engine core_{{.max_ttl = long_ttl, .budget = {}}};
};

/// One session that enters and leaves a request of `claims` uncontended exclusive claims, while other names are held.
class uncontended {
public:
    explicit uncontended(std::size_t claims, std::size_t names_beside = 0) {
        const core::session_id other = engine_.open_session();
        for (std::size_t i = 0; i < names_beside; ++i)
            (void)engine_.apply(core::enter{{other, i + 1}, {core::exclusive(name_of(1'000'000 + i))}, {}});
        const core::session_id session = engine_.open_session();
        std::vector<claim> wanted;
        for (std::size_t i = 0; i < claims; ++i) wanted.push_back(core::exclusive(name_of(i)));
        enter_ = core::enter{{session, 0}, std::move(wanted), {}};
        leave_ = core::leave{{session, 0}};
        const auto [entered, left] = play();
        require(std::holds_alternative<core::granted>(entered.at(0).what), "an uncontended enter is granted");
        require(std::get<core::ended>(left.at(0).what).reason == core::end_reason::left, "a leave leaves");
    }

    std::pair<std::vector<core::event>, std::vector<core::event>> play() {
        ++std::get<core::enter>(enter_).request.number;
        ++std::get<core::leave>(leave_).request.number;
        auto entered = engine_.apply(enter_);
        return {std::move(entered), engine_.apply(leave_)};
    }

private:
    bare_engine engine_;
    core::command enter_;
    core::command leave_;
};

enum class sessions { one, each };

/// A queue of `waiters` behind one holder, all for one name. A hand-off is the holder's leave, which grants the next
/// request; the former holder then enters again, so that the queue keeps its length.
class queue {
public:
    queue(std::size_t waiters, sessions sessions) {
        std::vector<core::session_id> ids;
        for (std::size_t i = 0; i < (sessions == sessions::one ? 1 : waiters + 1); ++i)
            ids.push_back(engine_.open_session());
        std::ranges::shuffle(ids, engine_.random());  // the order of the queue differs from the order of creation

        enter_ = core::enter{{}, {core::exclusive(name_of(0))}, {}};
        leave_ = core::leave{};
        for (std::size_t i = 0; i < waiters + 1; ++i) {
            queue_.push_back({ids[i % ids.size()], sessions == sessions::one ? i + 1 : 1});
            std::get<core::enter>(enter_).request = queue_.back();
            (void)engine_.apply(enter_);
        }
        step_ = sessions == sessions::one ? waiters + 1 : 1;

        const auto events = leave();
        const auto* granted = std::get_if<core::granted>(&events.at(1).what);
        require(granted != nullptr && granted->request == queue_[1 % queue_.size()], "a leave grants the next");
        const auto queued = enter();
        require(std::holds_alternative<core::queued>(queued.at(0).what), "the leaver waits again");
    }

    void hand_off() {
        (void)leave();
        (void)enter();
    }

    std::vector<core::event> leave() {
        std::get<core::leave>(leave_).request = queue_[holder_];
        return engine_.apply(leave_);
    }

    std::vector<core::event> enter() {
        queue_[holder_].number += step_;
        std::get<core::enter>(enter_).request = queue_[holder_];
        if (++holder_ == queue_.size()) holder_ = 0;
        return engine_.apply(enter_);
    }

private:
    bare_engine engine_;
    std::vector<core::request_id> queue_;  // the queue as a ring, from the holder on
    std::size_t holder_ = 0;
    std::uint64_t step_ = 0;  // from a session's request number to its next
    core::command enter_;
    core::command leave_;
};

/// Sessions that renew in random order.
class renewals {
public:
    explicit renewals(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) sessions_.push_back(engine_.open_session());
        std::ranges::shuffle(sessions_, engine_.random());
        renew_ = core::renew{};
        require(std::holds_alternative<core::alive>(play().at(0).what), "a session that renews is alive");
    }

    std::vector<core::event> play() {
        std::get<core::renew>(renew_).session = sessions_[next_];
        if (++next_ == sessions_.size()) next_ = 0;
        return engine_.apply(renew_);
    }

private:
    bare_engine engine_;
    std::vector<core::session_id> sessions_;
    std::size_t next_ = 0;
    core::command renew_;
};

enum class having { waiting, holding };

/// Sessions that all expire in one step, each with a request: waiting in one queue, or holding a name of its own.
class expiry {
public:
    expiry(std::size_t count, having having) : count_{count} {
        if (having == having::waiting)
            (void)engine_.apply(core::enter{{engine_.open_session(), 1}, {core::exclusive(name_of(0))}, {}});
        for (std::size_t i = 0; i < count; ++i) {
            const core::session_id session = engine_.open_session(ttl);
            const std::string name = name_of(having == having::waiting ? 0 : i);
            (void)engine_.apply(core::enter{{session, 1}, {core::exclusive(name)}, {}});
        }
    }

    std::vector<core::event> play() { return engine_.apply_after(core::tick{}, ttl); }

    void check(const std::vector<core::event>& events) const {
        require(events.size() == 2 * count_, "each session and its request ends in the one step");
    }

private:
    static constexpr std::chrono::milliseconds ttl = std::chrono::minutes{1};

    bare_engine engine_;
    std::size_t count_;
};

/// The allocated heap memory with the allocator's overhead per block, without freed blocks.
inline std::size_t heap_bytes() {
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

/// The engine's memory for each of `waiters` in a queue, with their sessions if each has its own.
inline double bytes_per_waiter(std::size_t waiters, sessions sessions) {
    bare_engine engine;
    const core::session_id holder = engine.open_session();
    (void)engine.apply(core::enter{{holder, 1}, {core::exclusive(name_of(0))}, {}});
    const std::size_t before = heap_bytes();
    for (std::size_t i = 0; i < waiters; ++i) {
        const core::request_id id =
            sessions == sessions::one ? core::request_id{holder, i + 2} : core::request_id{engine.open_session(), 1};
        const auto events = engine.apply(core::enter{id, {core::exclusive(name_of(0))}, {}});
        require(std::holds_alternative<core::queued>(events.at(0).what), "a request behind the holder waits");
    }
    return static_cast<double>(heap_bytes() - before) / static_cast<double>(waiters);
}

}  // namespace baton::bench
