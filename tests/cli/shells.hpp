// Several shells that share one engine, wherever it is: what they start, and what an operator sees of them.
#pragma once

#include <fstream>

#include <nlohmann/json.hpp>

#include "baton.hpp"

namespace baton::testing {

class Shells : public Cli {
protected:
    /// Of the engine.
    [[nodiscard]] virtual std::string address() const = 0;

    [[nodiscard]] start_options there(start_options options) const {
        options.environment["BATON_URL"] = address();
        return options;
    }
    /// `baton run -l a OPTIONS -- sh -c SCRIPT` there.
    [[nodiscard]] start_options shell(std::vector<std::string> options, const std::string& script) const {
        return there(run_shell(std::move(options), script));
    }
    [[nodiscard]] std::string said_by(std::vector<std::string> arguments) const {
        child verb{there(baton(std::move(arguments)))};
        EXPECT_TRUE(verb.wait());
        return verb.out() + verb.err();
    }
    [[nodiscard]] nlohmann::json seen() const {
        child ls{there(baton({"ls", "--json"}))};
        EXPECT_EQ(ls.wait(), 0);
        return nlohmann::json::parse(ls.out());
    }
    /// Of what was granted first.
    [[nodiscard]] std::uint64_t fence() const { return seen()["requests"][0]["fence"].get<std::uint64_t>(); }
    [[nodiscard]] bool waiting(std::size_t count, const std::string& name = "a") const {
        return eventually([&] { return places(name) == count; });
    }
    [[nodiscard]] std::size_t places(const std::string& name = "a") const {
        const std::string text = said_by({"ls", name});
        std::size_t count = 0;
        for (std::size_t at = text.find("\n  waits"); at != std::string::npos; at = text.find("\n  waits", at + 1))
            ++count;
        return count;
    }
    /// A script that says that it has begun, and ends when the file is there.
    [[nodiscard]] std::string until(const std::string& name) const {
        return "echo up; while ! [ -e " + folder_.path(name) + " ]; do sleep 0.02; done; echo done";
    }
    void make(const std::string& name) const { std::ofstream{folder_.path(name)} << "x"; }
    /// Those that the scripts of this test put to sleep.
    [[nodiscard]] std::vector<pid_t> sleepers() const { return processes_with(std::string{"sleep\0", 6} + word_); }
    [[nodiscard]] bool sleeping(std::size_t count) const {
        return eventually([&] { return sleepers().size() == count; });
    }

    std::string word_ = unique_word();
};

}  // namespace baton::testing
