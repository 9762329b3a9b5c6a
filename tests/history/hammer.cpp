// A client process that acquires, holds and releases until it is told to stop, or is killed, and writes its history.
//   hammer URL LOG WHO TTL_MS HOLD_MS REQUEST…    a request is claims, as exclusive:db+permits:gpu:1/2
// It takes its requests in turn, beginning somewhere; ends when its standard input does; then says how many grants.
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
            std::cerr << "hammer: no claim: " << text << '\n';
            std::exit(64);
        }
        list.push_back(*claim);
        if (end == std::string_view::npos) return claims{std::move(list)};
        text.remove_prefix(end + 1);
    }
}

bool told_to_stop() {
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
    for (std::size_t round = std::hash<std::string>{}(who); !told_to_stop(); ++round) {
        const auto lease = client.acquire(requests[round % requests.size()]);
        if (!lease) return 1;
        ++grants;
        const auto end = history::now() + hold;
        while (lease->believes() && history::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    std::cout << grants << std::endl;
}
