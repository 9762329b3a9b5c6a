// Measures the memory that sessions, locks, waiters and connections take in a real server: the growth of used_memory
// (INFO memory), divided by their number.
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/parts/parts.hpp"
#include "bench/parts/redis_space.hpp"
#include "bench/scene.hpp"

namespace baton::bench {
namespace {

using namespace protocol;

constexpr double default_count = 10'000;
constexpr std::size_t batch = 200;        // small, so that the server's buffers do not grow
constexpr std::size_t connections = 500;  // below the usual limit of open files

class memory_scene {
public:
    memory_scene(report& report, const part_options& options)
        : report_{report},
          space_{options.server},
          url_{space_.connection_url()},
          count_{static_cast<std::size_t>(default_count * options.size)} {}

    void play() {
        std::printf("\nredis-memory: bytes of the server for each of %zu; names of 20 bytes, labels of 19\n", count_);
        measure("a session", [&](std::size_t i) { open(i); });
        measure("a name held exclusively, each by its own session",
                [&](std::size_t i) { enter(i, exclusive(name_of(i))); });
        measure("a waiter for one name", [&](std::size_t i) { enter(i, exclusive(name_of(0))); });
        leave_all(release_kind::clean);
        measure("a name held by one shared holder", [&](std::size_t i) { enter(i, shared(name_of(i))); });
        leave_all(release_kind::clean);
        measure("a permit of one semaphore", [&](std::size_t i) { enter(i, permits(name_of(0), {1, 65'536})); });
        leave_all(release_kind::clean);
        const std::size_t all = count_;
        open(all);
        measure("a name held exclusively, all by one session",
                [&](std::size_t i) { enter(all, exclusive(name_of(i))); });
        leave_all(release_kind::clean);
        measure("an abandoned mark", [&](std::size_t i) {
            enter(i, exclusive(name_of(i)));
            leave_oldest(release_kind::unclean);
        });
        measure("the id of a session that ended", [&](std::size_t i) {
            open(all + 1 + i);
            space_.add(protocol::close{id_of(all + 1 + i), closing::left});
        });
        measure_connections();
    }

private:
    void measure(std::string_view what, const std::function<void(std::size_t)>& add) {
        const double before = settled_memory();
        for (std::size_t i = 0; i < count_; ++i) {
            add(i);
            if (i % batch == batch - 1) space_.run();
        }
        space_.run();
        report_.figure(what, (settled_memory() - before) / static_cast<double>(count_));
    }

    /// Idle, after the handshake: RESP3 and one subscription.
    void measure_connections() {
        const double before = settled_memory();
        std::deque<plain_client> all;
        for (std::size_t i = 0; i < connections; ++i) {
            plain_client& each = all.emplace_back(url_);
            each.call({"HELLO", "3"});
            each.send({"SUBSCRIBE", redis::prefix_of(redis_space::name) + "wake:" + redis::to_bytes(id_of(i))});
            static_cast<void>(each.receive());
        }
        report_.figure("a connection", (settled_memory() - before) / static_cast<double>(connections));
    }

    /// The server shrinks idle buffers and tables in the background: the memory when it has not changed by more than
    /// 1 % for two seconds.
    double settled_memory() {
        using std::chrono::seconds;
        using std::chrono::steady_clock;
        const auto end = steady_clock::now() + seconds{20};
        double reference = space_.used_memory();
        for (auto since = steady_clock::now(); steady_clock::now() < end && steady_clock::now() < since + seconds{2};) {
            std::this_thread::sleep_for(std::chrono::milliseconds{200});
            const double now = space_.used_memory();
            if (now > reference * 0.99 && now < reference * 1.01) continue;
            reference = now;
            since = steady_clock::now();
        }
        return space_.used_memory();
    }

    void open(std::size_t session) {
        space_.add(protocol::open{id_of(session), std::chrono::hours{1}, "host.example/job:12", 1, 0, {}});
    }
    void enter(std::size_t session, const claims& wanted) {
        entered_.push_back({id_of(session), space_.next_number()});
        space_.add(protocol::enter{entered_.back(), wanted.list(), {}});
    }
    void leave_oldest(release_kind kind) {
        space_.add(protocol::leave{entered_.front(), kind});
        entered_.pop_front();
    }
    /// The youngest first, so that nothing is handed over.
    void leave_all(release_kind kind) {
        for (std::size_t i = 0; !entered_.empty(); ++i) {
            space_.add(protocol::leave{entered_.back(), kind});
            entered_.pop_back();
            if (i % batch == batch - 1) space_.run();
        }
        space_.run();
    }

    report& report_;
    redis_space space_;
    std::string url_;
    std::size_t count_;
    std::deque<request_id> entered_;
};

}  // namespace

void measure_redis_memory(report& report, const part_options& options) { memory_scene{report, options}.play(); }

}  // namespace baton::bench
