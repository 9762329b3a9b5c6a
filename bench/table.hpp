// Results as text: a table for people, one for each scenario, and JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "bench/result.hpp"

namespace baton::bench {

/// The machine, the stores and the options of a measurement.
struct setting {
    std::string version;
    std::string date;
    std::string machine;
    std::vector<std::string> stores;
    bool quick = false;
};

[[nodiscard]] std::string table_of(const std::vector<result>& results);
[[nodiscard]] std::string json_of(const setting& setting, const std::vector<result>& results);

/// Formats with three significant digits: `1234567`, `12.3`, `0.0456`.
[[nodiscard]] std::string short_number(double value);

}  // namespace baton::bench
