// A callback in place of a blocked thread: any number of requests may wait. A stop token withdraws a request.
#include <baton/baton.hpp>

#include <future>
#include <iostream>
#include <stop_token>

int main() {
    baton::client client{"memory:"};
    baton::lease held = client.acquire(baton::exclusive("ledger"));

    std::promise<std::uint64_t> fence;
    client.async_acquire(baton::exclusive("ledger"), {}, {}, [&](std::error_code error, baton::lease lease) {
        if (!error) fence.set_value(lease.fence());  // runs on a thread of the library: it must not block
    });                                              // the lease ends with the callback: released

    std::stop_source stop;
    std::promise<std::error_code> result;
    client.async_acquire(baton::exclusive("ledger"), {}, stop.get_token(),
                         [&](std::error_code error, const baton::lease&) { result.set_value(error); });
    stop.request_stop();
    std::cout << "the second: " << result.get_future().get().message() << '\n';

    const std::uint64_t before = held.fence();
    held.release();
    std::cout << "the first: " << (fence.get_future().get() > before ? "a larger fence\n" : "a smaller fence\n");
}

// Output:
// the second: Operation canceled
// the first: a larger fence
