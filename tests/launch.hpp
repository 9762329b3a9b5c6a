// A process that dies with the test, even if the test is killed.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

namespace baton {

/// Executes `words[0]` with the arguments `words`; or `program`, with argv[0] from `words`. `setup` runs in the child
/// before exec. The parent is the calling thread: the child dies with this thread, too.
inline pid_t launch(std::vector<std::string> words, const std::function<void()>& setup = {}, std::string program = {}) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (program.empty()) program = words.front();
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    if (setup) setup();
    execv(program.c_str(), arguments.data());
    _exit(127);
}

}  // namespace baton
