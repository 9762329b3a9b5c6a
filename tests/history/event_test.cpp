// Writing and reading the lines of a history, and the recorder.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "../folder.hpp"
#include "reader.hpp"
#include "recorder.hpp"

namespace baton::history {
namespace {

event again(const event& event) {
    std::string line = to_line(event);
    EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
    line.pop_back();
    const auto read = from_line(line);
    EXPECT_TRUE(read) << line;
    return read.value_or(history::event{});
}

TEST(HistoryLine, EveryFieldIsWrittenAndRead) {
    const event said{.at = moment{12},
                     .who = "w 1\n",
                     .verb = verb::held,
                     .number = 7,
                     .claims = {{"a:b=c%\xff", claim_mode::exclusive, 0, 0},
                                {"s", claim_mode::shared, 0, 0},
                                {"p", claim_mode::permits, 2, 8}},
                     .ticket = 3,
                     .fence = 1ULL << 52U,
                     .until = moment{99},
                     .slots = {{"p", {0, 7}}},
                     .why = "no such thing"};
    EXPECT_EQ(again(said), said);
}

TEST(HistoryLine, EveryVerbIsWrittenAndRead) {
    for (unsigned each = 0; each <= static_cast<unsigned>(verb::killed); ++each) {
        event said{.at = moment{1}, .who = "w", .verb = static_cast<verb>(each), .number = 2};
        if (said.verb == verb::killed) {
            said.number = 0;
            said.whom = "v v";
        }
        EXPECT_EQ(again(said), said) << each;
    }
}

TEST(HistoryLine, InvalidLinesAreRefused) {
    for (const std::string line : {"",
                                   "1",
                                   "1 w",
                                   "1 w held",
                                   "x w held 1",
                                   "1 w hold 1",
                                   "1 w held x",
                                   "1  held 1",
                                   "1 w held 1 fence=x",
                                   "1 w held 1 fence",
                                   "1 w held 1 colour=red",
                                   "1 w asked 1 claim=exclusive",
                                   "1 w asked 1 claim=half:a",
                                   "1 w asked 1 claim=permits:a",
                                   "1 w asked 1 claim=permits:a:1",
                                   "1 w asked 1 claim=shared:a:1/2",
                                   "1 w asked 1 claim=shared:a%4",
                                   "1 w held 1 slots=a:",
                                   "1 w held 1 slots=a:1,",
                                   "1 w held 1 "})
        EXPECT_FALSE(from_line(line)) << line;
}

TEST(HistoryRecorder, AKilledProcessLeavesCompleteLinesOnly) {
    const folder place;
    const std::string path = place.path("log");
    std::vector<pid_t> children;
    for (const std::string who : {"a", "b"}) {
        children.push_back(fork());
        if (children.back() != 0) continue;
        recorder recorder{path, who};
        for (;;) recorder.asked({{std::string(100, 'r'), claim_mode::exclusive, 0, 0}});
    }
    // Stops after the wanted lines, because the writers may be faster than this reader.
    const auto has_lines = [&](int wanted) {
        std::ifstream file{path};
        for (std::string line; wanted > 0 && std::getline(file, line); --wanted) continue;
        return wanted == 0;
    };
    while (!has_lines(1000)) usleep(1000);
    for (const pid_t child : children) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    const record read = read_file(path);
    EXPECT_TRUE(read.misfits.empty()) << read.misfits.front().here.text;
    EXPECT_GE(read.requests.size(), 1000U);
}

}  // namespace
}  // namespace baton::history
