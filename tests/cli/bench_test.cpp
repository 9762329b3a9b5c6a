// `baton bench`: its arithmetic, its table, and the real thing where that takes no time.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "../redis/private_server.hpp"
#include "baton.hpp"
#include "bench/table.hpp"

namespace baton::testing {
namespace {

using bench::result;

TEST(BenchArithmetic, ComputesQuantilesRatiosAndFairness) {
    EXPECT_EQ(bench::quantile({3, 1, 2}, 0.5), 2);
    EXPECT_EQ(bench::quantile({}, 0.5), 0);
    const bench::ratio ratio = bench::ratio_of({1, 2, 4}, {2, 6, 8});
    EXPECT_EQ(ratio.median, 2);
    EXPECT_EQ(ratio.high, 3);
    EXPECT_EQ(ratio.pairs, 3U);
    EXPECT_EQ(bench::fairness({5, 5, 5, 5}), 1);
    EXPECT_EQ(bench::fairness({8, 0, 0, 0}), 0.25);
}

TEST(BenchTable, HasAColumnForEachFigureAndNamesMissedTargets) {
    const std::vector<result> results{{.scenario = "cycle",
                                       .store = "redis",
                                       .parameters = {{"callers", 4}},
                                       .figures = {{"p50_us", 12.34}},
                                       .floor = "nothing",
                                       .ratio = bench::ratio{2.5, 2, 3, 15},
                                       .target = 2},
                                      {.scenario = "cycle", .store = "local", .figures = {{"max_us", 1234.5}}},
                                      {.scenario = "crash", .store = "memory", .note = "skipped: why"}};
    EXPECT_EQ(bench::table_of(results),
              "cycle  (floor on redis: nothing)\n"
              "  store  subject  callers  p50_us  max_us  to the floor\n"
              "  redis  baton          4    12.3          2.50 (2 to 3), MISSES 2\n"
              "  local  baton                       1234\n"
              "\n"
              "crash\n"
              "  store   subject\n"
              "  memory  baton    skipped: why\n");
}

class Bench : public Cli {
protected:
    [[nodiscard]] nlohmann::json measured(std::vector<std::string> words) const {
        words.insert(words.begin(), "bench");
        words.insert(words.end(), {"--quick", "--json", "-"});
        child run{baton(std::move(words))};
        EXPECT_EQ(run.wait(), 0) << run.err();
        return nlohmann::json::parse(run.out());
    }
    /// The exit code of bench/compare, and what it said.
    [[nodiscard]] std::pair<int, std::string> compare(const nlohmann::json& before, const nlohmann::json& after) const {
        std::ofstream{folder_.path("old.json")} << before;
        std::ofstream{folder_.path("new.json")} << after;
        start_options options = baton({});
        options.arguments = {BATON_COMPARE, folder_.path("old.json"), folder_.path("new.json")};
        child run{options};
        const int code = run.wait().value_or(-1);
        return {code, run.out() + run.err()};
    }
};

TEST_F(Bench, MeasuresInMemoryAndComparesWithItself) {
    const nlohmann::json seen = measured({"cycle", "drain", "--on", "memory"});
    ASSERT_EQ(seen["results"].size(), 3U);
    const nlohmann::json& cycle = seen["results"][0];
    EXPECT_EQ(cycle["scenario"], "cycle");
    EXPECT_GT(cycle["figures"]["p50_us"].get<double>(), 0);
    EXPECT_EQ(cycle["ratio"]["pairs"], 15);
    EXPECT_EQ(seen["results"][2]["parameters"]["waiters"], 1000);
    EXPECT_EQ(seen["results"][2]["figures"]["out_of_order"], 0);

    EXPECT_EQ(compare(seen, seen).first, 0);
    // On a busy machine the measured spread may be wider than any change, so the comparison gets a narrow one.
    const auto with_ratio = [&](double median) {
        nlohmann::json result = seen;
        nlohmann::json& ratio = result["results"][0]["ratio"];
        ratio["median"] = median;
        ratio["low"] = 0.9 * median;
        ratio["high"] = 1.1 * median;
        return result;
    };
    const nlohmann::json before = with_ratio(4);
    const nlohmann::json slower = with_ratio(40);
    const auto [code, said] = compare(before, slower);
    EXPECT_EQ(code, 1);
    EXPECT_TRUE(said.starts_with("WORSE   cycle on memory, baton: ")) << said;
    EXPECT_EQ(compare(slower, before).first, 0) << "an improvement is no regression";
    nlohmann::json out_of_order = seen;
    out_of_order["results"][2]["figures"]["out_of_order"] = 1;
    EXPECT_EQ(compare(seen, out_of_order).first, 1);
    EXPECT_NE(compare(seen, nlohmann::json{{"other", 1}}).second.find("not a result of `baton bench --json`"),
              std::string::npos);
}

/// A benchmark on a server of the user: no data remains there, and a warning is printed.
TEST_F(Bench, LeavesNoKeysOnAServerThatIsInUse) {
    if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
    const redis_tests::private_server server{{.tcp = true}};
    ASSERT_EQ(server.ask({"SET", "theirs", "1"}).text, "OK");
    const std::string url = "redis://127.0.0.1:" + std::to_string(server.tcp().port) + "/0";
    child run{baton({"bench", "cycle", "semaphore", "--quick", "--url", url})};
    EXPECT_EQ(run.wait(), 0) << run.err();
    EXPECT_NE(run.err().find("the server is in use: 1 keys"), std::string::npos) << run.err();
    EXPECT_NE(run.out().find("Redis "), std::string::npos) << run.out();
    EXPECT_NE(run.out().find("single_cycles_per_s"), std::string::npos) << run.out();
    EXPECT_EQ(server.ask({"DBSIZE"}).number, 1);
}

TEST_F(Bench, RefusesUnknownScenariosAndStores) {
    const auto refusal = [this](std::vector<std::string> words, int code) {
        words.insert(words.begin(), "bench");
        child run{baton(std::move(words))};
        EXPECT_EQ(run.wait(), code) << run.err();
        return run.err();
    };
    EXPECT_NE(refusal({"nonsense"}, 64).find("nonsense"), std::string::npos);
    EXPECT_NE(refusal({"--on", "mysql"}, 64).find("mysql"), std::string::npos);
    EXPECT_NE(refusal({"cycle", "--url", "redis://127.0.0.1:1"}, 69).find("cannot be reached"), std::string::npos);
    EXPECT_NE(refusal({"cycle", "--url", "redis://h?dialect=amphp"}, 64).find("leave dialect= out"), std::string::npos);
    EXPECT_NE(refusal({"cycle", "--url", "redis+cluster://h"}, 64).find("bench measures one server"),
              std::string::npos);
    EXPECT_NE(refusal({"--peers", "/nowhere"}, 64).find("bench/peers/list writes such a file"), std::string::npos);
}

/// What follows `bench` is for baton-bench, as it stands.
TEST_F(Bench, RunsBatonBenchOrReportsThatItIsNotInstalled) {
    std::filesystem::copy_file(BATON_PROGRAM, folder_.path("baton"));
    start_options options = baton({"bench", "run", "--json", "x y", "--", "-h"});
    options.arguments.front() = folder_.path("baton");
    child without{options};
    EXPECT_EQ(without.wait(), 69);
    EXPECT_NE(without.err().find("baton-bench is neither beside baton nor in PATH"), std::string::npos)
        << without.err();

    const auto write_program = [](const std::string& path, int code) {
        std::ofstream{path} << "#!/bin/sh\nprintf '%s,' \"$@\"\nexit " << code << "\n";
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    };
    std::filesystem::create_directory(folder_.path("bin"));
    write_program(folder_.path("bin/baton-bench"), 5);
    options.environment["PATH"] += ":" + folder_.path("bin");
    child in_path{options};
    EXPECT_EQ(in_path.wait(), 5) << in_path.err();
    EXPECT_EQ(in_path.out(), "run,--json,x y,--,-h,");
    write_program(folder_.path("baton-bench"), 6);
    child beside{options};
    EXPECT_EQ(beside.wait(), 6) << beside.err();
}

TEST_F(Bench, ListsTheTargetsOfAllParts) {
    child run{baton({"bench", "targets", "--list"})};
    EXPECT_EQ(run.wait(), 0) << run.err();
    for (const char* line : {"cycle ", "engine ", "memory ", "local ", "redis-calls ", "redis-client "})
        EXPECT_NE(run.out().find(line), std::string::npos) << line;
}

}  // namespace
}  // namespace baton::testing
