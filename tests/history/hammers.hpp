// Load workers on one space (hammer.cpp), the faults that a test injects, and the verdict on their histories.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../folder.hpp"
#include "../line_process.hpp"
#include "judge.hpp"
#include "recorder.hpp"

namespace baton::history {

class hammers {
public:
    struct load {
        std::string url;
        std::chrono::milliseconds ttl{1'000};
        std::chrono::milliseconds hold{2};
        std::vector<std::string> requests = {};  // as hammer.cpp takes them
    };

    explicit hammers(load load) : load_{std::move(load)} {}

    /// Settings of one process that differ from the others.
    struct variation {
        std::string url = {};  // another address of the space
        std::string program = BATON_HAMMER;
        std::optional<std::chrono::milliseconds> hold = {};
        std::vector<std::string> requests = {};
    };

    /// Starts a process with a new name, optionally with another address of the space. Returns the name.
    std::string add(const std::string& url = {}) { return add_varied({.url = url}); }
    std::string add_varied(const variation& variation) {
        const std::string who = "w" + std::to_string(++count_);
        const std::vector<std::string>& requests = variation.requests.empty() ? load_.requests : variation.requests;
        std::vector<std::string> words{variation.program,
                                       variation.url.empty() ? load_.url : variation.url,
                                       log(),
                                       who,
                                       std::to_string(load_.ttl.count()),
                                       std::to_string(variation.hold.value_or(load_.hold).count())};
        words.insert(words.end(), requests.begin(), requests.end());
        processes_.emplace(who, std::make_unique<line_process>(std::move(words)));
        return who;
    }
    /// Kills a process with SIGKILL and records that in the history.
    void kill(const std::string& who) {
        harness_.write({.verb = verb::killed, .whom = who});
        processes_.at(who)->end(SIGKILL);
        processes_.erase(who);
    }
    /// Stops a process and waits for its end. False: it did not end in time and was killed.
    [[nodiscard]] bool end(const std::string& who) {
        line_process& process = *processes_.at(who);
        process.close_input();
        const bool ended = !process.hear().empty();
        processes_.erase(who);
        return ended;
    }
    void signal(const std::string& who, int number) const { processes_.at(who)->signal(number); }

    [[nodiscard]] std::string log() const { return place_.path("log"); }
    /// The history up to now.
    [[nodiscard]] record so_far() const { return read_file(log()); }
    [[nodiscard]] std::size_t grants() const { return judge(so_far()).seen.grants; }
    /// Stops a process with SIGSTOP at a moment at which it believes that it holds or waits; it stays so until SIGCONT
    /// or `kill`. False: there was no such moment.
    [[nodiscard]] bool stop_holding(const std::string& who) const { return stop_when(who, true); }
    [[nodiscard]] bool stop_waiting(const std::string& who) const { return stop_when(who, false); }

    /// Stops all processes, waits for their end and judges the history. A process that does not end in time is killed
    /// without a line in the history, so that the judge reports an unserved request.
    verdict finish(const demands& least, std::chrono::milliseconds limit = long_enough) {
        const auto deadline = std::chrono::steady_clock::now() + limit;
        for (const auto& [who, process] : processes_) process->close_input();
        for (const auto& [who, process] : processes_) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
            static_cast<void>(process->hear(std::max(left, std::chrono::milliseconds{1})));
        }
        processes_.clear();
        return judge(so_far(), least);
    }

private:
    [[nodiscard]] bool stop_when(const std::string& who, bool granted) const {
        return eventually([&] {
            signal(who, SIGSTOP);
            siginfo_t stopped{};
            waitid(P_PID, static_cast<id_t>(processes_.at(who)->process()), &stopped, WSTOPPED);
            const record record = so_far();
            const auto newest = std::find_if(record.requests.rbegin(), record.requests.rend(),
                                             [&](const request& request) { return request.who == who; });
            if (newest != record.requests.rend() && newest->open() && newest->granted == granted) return true;
            signal(who, SIGCONT);
            return false;
        });
    }

    load load_;
    folder place_;
    recorder harness_{log(), "harness"};
    std::size_t count_ = 0;
    std::map<std::string, std::unique_ptr<line_process>> processes_;
};

}  // namespace baton::history
