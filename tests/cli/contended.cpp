// The program with company: `baton_contended [PLAY]… -- run …` does what `baton run …` does, in a process in which
// others use the same engine (memory:NAME), because in this version no engine is shared by processes. Each play waits
// for a file to appear, so that a test decides when it happens.
//
//   --abandoned            before it starts, somebody left `a` behind
//   --hold-until FILE      somebody holds `a`, with a note, until then
//   --revoke-when FILE     then an operator wants `a` back from whoever holds it
//   --silence-when FILE    then no message of the program's gets through any more
//   --outage-when FILE     then its line breaks, and is there again a moment later
//   --report FILE          at the end, what the engine knows of `a` is written there
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "baton/baton.hpp"
#include "baton/contract/faulty_store.hpp"
#include "place.hpp"
#include "program.hpp"

namespace {

using std::chrono::milliseconds;

constexpr const char* address = "memory:contended";

/// The store of the program.
const std::shared_ptr<baton::contract::faulty_store>& line() {
    static const auto made = std::make_shared<baton::contract::faulty_store>(baton::make_store(address));
    return made;
}

/// Others must not take the signals that are meant for the program.
void when(const std::string& file, std::function<void()> act) {
    std::thread{[file, act = std::move(act)] {
        while (!std::filesystem::exists(file)) std::this_thread::sleep_for(milliseconds{2});
        act();
    }}.detach();
}

void hold_until(const std::string& file) {
    static baton::client holder{address, {.label = "other 1 on here · its note"}};
    static baton::lease held = holder.acquire(baton::exclusive("a"));
    when(file, [] { held.release(); });
}

void leave_behind() {
    static baton::client dead{address, {.label = "other 2 on here"}};
    dead.acquire(baton::exclusive("a")).abandon();
}

void ask_back() {
    baton::client operating{address};
    for (const auto& resource : operating.inspect().resources)
        for (const auto& holder : resource.holders) operating.revoke(resource.name, holder.ticket, "please\x1b[31m");
}

void report(const std::string& file) {
    baton::client looking{address};
    std::ofstream out{file};
    for (const auto& resource : looking.inspect().resources)
        out << resource.name << " holders " << resource.holders.size() << " queue " << resource.queue.size()
            << " marks " << (resource.mark ? resource.mark->count : 0) << "\n";
}

}  // namespace

int main(int argc, char** argv) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const std::vector<std::string> words{argv, argv + argc};
    std::string report_to;
    std::size_t next = 1;
    for (; next < words.size() && words[next] != "--"; ++next) {
        const std::string& play = words[next];
        if (play == "--abandoned") {
            leave_behind();
            continue;
        }
        const std::string& file = words.at(++next);
        if (play == "--hold-until") hold_until(file);
        if (play == "--revoke-when") when(file, ask_back);
        if (play == "--silence-when") when(file, [] { line()->silence(); });
        if (play == "--outage-when") {
            when(file, [] {
                line()->cut();
                std::this_thread::sleep_for(milliseconds{50});
                line()->heal();
            });
        }
        if (play == "--report") report_to = file;
    }
    baton::cli::store_maker_used() = [](std::string_view, const baton::detail::local_options&) { return line(); };
    sigprocmask(SIG_SETMASK, &before, nullptr);
    argv[next] = argv[0];
    const int code = baton::cli::program(argc - static_cast<int>(next), argv + next);
    if (!report_to.empty()) report(report_to);
    std::fflush(nullptr);
    _exit(code);  // the others are still at it
}
