// A process with a client of ours, which tests stop, cut off and kill.
//
// `one_of_ours URL NAME` prints `queued` when it waits for the name, and `acquired` when it holds it. It ends at the
// end of its input. `one_of_ours URL NAME COUNT` makes COUNT requests for the name at once, prints `queued` when all
// wait, releases each lease at once, and prints `done` after the last.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "baton/baton.hpp"
#include "baton/dialects.hpp"

namespace {

class teller : public baton::observer {
public:
    explicit teller(int count) : missing_{count} {}
    void queued(const baton::claim_list&) override {
        if (--missing_ == 0) std::cout << "queued" << std::endl;
    }

private:
    std::atomic<int> missing_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) return 64;
    baton::register_dialects();
    const int count = argc == 4 ? std::atoi(argv[3]) : 0;
    baton::client_options options;
    options.observer = std::make_shared<teller>(argc == 4 ? count : 1);
    baton::client ours{argv[1], options};
    if (argc == 3) {
        const baton::lease held = ours.acquire(baton::exclusive(argv[2]));
        std::cout << "acquired" << std::endl;
        while (std::cin.get() != EOF) continue;
        return held.valid() ? 0 : 1;
    }
    const auto missing = std::make_shared<std::atomic<int>>(count);
    for (int i = 0; i < count; ++i)
        ours.async_acquire(baton::exclusive(argv[2]), {}, {}, [missing](std::error_code error, baton::lease held) {
            held.release();
            if (!error && --*missing == 0) std::cout << "done" << std::endl;
        });
    while (std::cin.get() != EOF) continue;
}
