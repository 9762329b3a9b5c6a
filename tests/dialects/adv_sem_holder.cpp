// A process of ours among the peers, to be killed: adv_sem_holder URL NAME
// Says `queued` when it waits for the name, and `acquired` when it has it; ends when its standard input does.
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
    baton::client client{argv[1], options};
    const baton::lease held = client.acquire(baton::exclusive(argv[2]));
    std::cout << "acquired" << std::endl;
    while (std::cin.get() != EOF) {
    }
}
