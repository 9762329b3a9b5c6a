// Prints the results of one part, line by line, each with its target.
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

    /// Prints the heading of the part and of its columns.
    void head(std::string_view measure) const;
    /// Runs floor and subject alternately; each returns its mean cost in a round, in us. `label` is printed in place of
    /// `what`. Returns the subject's median.
    double compare(std::string_view what, const std::function<double()>& floor, const std::function<double()>& subject,
                   std::string_view label = {});
    /// Prints a figure, in the unit of its target.
    void figure(std::string_view what, double value);
    /// Prints the median and the 90th percentile; compares the median with the target.
    void figure(std::string_view what, const std::vector<double>& values);
    /// Prints a result of a scenario that has a ratio.
    void show(const result& result);
    /// Returns the target, for a line that prints more than the figure.
    [[nodiscard]] double bound(std::string_view what) { return take(what).most.value(); }
    /// Ends a line with `within` or `MISSED`.
    void judge(double value, std::optional<double> most);
    void fail(const std::string& why);
    /// Prints the targets of this part that were not measured.
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
