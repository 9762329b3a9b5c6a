// hammer is a client process that acquires, holds and releases in a loop and writes its history.
//   hammer URL LOG WHO TTL_MS HOLD_MS REQUEST…    a request is a list of claims: exclusive:db+permits:gpu:1/2
// It cycles through its requests, ends at the end of its standard input, and prints its number of grants.
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "recorded_client.hpp"

namespace {

using namespace baton;

claims parse(std::string_view text) {
    std::vector<claim> list;
    for (;;) {
        const std::size_t end = text.find('+');
        const auto claim = history::claim_from(text.substr(0, end));
        if (!claim) {
            std::cerr << "hammer: invalid claim '" << text << "'; write MODE:NAME or permits:NAME:COUNT/LIMIT" << '\n';
            std::exit(64);
        }
        list.push_back(*claim);
        if (end == std::string_view::npos) return claims{std::move(list)};
        text.remove_prefix(end + 1);
    }
}

bool stop_requested() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) != 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 7) return 64;
    const std::string who = argv[3];
    history::recorder recorder{argv[2], who};
    client_options options;
    options.ttl = std::chrono::milliseconds{std::atoi(argv[4])};
    options.label = who;
    history::recorded_client client{recorder, argv[1], options};
    const std::chrono::milliseconds hold{std::atoi(argv[5])};
    std::vector<claims> requests;
    for (int at = 6; at < argc; ++at) requests.push_back(parse(argv[at]));

    std::size_t grants = 0;
    for (std::size_t round = std::hash<std::string>{}(who); !stop_requested(); ++round) {
        const auto lease = client.acquire(requests[round % requests.size()]);
        if (!lease) return 1;
        ++grants;
        const auto end = history::now() + hold;
        while (lease->believes() && history::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    std::cout << grants << std::endl;
}
