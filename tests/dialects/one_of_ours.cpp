// A process of ours among peers, to be killed: `one_of_ours URL NAME` says `queued` when it waits for the name, and
// `acquired` when it has it; it ends when its input does.
#include <iostream>
#include <memory>

#include "baton/baton.hpp"

namespace {

class teller : public baton::observer {
public:
    void queued(const std::vector<baton::claim>&) override { std::cout << "queued" << std::endl; }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 64;
    baton::client_options options;
    options.observer = std::make_shared<teller>();
    baton::client ours{argv[1], options};
    const baton::lease held = ours.acquire(baton::exclusive(argv[2]));
    std::cout << "acquired" << std::endl;
    while (std::cin.get() != EOF) continue;
    return held.valid() ? 0 : 1;
}
