// The client's targets on `memory:`, as paired ratios. Exits 1 if one is missed.
#include <malloc.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "baton/baton.hpp"
#include "ratios.hpp"
#include "scenes.hpp"

namespace baton::bench {
namespace {

constexpr int cycles = 20'000;    // a round
constexpr int hand_offs = 5'000;  // a round

/// Two threads hand something over to each other. Measured is the way: from the moment before one lets go of it until
/// the other, who sleeps for it, has it.
class relay {
public:
    /// `take` waits for it, `pass` lets go of it, both with the number of the thread. Gives the mean time of a
    /// hand-over.
    double run(const std::function<void(int thread)>& take, const std::function<void(int thread)>& pass) {
        passed_at_ = 0;
        total_ = 0;
        const auto play = [&](int thread) {
            for (int turn = 0; turn < hand_offs / 2; ++turn) {
                waiting_[thread] = true;
                take(thread);
                if (passed_at_ != 0) total_ += clock_now() - passed_at_;
                waiting_[thread] = false;
                const bool last = ++turns_[thread] == hand_offs / 2 && turns_[1 - thread] == hand_offs / 2;
                while (!last && !waiting_[1 - thread]) std::this_thread::yield();
                std::this_thread::yield();  // it has said that it will wait; now it does
                passed_at_ = clock_now();
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
    static double clock_now() {
        timespec time{};
        clock_gettime(CLOCK_MONOTONIC, &time);
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
    }

    std::atomic<bool> waiting_[2] = {false, false};
    // Of whoever has it.
    int turns_[2] = {0, 0};
    double passed_at_ = 0;
    double total_ = 0;
};

/// The floor: a mutex, a condition variable, and whose turn it is.
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
    lease lease_;  // of whoever has it
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
    const double cost = compare("acquire and release / enter and leave of the engine", on_engine, on_client, 2);
    std::printf("%-52s %8.0f ns, target 2000", "acquire and release, uncontended", cost);
    verdict(cost, 2'000);
}

void show_hand_off() {
    std::puts("");
    print_head("time on the wall");
    bare_turns bare;
    fair_turns fair{client{"memory:"}};
    relay relay;
    const auto of = [&relay](auto& turns) {
        return
            [&] { return relay.run([&](int thread) { turns.take(thread); }, [&](int thread) { turns.pass(thread); }); };
    };
    compare("hand-off between two threads / condition variable", of(bare), of(fair), 3);
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
        client.async_acquire(exclusive("turn"), {}, {},
                             [&granted](std::error_code error, lease) { granted += !error; });
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
