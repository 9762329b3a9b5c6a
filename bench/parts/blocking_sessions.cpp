// Scenes of sessions with many requests, and of spaces with many names: renew, death, close, inspect.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <thread>

#include "bench/parts/blocking.hpp"

namespace baton::bench {

using namespace protocol;
using std::chrono::steady_clock;

namespace {

/// The bounds on the number of renewals and on their time.
std::vector<double> time_renewals(blocking_scene& scene, std::size_t session) {
    std::vector<double> times;
    const auto end = steady_clock::now() + std::chrono::seconds{15};
    while (times.size() < 1'000 && steady_clock::now() < end) times.push_back(scene.time(renew{id_of(session)}, 'a'));
    return times;
}

const alive* alive_in(const redis::function_reply& answer) {
    for (const event& event : answer.events)
        if (const auto* found = std::get_if<alive>(&event.what)) return found;
    return nullptr;
}

/// A waiter that behaves as the client's (redis_store.cpp, tick_when_due): first in its queue, it sends a tick when a
/// deadline is due, with a random delay of up to 10 ms; at once while work is owed.
class ticking_waiter {
public:
    ticking_waiter(redis_space& space, session_id id) : space_{space}, id_{id} {
        std::string bytes;
        resp::encode_command(bytes, {"SUBSCRIBE", redis::wake_channel(redis_space::name, id)});
        space_.connection().write(bytes);
        (void)space_.connection().pushed();
        const auto first = space_.ask_timed(renew{id}, 'a');
        head_ = redis::decode_reply(first.answer.text, id).value().head;
    }

    /// Sends at most `count` ticks until the waiter is granted; returns the server's time of the grant.
    instant wait(std::size_t count, std::vector<double>& times) {
        for (std::size_t i = 0; i < count; ++i) {
            require(head_.due.has_value(), "something is due");
            const bool owed = *head_.due <= head_.at;
            const auto chance = std::chrono::microseconds{owed ? 0 : dice_() % 10'000};
            std::this_thread::sleep_for(std::clamp(*head_.due - head_.at, duration{0}, longest_sleep) + chance);
            const auto step = space_.ask_timed(tick{});
            times.push_back(step.microseconds);
            head_ = redis::decode_reply(step.answer.text, id_).value().head;
            for (const resp::value& message : space_.connection().pushed())
                if (const auto granted = grant_in(message)) return *granted;
        }
        throw std::runtime_error{"the waiter is not granted after " + with_commas(count) + " ticks"};
    }

private:
    [[nodiscard]] std::optional<instant> grant_in(const resp::value& message) const {
        if (message.items.size() != 3 || message.items[0].text != "message") return {};
        const auto notice = redis::decode_reply(message.items[2].text, id_);
        if (!notice) return {};
        for (const event& event : notice->events)
            if (std::holds_alternative<granted>(event.what)) return notice->head.at;
        return {};
    }

    static constexpr duration longest_sleep = std::chrono::seconds{10};

    redis_space& space_;
    session_id id_;
    redis::reply_head head_;
    std::minstd_rand dice_{1};
};

/// One inspection of a whole space as the client does it, page by page.
class space_inspection {
public:
    [[nodiscard]] redis::function_call next(const redis_space& space) const {
        return redis::space_page_call(redis_space::name, space.current_epoch(), "", cursor_, redis::page_size{64});
    }
    /// True after the last page.
    bool take(const resp::value& page) {
        require(page.items.size() >= 3, "a page");
        cursor_ = page.items[1].text;
        return cursor_ == "0";
    }

private:
    std::string cursor_ = "0";
};

/// Viewers that inspect once per second, and waiters that renew every 5 s, all from one thread: the server runs their
/// calls one at a time anyway.
class audience {
public:
    static constexpr std::size_t viewers = 20;
    static constexpr std::chrono::seconds inspect_every{1};
    static constexpr std::chrono::seconds renew_every{5};

    audience(blocking_scene& scene, std::vector<request_id> waiting)
        : scene_{scene}, space_{scene.space()}, waiting_{std::move(waiting)} {}

    void run(std::chrono::seconds length) {
        const auto start = steady_clock::now();
        const auto end = start + length;
        std::vector<viewer> all(viewers, viewer{start});
        for (std::size_t turn = 0; steady_clock::now() < end; ++turn) {
            renew_due(start);
            viewer& one = all[turn % viewers];
            if (one.next_inspection <= steady_clock::now())
                inspect(one, turn % viewers);
            else
                std::this_thread::sleep_for(std::chrono::microseconds{100});
        }
        const std::chrono::duration<double, std::micro> elapsed = steady_clock::now() - start;
        const double time = std::accumulate(inspections_us_.begin(), inspections_us_.end(), 0.0);
        scene_.show("inspection of one wait, while " + with_commas(waiting_.size()) + " wait", inspections_us_);
        std::printf(
            "  %zu viewers that inspect once per second: %zu inspections in %.0f s, %.2f %% of the server's time;\n",
            viewers, inspections_us_.size(), elapsed.count() / 1e6, 100 * time / elapsed.count());
        std::printf("  renewals of %zu waiters: %zu, %.1f %% of the server's time, at most %.0f ms late\n",
                    waiting_.size(), renewals_, 100 * renew_time_ / elapsed.count(), latest_ / 1'000);
    }

private:
    struct viewer {
        steady_clock::time_point next_inspection;
    };

    /// The inspection of the status line of the waiter `index`.
    void inspect(viewer& one, std::size_t index) {
        const request_id& request = waiting_[index];
        const std::array<std::uint64_t, 1> numbers{request.number};
        const timed_answer page = space_.ask_timed(redis::wait_page_call(
            redis_space::name, space_.current_epoch(), request.session, numbers, redis::page_size{16}));
        require(page.answer.items.size() == 4, "a page with one name");
        inspections_us_.push_back(page.microseconds);
        one.next_inspection += inspect_every;
    }
    void renew_due(steady_clock::time_point start) {
        const std::chrono::duration<double, std::micro> every{std::chrono::duration<double, std::micro>{renew_every} /
                                                              static_cast<double>(waiting_.size())};
        for (;;) {
            const std::chrono::duration<double, std::micro> late =
                steady_clock::now() - start - every * static_cast<double>(renewals_);
            if (late.count() < 0) return;
            latest_ = std::max(latest_, late.count());
            renew_time_ += space_.ask_timed(renew{waiting_[renewals_ % waiting_.size()].session}, 'a').microseconds;
            ++renewals_;
        }
    }

    blocking_scene& scene_;
    redis_space& space_;
    std::vector<request_id> waiting_;
    std::vector<double> inspections_us_;
    std::size_t renewals_ = 0;
    double renew_time_ = 0;
    double latest_ = 0;  // us
};

}  // namespace

void renew_scene(const blocking_options& options) {
    blocking_scene scene{options};
    std::size_t session = 0;
    std::size_t names = 0;
    for (const std::size_t full : {10U, 1'000U, 10'000U, 30'000U}) {
        const std::size_t requests = scene.scaled(full);
        scene.fill_session(++session, requests, names);
        names += requests;
        scene.show("renew, session of " + with_commas(requests) + " requests", time_renewals(scene, session));
    }
}

void death_scene(const blocking_options& options) {
    constexpr std::chrono::seconds ttl{5};
    constexpr std::size_t dying = 1;
    constexpr std::size_t waiting = 2;
    blocking_scene scene{options};
    redis_space& space = scene.space();
    const std::size_t requests = scene.scaled(20'000);
    scene.open(dying, ttl);
    scene.open(waiting);
    space.run('a');
    for (std::size_t i = 0; i < requests; ++i) {
        scene.enter(dying, exclusive(name_of(i)));
        if (i % 1'000 == 999) space.run('g');
    }
    space.run('g');
    scene.enter(waiting, exclusive(name_of(requests / 2)));
    space.run('q');
    const auto renewed = redis::decode_reply(space.ask_timed(renew{id_of(dying)}, 'a').answer.text, id_of(dying));
    require(renewed && alive_in(*renewed) != nullptr, "the session is alive");
    const instant last_renewal = alive_in(*renewed)->deadline - ttl;

    std::vector<double> times;
    const instant granted_at = ticking_waiter{space, id_of(waiting)}.wait(10'000, times);
    const std::vector<double> rest = scene.settle();
    times.insert(times.end(), rest.begin(), rest.end());
    scene.show("death of a session of " + with_commas(requests) + " requests: a tick", times);
    scene.report().figure("grant of a waiter after the ttl of the dead holder",
                          std::chrono::duration<double, std::milli>{granted_at - last_renewal - ttl}.count());
}

void close_scene(const blocking_options& options) {
    blocking_scene scene{options};
    const std::size_t requests = scene.scaled(30'000);
    std::vector<double> calls;
    std::vector<double> ticks;
    for (std::size_t session = 0; session < 5; ++session) {
        scene.fill_session(session, requests);
        calls.push_back(scene.time(close{id_of(session), closing::left}));
        const std::vector<double> rest = scene.settle();
        ticks.insert(ticks.end(), rest.begin(), rest.end());
    }
    scene.show("close of a session of " + with_commas(requests) + " requests", calls);
    scene.show("  the ticks that finish it", ticks);
}

void inspect_scene(const blocking_options& options) {
    constexpr std::size_t held_by_each = 100;
    blocking_scene scene{options};
    redis_space& space = scene.space();
    const std::size_t holders = scene.scaled(100'000) / held_by_each + 1;
    for (std::size_t i = 0; i < holders; ++i) scene.fill_session(i, held_by_each, i * held_by_each);
    const std::size_t waiters = scene.scaled(2'000);
    std::vector<request_id> waiting;
    for (std::size_t i = 0; i < waiters; ++i) {
        scene.open(holders + i);
        waiting.push_back(scene.enter(holders + i, exclusive(name_of(i % 20))));
    }
    space.run();
    std::vector<double> pages;
    for (space_inspection all; pages.size() < 100'000;) {
        const timed_answer page = space.ask_timed(all.next(space));
        pages.push_back(page.microseconds);
        if (all.take(page.answer)) break;
    }
    double total = 0;
    for (const double page : pages) total += page;
    scene.show("inspect, " + with_commas(holders * held_by_each) + " names: a page", pages);
    std::printf("  one inspection of the whole space: %.1f ms of the server's time\n", total / 1'000);
    audience{scene, std::move(waiting)}.run(std::chrono::seconds{10});
}

}  // namespace baton::bench
