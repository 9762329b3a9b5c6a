// Two processes that hand something over to each other, by any store.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include "baton/baton.hpp"
#include "processes.hpp"

namespace baton::bench {

inline std::int64_t clock_now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// What both processes of a hand-off see.
struct shared_board {
    std::atomic<bool> asked{false};  // somebody is about to wait for it
    std::atomic<std::int64_t> passed_at{0};
    std::atomic<std::int64_t> total{0};
};

inline shared_board& make_board() {
    void* memory = mmap(nullptr, sizeof(shared_board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    return *new (memory) shared_board;
}

/// One of two who hand something over to each other. Measured is the way: from the moment before one lets go of it
/// until the other, who sleeps for it, has it. Whoever let go asks again when that is over, and not meanwhile.
class player {
public:
    player(const std::string& url, shared_board& board, int other) : client_{url}, board_{board}, other_{other} {}

    void take() {
        board_.asked = true;
        lease_ = client_.acquire(wanted_);
        board_.total += clock_now() - board_.passed_at;
        board_.asked = false;
        const char taken = 1;
        if (write(other_, &taken, 1) != 1) throw std::runtime_error{"the other one is gone"};
    }
    void pass() {
        let_the_other_wait();
        board_.passed_at = clock_now();
        lease_.release();
        char taken = 0;
        if (read(other_, &taken, 1) != 1) throw std::runtime_error{"the other one is gone"};
    }

private:
    /// All share one processor: when it comes back to us again and again, the others sleep. Whoever does not yet wait
    /// makes the way longer, not shorter. To look instead would leave nothing of theirs in the processor's caches.
    void let_the_other_wait() {
        while (!board_.asked) sched_yield();
        for (int i = 0; i < 100; ++i) sched_yield();
    }

    client client_;
    claims wanted_ = exclusive("turn");
    lease lease_;
    shared_board& board_;
    int other_;
};

/// This process and another. Is to be made before this process has threads.
class two_players {
public:
    two_players(const std::string& url, shared_board& board)
        : board_{board}, partner_{[this, &url] { play_along(url); }}, mine_{url, board, ends_[0]} {
        char taken = 0;
        if (read(ends_[0], &taken, 1) != 1) throw std::runtime_error{"the other one is gone"};
        mine_.take();
    }

    /// There and back, so often. The mean time of a hand-over, in ns.
    double hand_over(int times) {
        board_.total = 0;
        for (int i = 0; i < times; ++i) {
            mine_.pass();
            mine_.take();
        }
        return static_cast<double>(board_.total) / (2.0 * times);
    }

private:
    [[noreturn]] void play_along(const std::string& url) {
        player other{url, board_, ends_[1]};
        for (;;) {
            other.take();
            other.pass();
        }
    }

    shared_board& board_;
    std::array<int, 2> ends_ = connected_sockets();
    process partner_;
    player mine_;
};

}  // namespace baton::bench
