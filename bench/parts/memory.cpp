// The client on `memory:`.
#include <malloc.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "baton/baton.hpp"
#include "bench/clock.hpp"
#include "bench/parts/engine_scenes.hpp"
#include "bench/parts/parts.hpp"

namespace baton::bench {
namespace {

constexpr int cycles = 20'000;    // per round
constexpr int hand_offs = 5'000;  // per round

/// Two threads pass a lock to each other. Measures the time from just before one thread releases it until the other
/// thread, which sleeps, holds it.
class relay {
public:
    /// `take` acquires and `pass` releases, both with the number of the thread. Returns the mean time per hand-off, in
    /// us.
    double run(const std::function<void(int thread)>& take, const std::function<void(int thread)>& pass) {
        passed_at_ = 0;
        total_ = 0;
        const auto play = [&](int thread) {
            for (int turn = 0; turn < hand_offs / 2; ++turn) {
                waiting_[thread] = true;
                take(thread);
                if (passed_at_ != 0) total_ += now_us() - passed_at_;
                waiting_[thread] = false;
                const bool last = ++turns_[thread] == hand_offs / 2 && turns_[1 - thread] == hand_offs / 2;
                while (!last && !waiting_[1 - thread]) std::this_thread::yield();
                std::this_thread::yield();  // the other thread is about to wait: let it run
                passed_at_ = now_us();
                pass(thread);
            }
        };
        turns_[0] = turns_[1] = 0;
        std::thread other{play, 1};
        play(0);
        other.join();
        return total_ / (hand_offs - 1);
    }

private:
    std::atomic<bool> waiting_[2] = {false, false};
    // Used by the thread that holds the lock.
    int turns_[2] = {0, 0};
    double passed_at_ = 0;
    double total_ = 0;
};

/// The floor: a mutex, a condition variable, and the number of the next thread.
class bare_turns {
public:
    void take(int thread) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return next_ == thread; });
    }
    void pass(int thread) {
        {
            const std::lock_guard lock{mutex_};
            next_ = 1 - thread;
        }
        changed_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int next_ = 0;
};

/// The same with a lock.
class fair_turns {
public:
    explicit fair_turns(client client) : client_{std::move(client)} {}

    void take(int) { lease_ = client_.acquire(wanted_); }
    void pass(int) { std::exchange(lease_, {}).release(); }

private:
    client client_;
    claims wanted_ = exclusive("turn");
    lease lease_;  // of the thread that holds the lock
};

void show_cycle(report& report) {
    report.head("processor time");
    uncontended engine{1};
    client client{"memory:"};
    const claims wanted = exclusive("ledger");
    const auto on_engine = [&] { return cost_us(CLOCK_PROCESS_CPUTIME_ID, cycles, [&] { engine.play(); }); };
    const auto on_client = [&] {
        return cost_us(CLOCK_PROCESS_CPUTIME_ID, cycles, [&] { const lease lease = client.acquire(wanted); });
    };
    report.figure("acquire and release, uncontended", report.compare("acquire and release", on_engine, on_client));
}

void show_hand_off(report& report) {
    report.head("wall-clock time");
    bare_turns bare;
    fair_turns fair{client{"memory:"}};
    relay relay;
    const auto of = [&relay](auto& turns) {
        return
            [&] { return relay.run([&](int thread) { turns.take(thread); }, [&](int thread) { turns.pass(thread); }); };
    };
    report.compare("hand-off between two threads", of(bare), of(fair));
}

std::size_t threads() {
    const std::filesystem::directory_iterator tasks{"/proc/self/task"};
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

void show_waiting(report& report) {
    constexpr std::size_t waiters = 10'000;
    client client{"memory:"};
    lease held = client.acquire(exclusive("turn"));
    const std::size_t threads_before = threads();
    const std::size_t before = heap_bytes();
    std::atomic<std::size_t> granted = 0;
    for (std::size_t i = 0; i < waiters; ++i)
        client.async_acquire(exclusive("turn"), {}, {},
                             [&granted](std::error_code error, lease) { granted += !error; });
    const double bytes = static_cast<double>(heap_bytes() - before) / waiters;
    report.figure("one of 10,000 waiting callbacks", bytes);
    report.figure("threads added by the callbacks", static_cast<double>(threads() - threads_before));
    held.release();
    while (granted < waiters) std::this_thread::yield();
}

}  // namespace

void measure_memory(report& report, const part_options&) {
    show_cycle(report);
    show_hand_off(report);
    show_waiting(report);
}

}  // namespace baton::bench
