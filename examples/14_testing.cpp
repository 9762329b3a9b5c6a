// A test without a server: clients with the same memory:NAME meet as processes do. A revocation makes a loss at a
// chosen moment.
#include <baton/baton.hpp>

#include <future>
#include <iostream>
#include <stop_token>

int main() {
    baton::client program{"memory:test-1"};  // each test uses its own name, so that tests do not interfere
    baton::client other{"memory:test-1"};

    const baton::lease lease = program.acquire(baton::exclusive("ledger"));
    if (!other.try_acquire(baton::exclusive("ledger"))) std::cout << "the other client: busy\n";

    std::promise<void> lost;
    const std::stop_callback on_loss{lease.lost(), [&] { lost.set_value(); }};
    const baton::snapshot seen = other.inspect({baton::inspect_filter::match::exact, "ledger"});
    other.revoke("ledger", seen.requests.front().ticket, "a test", true);  // true: at once
    lost.get_future().wait();
    std::cout << "lost: " << to_string(lease.lost_reason()) << '\n';

    const baton::lease next = other.acquire(baton::exclusive("ledger"));
    std::cout << "the other client: granted" << (next.abandoned().empty() ? "\n" : ", with a mark\n");
}

// Output:
// the other client: busy
// lost: revoked
// the other client: granted, with a mark
