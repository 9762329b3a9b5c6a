// The program with other clients: `baton_contended [PLAY]… -- run …` does what `baton run …` does, in a process in
// which other clients use the same engine (memory:NAME). Most plays wait until a file exists, so that the test decides
// when they happen.
//
//   --abandoned            `a` is marked as abandoned before the program starts
//   --hold-until FILE      another client holds `a`, with a note, until FILE exists
//   --revoke-when FILE     an operator revokes all grants
//   --silence-when FILE    the program's connection becomes silent
//   --outage-when FILE     the program's connection breaks for 50 ms
//   --report FILE          at the end, writes the engine's state of `a` to FILE
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
#include "program.hpp"
#include "store_address.hpp"

namespace {

using std::chrono::milliseconds;

constexpr const char* address = "memory:contended";

/// The store of the program.
const std::shared_ptr<baton::contract::faulty_store>& program_store() {
    static const auto made = std::make_shared<baton::contract::faulty_store>(baton::make_store(address));
    return made;
}

/// Calls `act` on a thread once the file exists. All signals are blocked there: they are meant for the program.
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

void abandon() {
    static baton::client dead{address, {.label = "other 2 on here"}};
    dead.acquire(baton::exclusive("a")).abandon();
}

void revoke_all() {
    baton::client operating{address};
    for (const auto& resource : operating.inspect().resources)
        for (const auto& holder : resource.holders) operating.revoke(resource.name, holder.ticket, "please\x1b[31m");
}

void report(const std::string& file) {
    baton::client inspecting{address};
    std::ofstream out{file};
    for (const auto& resource : inspecting.inspect().resources)
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
            abandon();
            continue;
        }
        const std::string& file = words.at(++next);
        if (play == "--hold-until") hold_until(file);
        if (play == "--revoke-when") when(file, revoke_all);
        if (play == "--silence-when") when(file, [] { program_store()->silence(); });
        if (play == "--outage-when") {
            when(file, [] {
                program_store()->cut();
                std::this_thread::sleep_for(milliseconds{50});
                program_store()->heal();
            });
        }
        if (play == "--report") report_to = file;
    }
    baton::cli::store_maker_used() = [](std::string_view, const baton::detail::local_options&) {
        return program_store();
    };
    sigprocmask(SIG_SETMASK, &before, nullptr);
    argv[next] = argv[0];
    const int code = baton::cli::program(argc - static_cast<int>(next), argv + next);
    if (!report_to.empty()) report(report_to);
    std::fflush(nullptr);
    _exit(code);  // without destructors: other threads still run
}
