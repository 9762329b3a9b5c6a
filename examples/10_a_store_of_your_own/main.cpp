// A client on a store of your own.
#include <baton/baton.hpp>

#include <iostream>

#include "turnstile.hpp"

int main() {
    const auto store = std::make_shared<turnstile>();
    baton::client one{store};
    baton::client two{store};

    baton::lease first = one.acquire(baton::exclusive("door"));
    std::cout << "the second is " << (two.try_acquire(baton::exclusive("door")) ? "in" : "outside") << '\n';
    first.release();
    const baton::lease second = two.acquire(baton::exclusive("door"));
    std::cout << "now it is in; its fence is " << (second.fence() > first.fence() ? "larger" : "smaller") << '\n';

    std::error_code error;
    const baton::lease none = one.acquire(baton::shared("door"), {}, error);
    std::cout << "shared: " << error.message() << '\n';
}

// Output:
// the second is outside
// now it is in; its fence is larger
// shared: the store does not support this
