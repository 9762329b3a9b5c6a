// co_await in any coroutine, without a library for coroutines. The coroutine resumes on a thread of the library, or at
// once if the name was free.
#include <baton/baton.hpp>

#include <coroutine>
#include <exception>
#include <future>
#include <iostream>

namespace {

/// A minimal coroutine type: it starts at once, and its caller does not wait for it.
struct task {
    struct promise_type {
        task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

task work(baton::client client, std::promise<void>& done) {
    {
        const baton::lease lease = co_await client.async_acquire(baton::exclusive("ledger"));
        std::cout << "it is ours, after a wait\n";
    }
    try {
        const baton::lease twice = co_await client.async_acquire(baton::exclusive("x", "x"));
    } catch (const baton::error& error) {
        std::cout << error.what() << '\n';
    }
    done.set_value();
}

}  // namespace

int main() {
    baton::client client{"memory:"};
    baton::lease held = client.acquire(baton::exclusive("ledger"));
    std::promise<void> done;
    work(client, done);
    std::cout << "the coroutine waits, this thread does not\n";
    held.release();
    done.get_future().wait();
}

// Output:
// the coroutine waits, this thread does not
// it is ours, after a wait
// acquire x, x: refused: a name is claimed twice
