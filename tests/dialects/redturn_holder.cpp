// A process of ours that holds or waits, for tests that kill it.
//   redturn_holder URL NAME    says `held` when it has it, and ends when its standard input does
#include <iostream>
#include <string>

#include "baton/baton.hpp"

int main(int argc, char** argv) {
    if (argc != 3) return 64;
    baton::client ours{argv[1]};
    const baton::lease held = ours.acquire(baton::exclusive(argv[2]));
    std::cout << "held" << std::endl;
    std::string line;
    while (std::getline(std::cin, line)) continue;
    return held.valid() ? 0 : 1;
}
