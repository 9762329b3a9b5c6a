#include "bench/actors/crew.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "bench/actors/worker.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"

namespace baton::bench {
namespace {

std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        throw cli::failure{cli::exit_code::internal, "cannot create a pipe; is `ulimit -n` too small?"};
    return ends;
}

}  // namespace

actor::actor(const stage& stage, std::chrono::milliseconds ttl) {
    if (stage.shared()) {
        start({"/proc/self/exe", "worker", "--url", stage.url(), "--ttl", std::to_string(ttl.count()) + "ms"});
        return;
    }
    const auto [input, output] = make_pipes();
    thread_ = std::thread{[in = input, out = output, url = stage.url(), ttl] {
        obey(in, out, url, ttl);
        close(in);
        close(out);
    }};
}

actor::actor(const std::vector<std::string>& words) { start(words); }

std::pair<int, int> actor::make_pipes() {
    const auto input = make_pipe();
    const auto output = make_pipe();
    in_ = input[1];
    lines_.emplace(out_ = output[0]);
    return {input[0], output[1]};
}

void actor::start(const std::vector<std::string>& words) {
    const auto [input, output] = make_pipes();
    child_ = std::make_unique<child>(words, "", input, output);
    close(input);
    close(output);
}

actor::~actor() {
    close(in_);
    if (thread_.joinable()) thread_.join();
    child_.reset();
    close(out_);
}

void actor::send(const std::string& line) const {
    const std::string whole = line + "\n";
    if (write(in_, whole.data(), whole.size()) < 0)
        throw cli::failure{cli::exit_code::internal, "a worker has ended unexpectedly"};
}

std::string actor::receive(std::chrono::milliseconds limit) {
    if (auto line = lines_->next(static_cast<int>(limit.count()))) return *line;
    throw cli::failure{cli::exit_code::internal,
                       lines_->ended() ? "a worker has ended unexpectedly" : "a worker does not reply"};
}

std::vector<held_turn> actor::report(std::size_t who) {
    send("report");
    std::vector<held_turn> turns;
    for (std::string line = receive(); line != "end"; line = receive()) {
        held_turn turn{.who = who};
        std::istringstream{line} >> turn.asked >> turn.acquired >> turn.releasing >> turn.released;
        turns.push_back(turn);
    }
    return turns;
}

crew make_crew(const stage& stage, const cast& cast, std::size_t size, std::chrono::milliseconds ttl) {
    crew made;
    for (std::size_t i = 0; i < size; ++i)
        made.push_back(cast.words.empty() ? std::make_unique<actor>(stage, ttl) : std::make_unique<actor>(cast.words));
    for (const auto& each : made)
        if (const std::string reply = each->receive(); !reply.starts_with("ready"))
            throw cli::failure{cli::exit_code::internal, cast.subject + " does not start: " + reply};
    return made;
}

void require_reply(const std::string& reply, const std::string& beginning) {
    if (!reply.starts_with(beginning))
        throw cli::failure{cli::exit_code::internal,
                           "a worker replied `" + reply.substr(0, 200) + "` and not " + beginning};
}

std::optional<std::size_t> next_with_output(const crew& crew, std::chrono::milliseconds limit) {
    std::vector<pollfd> ready;
    for (const auto& each : crew) ready.push_back({each->descriptor(), POLLIN, 0});
    if (poll(ready.data(), ready.size(), static_cast<int>(limit.count())) <= 0) return {};
    const auto found = std::ranges::find_if(ready, [](const pollfd& each) { return each.revents != 0; });
    return static_cast<std::size_t>(found - ready.begin());
}

std::vector<held_turn> reports(const crew& crew) {
    std::vector<held_turn> all;
    for (std::size_t i = 0; i < crew.size(); ++i) {
        const auto turns = crew[i]->report(i);
        all.insert(all.end(), turns.begin(), turns.end());
    }
    std::ranges::sort(all, {}, &held_turn::acquired);
    return all;
}

}  // namespace baton::bench
