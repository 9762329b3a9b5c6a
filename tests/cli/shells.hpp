// Several shells that share one engine: starts runs in them and inspects the engine as an operator does.
#pragma once

#include <fstream>

#include <nlohmann/json.hpp>

#include "baton.hpp"

namespace baton::testing {

class Shells : public Cli {
protected:
    /// The address of the engine.
    [[nodiscard]] virtual std::string address() const = 0;

    [[nodiscard]] start_options at_engine(start_options options) const {
        options.environment["BATON_URL"] = address();
        return options;
    }
    /// `baton run -l a OPTIONS -- sh -c SCRIPT` at that address.
    [[nodiscard]] start_options shell(std::vector<std::string> options, const std::string& script) const {
        return at_engine(run_shell(std::move(options), script));
    }
    [[nodiscard]] std::string output_of(std::vector<std::string> arguments) const {
        child verb{at_engine(baton(std::move(arguments)))};
        EXPECT_TRUE(verb.wait());
        return verb.out() + verb.err();
    }
    [[nodiscard]] nlohmann::json seen() const {
        child ls{at_engine(baton({"ls", "--json"}))};
        EXPECT_EQ(ls.wait(), 0);
        return nlohmann::json::parse(ls.out());
    }
    /// The fence of the request with the lowest ticket.
    [[nodiscard]] std::uint64_t fence() const { return seen()["requests"][0]["fence"].get<std::uint64_t>(); }
    [[nodiscard]] bool waiting(std::size_t count, const std::string& name = "a") const {
        return eventually([&] { return waiters(name) == count; });
    }
    [[nodiscard]] std::size_t waiters(const std::string& name = "a") const {
        const std::string text = output_of({"ls", name});
        std::size_t count = 0;
        for (std::size_t at = text.find("\n  waits"); at != std::string::npos; at = text.find("\n  waits", at + 1))
            ++count;
        return count;
    }
    /// A script that prints `up`, waits until the file exists, and prints `done`.
    [[nodiscard]] std::string until(const std::string& name) const {
        return "echo up; while ! [ -e " + folder_.path(name) + " ]; do sleep 0.02; done; echo done";
    }
    void make(const std::string& name) const { std::ofstream{folder_.path(name)} << "x"; }
    /// The `sleep` processes of this test's scripts.
    [[nodiscard]] std::vector<pid_t> sleepers() const { return processes_with(std::string{"sleep\0", 6} + word_); }
    [[nodiscard]] bool sleeping(std::size_t count) const {
        return eventually([&] { return sleepers().size() == count; });
    }

    std::string word_ = unique_word();
};

}  // namespace baton::testing
