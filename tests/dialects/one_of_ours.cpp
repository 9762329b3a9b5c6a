// A process of ours among peers, to be killed: `one_of_ours URL NAME` waits for the lock, says `acquired`, and holds it
// until its input ends.
#include <iostream>
#include <string>

#include "baton/baton.hpp"

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    baton::client ours{argv[1]};
    const baton::lease held = ours.acquire(baton::exclusive(argv[2]));
    std::cout << "acquired" << std::endl;
    std::string ignored;
    while (std::getline(std::cin, ignored)) {
    }
    return held.valid() ? 0 : 1;
}
