#include "bench/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "json.hpp"

namespace baton::bench {
namespace {

using row = std::vector<std::string>;

/// The names of all columns, in the order of their first result.
void gather(std::vector<std::string>& names, const numbers& values) {
    for (const auto& [name, value] : values)
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

std::string value_of(const numbers& values, const std::string& name) {
    const auto found = std::ranges::find(values, name, &numbers::value_type::first);
    return found == values.end() ? "" : short_number(found->second);
}

std::string ratio_text(const result& result) {
    if (!result.ratio) return "";
    std::string text = short_number(result.ratio->median) + " (" + short_number(result.ratio->low) + " to " +
                       short_number(result.ratio->high) + ")";
    if (result.target)
        text += result.ratio->median <= *result.target ? ", within " + short_number(*result.target)
                                                       : ", MISSES " + short_number(*result.target);
    return text;
}

std::string aligned(const std::vector<row>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const row& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const row& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (widths[i] == 0) continue;
            const std::string gap(widths[i] - row[i].size(), ' ');
            line += "  " + (i < 2 || i + 2 >= row.size() ? row[i] + gap : gap + row[i]);
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string table_of_one(const std::string& scenario, const std::vector<const result*>& results) {
    std::vector<std::string> parameters;
    std::vector<std::string> figures;
    std::string floors;
    for (const result* each : results) {
        gather(parameters, each->parameters);
        gather(figures, each->figures);
        if (!each->floor.empty() && floors.find(each->floor) == std::string::npos)
            floors += (floors.empty() ? "" : "; ") + each->store + ": " + each->floor;
    }
    std::vector<row> rows{{"store", "subject"}};
    rows[0].insert(rows[0].end(), parameters.begin(), parameters.end());
    rows[0].insert(rows[0].end(), figures.begin(), figures.end());
    const bool compared = !floors.empty();
    rows[0].push_back(compared ? "to the floor" : "");
    rows[0].push_back("");
    for (const result* each : results) {
        row row{each->store, each->subject};
        for (const std::string& name : parameters) row.push_back(value_of(each->parameters, name));
        for (const std::string& name : figures) row.push_back(value_of(each->figures, name));
        row.push_back(ratio_text(*each));
        row.push_back(each->note);
        rows.push_back(std::move(row));
    }
    return scenario + (compared ? "  (floor on " + floors + ")" : "") + "\n" + aligned(rows);
}

cli::json_text shown(const numbers& values) {
    cli::json_text object = cli::json_text::object();
    for (const auto& [name, value] : values) object[name] = value;
    return object;
}

}  // namespace

std::string short_number(double value) {
    std::array<char, 40> text{};
    const double size = std::abs(value);
    const int digits = size >= 100 || value == std::floor(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

std::string table_of(const std::vector<result>& results) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<const result*>> by_scenario;
    for (const result& each : results) {
        if (!by_scenario.contains(each.scenario)) order.push_back(each.scenario);
        by_scenario[each.scenario].push_back(&each);
    }
    std::string text;
    for (const std::string& scenario : order)
        text += (text.empty() ? "" : "\n") + table_of_one(scenario, by_scenario[scenario]);
    return text;
}

std::string json_of(const setting& setting, const std::vector<result>& results) {
    cli::json_text whole{{"format", 1},
                         {"baton", setting.version},
                         {"date", setting.date},
                         {"machine", setting.machine},
                         {"stores", setting.stores},
                         {"quick", setting.quick}};
    whole["results"] = cli::json_text::array();
    for (const result& each : results) {
        cli::json_text object{{"scenario", each.scenario}, {"store", each.store}, {"subject", each.subject}};
        object["parameters"] = shown(each.parameters);
        object["figures"] = shown(each.figures);
        if (each.ratio) {
            object["floor"] = each.floor;
            object["ratio"] = {{"median", each.ratio->median},
                               {"low", each.ratio->low},
                               {"high", each.ratio->high},
                               {"pairs", each.ratio->pairs}};
        }
        if (each.target) object["target"] = *each.target;
        if (!each.note.empty()) object["note"] = each.note;
        whole["results"].push_back(std::move(object));
    }
    return cli::line_of(whole);
}

}  // namespace baton::bench
