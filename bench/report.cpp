#include "bench/report.hpp"

#include <cstdio>

#include "bench/table.hpp"

namespace baton::bench {

void report::head(std::string_view measure) const {
    std::printf("\n%.*s: median of %zu paired rounds, %.*s\n", static_cast<int>(part_.size()), part_.data(), rounds,
                static_cast<int>(measure.size()), measure.data());
    std::printf("%-66s %10s %10s %6s  %14s %7s\n", "", "floor us", "subject us", "ratio", "10% .. 90%", "target");
}

double report::compare(std::string_view what, const std::function<double()>& floor,
                       const std::function<double()>& subject, std::string_view label) {
    const target& wanted = take(what);
    const paired_costs costs = play_in_turn(rounds, floor, subject);
    const double median = quantile(costs.subjects, 0.5);
    print(std::string{label.empty() ? what : label} + " / " + std::string{wanted.floor},
          short_number(quantile(costs.floors, 0.5)), short_number(median), costs.ratio(), wanted.most);
    return median;
}

void report::show(const result& result) {
    if (!result.ratio) return;
    print(result.scenario + " on " + result.store + " / " + result.floor, "", "", *result.ratio, result.target);
}

void report::print(const std::string& what, const std::string& floor, const std::string& subject, const ratio& ratio,
                   std::optional<double> most) {
    std::printf("%-66s %10s %10s %6s  %6s .. %4s %7s", what.c_str(), floor.c_str(), subject.c_str(),
                short_number(ratio.median).c_str(), short_number(ratio.low).c_str(), short_number(ratio.high).c_str(),
                most ? short_number(*most).c_str() : "-");
    judge(ratio.median, most);
}

void report::figure(std::string_view what, double value) { figure(what, std::vector{value}); }

void report::figure(std::string_view what, const std::vector<double>& values) {
    const target& wanted = take(what);
    const double median = quantile(values, 0.5);
    std::string text = short_number(median);
    if (values.size() > 1) text += ", 90% " + short_number(quantile(values, 0.9));
    text += " " + std::string{wanted.unit};
    std::printf("%-66s %s, target %s", std::string{what}.c_str(), text.c_str(),
                wanted.most ? short_number(*wanted.most).c_str() : "-");
    judge(median, wanted.most);
}

void report::judge(double value, std::optional<double> most) {
    missed_ = missed_ || (most && value > *most);
    std::printf("%s\n", !most ? "" : value <= *most ? "  within" : "  MISSED");
    std::fflush(stdout);
}

void report::fail(const std::string& why) {
    std::printf("failed: %s\n", why.c_str());
    missed_ = true;
}

void report::end() const {
    for (const target& each : all_targets())
        if (each.part == part_ && !measured_.contains(each.what))
            std::printf("not measured: %.*s\n", static_cast<int>(each.what.size()), each.what.data());
}

const target& report::take(std::string_view what) {
    const target& wanted = target_of(part_, what);
    measured_.insert(wanted.what);
    return wanted;
}

}  // namespace baton::bench
