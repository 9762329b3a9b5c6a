#include "doctor/report.hpp"

#include <algorithm>

#include "json.hpp"

namespace baton::cli {
namespace {

using detail::finding;
using detail::verdict;

/// The verdict in JSON.
const char* name_of(verdict verdict) {
    switch (verdict) {
        case verdict::ok: return "ok";
        case verdict::warn: return "warn";
        case verdict::wrong: return "wrong";
        case verdict::unknown: break;
    }
    return "unknown";
}

/// The verdict on a terminal. Capital letters make faults easy to find.
const char* mark_of(verdict verdict) {
    switch (verdict) {
        case verdict::ok: return "ok   ";
        case verdict::warn: return "warn ";
        case verdict::wrong: return "WRONG";
        case verdict::unknown: break;
    }
    return "?    ";
}

std::ptrdiff_t count(const detail::diagnosis& diagnosis, verdict verdict) {
    return std::ranges::count(diagnosis.findings, verdict, &finding::verdict);
}

void add(std::string& list, std::ptrdiff_t count, const char* one, const char* many) {
    if (count != 0) list += (list.empty() ? "" : ", ") + std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace

bool is_healthy(const detail::diagnosis& diagnosis) {
    return count(diagnosis, verdict::warn) == 0 && count(diagnosis, verdict::wrong) == 0;
}

std::string report_text(const std::string& title, const detail::diagnosis& diagnosis) {
    std::size_t width = 0;
    for (const finding& each : diagnosis.findings) width = std::max(width, each.id.size());
    std::string text = title + "\n";
    for (const finding& each : diagnosis.findings) {
        const std::string id = each.id + std::string(width - each.id.size(), ' ');
        text += std::string{mark_of(each.verdict)} + "  " + id + "  " + each.text + "\n";
        if (!each.advice.empty()) text += std::string(width + 9, ' ') + "-> " + each.advice + "\n";
    }
    std::string summary;
    add(summary, count(diagnosis, verdict::wrong), "fault", "faults");
    add(summary, count(diagnosis, verdict::warn), "warning", "warnings");
    if (summary.empty()) summary = "all is well";
    add(summary, count(diagnosis, verdict::unknown), "not checked (see ?)", "not checked (see ?)");
    return text + summary + "\n";
}

std::string report_json(const std::string& url, const detail::diagnosis& diagnosis) {
    json_text report;
    report["url"] = url;
    report["ok"] = is_healthy(diagnosis);
    report["reachable"] = diagnosis.reachable;
    report["checks"] = json_text::array();
    for (const finding& each : diagnosis.findings) {
        json_text check;
        add(check, "id", each.id);
        add(check, "verdict", std::string{name_of(each.verdict)});
        add(check, "text", each.text);
        add(check, "advice", each.advice);
        report["checks"].push_back(std::move(check));
    }
    return line_of(report);
}

}  // namespace baton::cli
