// What the measurements of one part come to, line by line, each beside its target.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result.hpp"
#include "bench/targets.hpp"

namespace baton::bench {

class report {
public:
    static constexpr std::size_t rounds = 25;

    explicit report(std::string_view part) : part_{part} {}

    /// Says what the lines below are about, and heads their columns.
    void head(std::string_view measure) const;
    /// Plays both in turn; each gives what one of its plays costs in a round, in us. `label` is printed in place of
    /// `what`. Gives the subject's median.
    double compare(std::string_view what, const std::function<double()>& floor, const std::function<double()>& subject,
                   std::string_view label = {});
    /// Prints a figure, in the unit of its target.
    void figure(std::string_view what, double value);
    /// Prints the median and the 90th percentile; the median is judged.
    void figure(std::string_view what, const std::vector<double>& values);
    /// A result with a ratio that a scenario has measured.
    void show(const result& result);
    /// What a target is, for a line that prints more than that.
    [[nodiscard]] double bound(std::string_view what) { return take(what).most.value(); }
    /// Ends a line with its verdict.
    void judge(double value, std::optional<double> most);
    void fail(const std::string& why);
    /// Names what the list of targets has for this part and was not measured.
    void end() const;

    [[nodiscard]] bool missed() const { return missed_; }

private:
    const target& take(std::string_view what);
    void print(const std::string& what, const std::string& floor, const std::string& subject, const ratio& ratio,
               std::optional<double> most);

    std::string_view part_;
    std::set<std::string_view> measured_;
    bool missed_ = false;
};

}  // namespace baton::bench
