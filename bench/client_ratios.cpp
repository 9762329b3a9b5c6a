// The client's targets on `memory:`, as paired ratios. Exits 1 if one is missed.
#include <malloc.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "baton/baton.hpp"
#include "ratios.hpp"
#include "scenes.hpp"

namespace baton::bench {
namespace {

constexpr int cycles = 20'000;    // a round
constexpr int hand_offs = 5'000;  // a round

/// Two threads that take turns; gives what one turn costs on the wall. `turn` is called by both, each with its number.
double cost_of_turns(const std::function<void(int thread)>& turn) {
    return cost_of(CLOCK_MONOTONIC, 1, [&] {
               const auto play = [&](int thread) {
                   for (int i = 0; i < hand_offs / 2; ++i) turn(thread);
               };
               std::thread other{play, 1};
               play(0);
               other.join();
           }) /
           hand_offs;
}

/// The floor: a mutex, a condition variable, and whose turn it is.
class bare_turns {
public:
    void take(int thread) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return next_ == thread; });
        next_ = 1 - thread;
        lock.unlock();
        changed_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int next_ = 0;
};

/// The same with a lock: whoever has it gives it back once the other one waits for it, so that every release hands it
/// over.
class fair_turns {
public:
    explicit fair_turns(client client) : client_{std::move(client)} {}

    void take(int thread) {
        waiting_[thread] = true;
        lease lease = client_.acquire(wanted_);
        waiting_[thread] = false;
        while (++taken_ < hand_offs && !waiting_[1 - thread]) std::this_thread::yield();
        if (last_ == thread) ++repeated_;
        last_ = thread;
    }

    [[nodiscard]] int repeated() const { return repeated_; }
    void start() {
        taken_ = 0;
        repeated_ = 0;
        last_ = -1;
    }

private:
    client client_;
    claims wanted_ = exclusive("turn");
    std::atomic<bool> waiting_[2] = {false, false};
    // Under the lock.
    int taken_ = 0;
    int repeated_ = 0;
    int last_ = -1;
};

void show_cycle() {
    print_head("processor time");
    uncontended engine{1};
    client client{"memory:"};
    const claims wanted = exclusive("ledger");
    const auto on_engine = [&] { return cost_of(CLOCK_PROCESS_CPUTIME_ID, cycles, [&] { engine.play(); }); };
    const auto on_client = [&] {
        return cost_of(CLOCK_PROCESS_CPUTIME_ID, cycles, [&] { lease lease = client.acquire(wanted); });
    };
    const double cost = compare("acquire and release / enter and leave of the engine", on_engine, on_client, {});
    std::printf("%-52s %8.0f ns, target 2000", "acquire and release, uncontended", cost);
    verdict(cost, 2'000);
}

void show_hand_off() {
    std::puts("");
    print_head("time on the wall");
    bare_turns bare;
    fair_turns fair{client{"memory:"}};
    int repeated = 0;
    compare(
        "hand-off between two threads / condition variable",
        [&] { return cost_of_turns([&](int thread) { bare.take(thread); }); },
        [&] {
            fair.start();
            const double cost = cost_of_turns([&](int thread) { fair.take(thread); });
            repeated += fair.repeated();
            return cost;
        },
        3);
    std::printf("%-52s %8.2f %%\n", "turns in which the owner did not change",
                100.0 * repeated / (static_cast<double>(rounds) * hand_offs));
}

std::size_t threads() {
    const std::filesystem::directory_iterator tasks{"/proc/self/task"};
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

void show_waiting() {
    constexpr std::size_t waiters = 10'000;
    client client{"memory:"};
    lease held = client.acquire(exclusive("turn"));
    const std::size_t threads_before = threads();
    const std::size_t before = heap_bytes();
    std::atomic<std::size_t> granted = 0;
    for (std::size_t i = 0; i < waiters; ++i)
        client.async_acquire(exclusive("turn"), {}, {}, [&granted](std::error_code error, lease) { granted += !error; });
    const double bytes = static_cast<double>(heap_bytes() - before) / waiters;
    std::printf("\n%-52s %8.0f bytes, target 2048", "one of 10,000 waiting callbacks", bytes);
    verdict(bytes, 2'048);
    std::printf("%-52s %8zu, target 0", "threads that they add", threads() - threads_before);
    verdict(static_cast<double>(threads() - threads_before), 0);
    held.release();
    while (granted < waiters) std::this_thread::yield();
}

}  // namespace
}  // namespace baton::bench

int main() {
    using namespace baton::bench;
    show_cycle();
    show_hand_off();
    show_waiting();
    return failed ? 1 : 0;
}
