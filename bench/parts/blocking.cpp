#include "bench/parts/blocking.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

namespace baton::bench {

using namespace protocol;

namespace {

constexpr std::size_t most_ticks = 20'000;

}  // namespace

time_bound::time_bound(pid_t server, std::chrono::seconds length)
    : thread_{[this, server, length](const std::stop_token& stop) {
          std::unique_lock lock{mutex_};
          never_.wait_for(lock, stop, length, [] { return false; });
          if (stop.stop_requested()) return;
          reached = true;
          ::kill(server, SIGKILL);
      }} {}

blocking_scene::blocking_scene(const blocking_options& options)
    : report_{options.report}, size_{options.size}, space_{options.server}, bound_{space_.process(), longest_scene} {
    // A higher priority: other processes interrupt a call less often. Without the privilege, the priority stays.
    setpriority(PRIO_PROCESS, static_cast<id_t>(space_.process()), -20);
}

std::size_t blocking_scene::scaled(std::size_t count) const {
    return std::max<std::size_t>(2, static_cast<std::size_t>(static_cast<double>(count) * size_));
}

void blocking_scene::open(std::size_t session, std::chrono::milliseconds ttl) {
    space_.add(protocol::open{id_of(session), ttl, "host.example/job:123", 1, 0, {}});
}

request_id blocking_scene::enter(std::size_t session, const claims& wanted) {
    const request_id request{id_of(session), space_.next_number()};
    space_.add(protocol::enter{request, wanted.list(), {}});
    return request;
}

void blocking_scene::fill_session(std::size_t session, std::size_t requests, std::size_t first_name) {
    open(session);
    space_.run('a');
    for (std::size_t i = 0; i < requests; ++i) enter(session, exclusive(name_of(first_name + i)));
    space_.run('g');
}

double blocking_scene::time_enter(std::size_t session, const claims& wanted, std::vector<request_id>& entered,
                                  char letter) {
    entered.push_back({id_of(session), space_.next_number()});
    return time(protocol::enter{entered.back(), wanted.list(), {}}, letter);
}

std::vector<double> blocking_scene::settle() {
    std::vector<double> times;
    while (times.size() < most_ticks) {
        const timed_answer step = space_.ask_timed(tick{});
        times.push_back(step.microseconds);
        const auto answer = redis::decode_reply(step.answer.text, {});
        require(answer.has_value(), "a tick gets a reply");
        if (!answer->head.due || *answer->head.due > answer->head.at) return times;
    }
    require(false, "the server settles within " + with_commas(most_ticks) + " ticks");
    return times;
}

void blocking_scene::show(const std::string& what, const std::vector<double>& times, std::size_t claims) {
    const double high = quantile(times, 0.999);
    const double bound = report_.bound("a call, the 99.9th percentile") +
                         report_.bound("plus, for each claim of its request") * static_cast<double>(claims);
    std::printf("%-58s %7zu %9.0f %9.0f %9.0f %8.0f", what.c_str(), times.size(), quantile(times, 0.5), high,
                quantile(times, 1), bound);
    report_.judge(high, bound);
}

std::string with_commas(std::size_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
    return text;
}

}  // namespace baton::bench
