// Runs `baton doctor`, and reads its reports.
#pragma once

#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "baton.hpp"

namespace baton::testing {

struct doctor_report {
    int code = -1;
    std::string text;     // of the plain run, with stderr
    nlohmann::json json;  // of another run with --json

    /// The verdict of a check; empty if there is none.
    [[nodiscard]] std::string verdict(const std::string& id) const { return field(id, "verdict"); }
    [[nodiscard]] std::string field(const std::string& id, const char* name) const {
        for (const auto& check : json["checks"])
            if (check["id"] == id) return check[name];
        return {};
    }
    /// The ids of the checks with this verdict, as `a b c`.
    [[nodiscard]] std::string with(const std::string& verdict) const {
        std::string ids;
        for (const auto& check : json["checks"])
            if (check["verdict"] == verdict) ids += (ids.empty() ? "" : " ") + check["id"].get<std::string>();
        return ids;
    }
};

class Doctor : public Cli {
protected:
    /// `baton doctor ARGUMENTS`, once as text and once as JSON; both end with the same code.
    [[nodiscard]] doctor_report examined(std::vector<std::string> arguments,
                                         const std::map<std::string, std::string>& variables = {}) const {
        doctor_report report;
        arguments.insert(arguments.begin(), "doctor");
        start_options plain = baton(arguments);
        arguments.emplace_back("--json");
        start_options as_json = baton(arguments);
        for (const auto& [name, value] : variables) plain.environment[name] = as_json.environment[name] = value;
        child first{plain};
        report.code = first.wait(milliseconds{20'000}).value_or(-1);
        report.text = first.out() + first.err();
        child second{as_json};
        EXPECT_EQ(second.wait(milliseconds{20'000}).value_or(-1), report.code);
        report.json = nlohmann::json::parse(second.out(), nullptr, false);
        EXPECT_TRUE(report.json.is_object()) << second.out() << second.err();
        for (const std::string& secret : {report.text, second.out(), second.err()})
            EXPECT_EQ(secret.find("s3cret"), std::string::npos) << "no password in any output: " << secret;
        return report;
    }
};

}  // namespace baton::testing
