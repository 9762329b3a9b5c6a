// Scenes of large requests, long queues, many permits, and of a counter that is ahead of the clock.
#include <algorithm>
#include <thread>

#include "bench/parts/blocking.hpp"
#include "bench/scene.hpp"

namespace baton::bench {

using namespace protocol;

namespace {

using requests = std::vector<request_id>;

/// Enters and leaves that many times, by one session.
void report_cycles(blocking_scene& scene, const std::string& what, const claims& wanted, std::size_t count) {
    std::vector<double> enters;
    std::vector<double> leaves;
    requests entered;
    for (std::size_t i = 0; i < count; ++i) {
        enters.push_back(scene.time_enter(0, wanted, entered, 'g'));
        leaves.push_back(scene.time(leave{entered.back(), release_kind::clean}, 'e'));
    }
    scene.show("enter, " + what, enters, wanted.list().size());
    scene.show("leave, " + what, leaves, wanted.list().size());
}

/// A queue on one name with one session per request. The first of `queue` holds the name.
requests make_queue(blocking_scene& scene, const claims& wanted, std::size_t length) {
    requests queue;
    for (std::size_t i = 0; i <= length; ++i) {
        scene.open(i);
        queue.push_back(scene.enter(i, wanted));
    }
    scene.space().run();
    return queue;
}

/// Each holder queues again after its release, so that the length stays the same.
void report_queue(blocking_scene& scene, const std::string& what, const claims& wanted, requests queue) {
    constexpr std::size_t count = 1'000;
    const std::size_t sessions = queue.size();
    std::vector<double> enters;
    std::vector<double> leaves;
    for (std::size_t i = 0; i < count; ++i) {
        leaves.push_back(scene.time(leave{queue[i], release_kind::clean}, 'e'));
        enters.push_back(scene.time_enter(i % sessions, wanted, queue, 'q'));
    }
    scene.show("enter, " + what, enters, 1);
    scene.show("leave with a hand-off, " + what, leaves, 1);
    std::vector<double> withdrawals;
    const std::size_t first = count + sessions / 2;
    for (std::size_t i = 0; i < count && first + i < queue.size(); ++i)
        withdrawals.push_back(scene.time(leave{queue[first + i], release_kind::clean}, 'e'));
    scene.show("withdraw from the middle, " + what, withdrawals, 1);
}

}  // namespace

void noise_scene(const blocking_options& options) {
    blocking_scene scene{options};
    redis_space& space = scene.space();
    const std::string digest = space.connection().call({"SCRIPT", "LOAD", std::string{cad}}).text;
    std::string call;
    resp::encode_command(call, {"EVALSHA", digest, "1", "key", "value"});
    std::vector<double> times;
    for (int i = 0; i < 10'000; ++i) times.push_back(space.ask_timed(call).microseconds);
    scene.show("cad of a key that is not there: what the machine adds", times);
}

void wide_scene(const blocking_options& options) {
    blocking_scene scene{options};
    scene.open(0);
    scene.space().run('a');
    const std::size_t count = std::min(scene.scaled(1'000), bounds::claims);
    std::vector<claim> plain;
    std::vector<claim> mixed;
    for (std::size_t i = 0; i < count; ++i) {
        plain.push_back({name_of(i), claim_mode::exclusive, 0, 0});
        const claim_mode mode = static_cast<claim_mode>(i % 3);
        const bool counts = mode == claim_mode::permits;
        mixed.push_back({name_of(i), mode, counts ? 1U : 0U, counts ? 8U : 0U});
    }
    report_cycles(scene, with_commas(count) + " exclusive claims", claims{plain}, 500);
    report_cycles(scene, with_commas(count) + " claims of all modes", claims{mixed}, 200);
}

void queue_scene(const blocking_options& options) {
    blocking_scene scene{options};
    const std::size_t length = scene.scaled(10'000);
    const claims plain = exclusive("queue");
    report_queue(scene, "queue of " + with_commas(length), plain, make_queue(scene, plain, length));
}

void readers_scene(const blocking_options& options) {
    blocking_scene scene{options};
    const std::size_t length = scene.scaled(10'000);
    for (std::size_t i = 0; i <= length; ++i) scene.open(i);
    scene.space().run('a');
    std::vector<double> calls;
    std::vector<double> ticks;
    for (int turn = 0; turn < 5; ++turn) {
        const request_id writer = scene.enter(length, exclusive("readers"));
        scene.space().run('g');
        requests readers;
        for (std::size_t i = 0; i < length; ++i) readers.push_back(scene.enter(i, shared("readers")));
        scene.space().run('q');
        calls.push_back(scene.time(leave{writer, release_kind::clean}, 'e'));
        const std::vector<double> rest = scene.settle();
        ticks.insert(ticks.end(), rest.begin(), rest.end());
        for (const request_id& reader : readers) scene.space().add(leave{reader, release_kind::clean});
        scene.space().run('e');
    }
    scene.show("leave that lets " + with_commas(length) + " readers in", calls, 1);
    scene.show("  the ticks that finish it", ticks);
}

void permits_scene(const blocking_options& options) {
    blocking_scene scene{options};
    redis_space& space = scene.space();
    const std::size_t holders = scene.scaled(10'000);
    const auto limit = static_cast<std::uint32_t>(2 * holders + 200);
    requests held;
    for (std::size_t i = 0; i < holders; ++i) {
        scene.open(i);
        held.push_back(scene.enter(i, permits("pool", {1, limit})));
    }
    space.run();
    for (std::size_t i = 0; i < holders; i += 2) space.add(leave{held[i], release_kind::clean});
    space.run('e');
    const std::string where = ", every second of " + with_commas(holders) + " taken";
    report_cycles(scene, "1 permit" + where, permits("pool", {1, limit}), 1'000);
    report_cycles(scene, "100 permits" + where, permits("pool", {100, limit}), 200);
}

/// Presents a ticket of the next day in a pause, so that the counter grows to it (rules 8 and 11).
void counter_scene(const blocking_options& options) {
    constexpr std::size_t presenter = 1;
    blocking_scene scene{options};
    redis_space& space = scene.space();
    const auto now = [&] { return redis::decode_reply(space.ask_timed(tick{}).answer.text, {}).value().head.at; };
    const instant start = now();
    const serial tomorrow =
        static_cast<serial>((start + std::chrono::hours{24}).time_since_epoch() / std::chrono::microseconds{1});
    space.add(pause{start + std::chrono::milliseconds{500}});
    const live_request waits{1, exclusive("of tomorrow").list(), tomorrow, 0, {}, {}};
    space.add(open{id_of(presenter), std::chrono::hours{1}, "from the future", 1, 1, {waits}});
    space.run();
    std::this_thread::sleep_for(std::chrono::milliseconds{600});
    (void)scene.settle();
    scene.open(0);
    const request_id probe = scene.enter(0, exclusive("probe"));
    space.run();
    const auto again =
        redis::decode_reply(space.ask_timed(enter{probe, exclusive("probe").list(), {}}).answer.text, id_of(0));
    require(again && !again->events.empty(), "the request is known");
    const auto* grant = std::get_if<granted>(&again->events.front().what);
    require(grant != nullptr && grant->ticket > tomorrow, "the counter is ahead of the clock");

    const std::string what = "counter ahead of the clock";
    report_cycles(scene, "one exclusive, " + what, exclusive("plain"), 1'000);
    report_cycles(scene, "one shared, " + what, shared("shared"), 1'000);
    std::vector<double> renewals;
    for (int i = 0; i < 1'000; ++i) renewals.push_back(scene.time(renew{id_of(0)}, 'a'));
    scene.show("renew, " + what, renewals);
    const claims queued = exclusive("queue");
    requests queue;
    for (std::size_t i = 0; i <= 1'000; ++i) {
        scene.open(10 + i);
        queue.push_back(scene.enter(10 + i, queued));
    }
    space.run();
    std::vector<double> leaves;
    for (std::size_t i = 0; i < 1'000; ++i) leaves.push_back(scene.time(leave{queue[i], release_kind::clean}, 'e'));
    scene.show("leave with a hand-off, " + what, leaves, 1);
}

}  // namespace baton::bench
