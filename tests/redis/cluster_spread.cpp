// cluster_spread PROGRAM: runs the program with the address of a private cluster of six nodes in BATON_URL, and shows
// how many calls each primary has served. Exit code 1: a primary is more than 20 % off the mean, or the program failed;
// 77: no server program.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "../line_process.hpp"
#include "cluster.hpp"
#include "replication.hpp"

namespace {

using namespace baton::redis_tests;

constexpr std::size_t primaries = 3;

/// Calls of functions that the node has served.
double calls(const private_server& node) {
    const std::string calls = info(node, "commandstats", "cmdstat_fcall");  // calls=…,usec=…
    return calls.empty() ? 0 : std::stod(calls.substr(calls.find('=') + 1));
}

/// The number of Baton's spaces on the node.
std::size_t spaces(const private_server& node) {
    std::size_t count = 0;
    for (const baton::resp::value& key : node.ask({"KEYS", "baton:*:m"}).items) count += !key.text.empty();
    return count;
}

int run(const char* program) {
    const private_cluster cluster{{.primaries = primaries}};
    setenv("BATON_URL", cluster.url("?pause=off").c_str(), 1);
    const auto start = std::chrono::steady_clock::now();
    baton::line_process user{{program}};
    const int code = user.wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (code != 0) throw std::runtime_error{std::string{program} + " failed"};

    double sum = 0;
    for (std::size_t i = 0; i < primaries; ++i) sum += calls(cluster.node(i));
    const double mean = sum / primaries;
    std::printf("%.0f calls in %.2f s\nprimary  spaces  calls  of the mean\n", sum, took.count());
    bool is_even = true;
    for (std::size_t i = 0; i < primaries; ++i) {
        const double off = calls(cluster.node(i)) / mean - 1;
        std::printf("%7zu  %6zu  %5.0f  %+.1f %%\n", i, spaces(cluster.node(i)), calls(cluster.node(i)), off * 100);
        is_even = is_even && std::abs(off) <= 0.2;
    }
    return is_even ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
    if (count != 2) {
        std::fprintf(stderr, "use: cluster_spread PROGRAM\n");
        return 64;
    }
    if (!find_server()) {
        std::fprintf(stderr, "%s\n", no_server);
        return 77;
    }
    try {
        return run(words[1]);
    } catch (const std::exception& failed) {
        std::fprintf(stderr, "%s\n", failed.what());
        return 1;
    }
}
