// Busy, timed out, refused and cancelled are different errors. Every call has a form that throws and one that sets a
// std::error_code.
#include <baton/baton.hpp>

#include <iostream>
#include <stop_token>

using namespace std::chrono_literals;

int main() {
    baton::client client{"memory:"};
    const baton::lease held = client.acquire(baton::exclusive("ledger"));
    std::error_code error;

    // Busy is not an error: the result is empty.
    if (!client.try_acquire(baton::exclusive("ledger"))) std::cout << "busy\n";

    static_cast<void>(client.acquire(baton::exclusive("ledger"), {.wait = 1ms}, error));
    if (error == baton::errc::timed_out) std::cout << "timed out\n";

    std::stop_source stop;
    stop.request_stop();
    static_cast<void>(client.acquire(baton::exclusive("ledger"), {}, stop.get_token(), error));
    if (error == std::errc::operation_canceled) std::cout << "cancelled\n";

    // Each refusal has its own code, and all of them equal error_kind::refused.
    static_cast<void>(client.acquire(baton::permits("gpu", {.count = 9, .limit = 8}), {}, error));
    if (error == baton::errc::permits_out_of_range && error == baton::error_kind::refused)
        std::cout << error.message() << '\n';

    try {
        baton::client nowhere{"gopher://example.org"};
    } catch (const baton::error& wrong) {
        if (wrong.code() == baton::errc::bad_url) std::cout << "no such store\n";
    }
}

// Output:
// busy
// timed out
// cancelled
// refused: permits must be 1 up to the limit, the limit up to 65,536
// no such store
