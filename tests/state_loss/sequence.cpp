#include "sequence.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace baton::state_loss {
namespace {

using namespace std::chrono_literals;

const event_kind& draw_event(dice& dice, layout servers, const std::vector<std::string>& only) {
    std::vector<const event_kind*> possible;
    for (const event_kind& kind : event_kinds()) {
        const bool fits = kind.where == layout::any || kind.where == servers;
        if (!fits || (!only.empty() && std::ranges::find(only, kind.name) == only.end())) continue;
        // Events for one layout only are drawn three times as often, because there are few of them.
        possible.insert(possible.end(), kind.where == layout::any ? 1 : 3, &kind);
    }
    if (possible.empty())  // no wanted event fits this layout
        for (const event_kind& kind : event_kinds())
            if (kind.where == layout::any && !kind.may_pause) possible.push_back(&kind);
    return *dice.pick(possible);
}

/// Measures, for each event, the longest time without a grant until the next event or the end. An event is left out if
/// there was no grant in the 100 ms before it, because an earlier event is the cause.
void measure_gaps(const scene& scene, const history::record& record, history::moment ended, sequence_result& result) {
    std::vector<history::moment> grants{ended};
    for (const history::request& request : record.requests)
        if (request.granted) grants.push_back(request.begin);
    std::ranges::sort(grants);
    const auto& events = scene.events();
    for (std::size_t i = 0; i < events.size(); ++i) {
        const history::moment from = events[i].at;
        const history::moment until = i + 1 < events.size() ? events[i + 1].at : ended;
        auto next = std::ranges::upper_bound(grants, from);
        if (next == grants.begin() || *std::prev(next) + 100ms < from) continue;
        history::moment longest{0};
        for (history::moment last = from; last < until && next != grants.end(); last = *next++)
            longest = std::max(longest, std::min(*next, until) - last);
        result.gaps_ms[events[i].kind->name].push_back(longest / 1ms);
    }
}

}  // namespace

void play_sequence(std::uint64_t seed, const sequence_options& options, sequence_result& result) {
    dice dice{seed};
    scene scene{dice, options.scene};
    for (std::size_t left = dice.between(3, 5); left > 0; --left) {
        // Sometimes the next event happens during the pause after the last one.
        if (dice.percent(65) && !scene.goes_on(20, 8s)) break;
        scene.pass_time(0, 700);
        const event_kind& kind = draw_event(dice, scene.servers_are(), options.only);
        result.events.emplace_back(kind.name);
        scene.play(kind);
    }
    const history::moment ended = history::now();
    const history::verdict verdict = scene.end();
    result.grants = verdict.seen.grants;
    measure_gaps(scene, scene.record(), ended, result);
    for (const history::contradiction& each : verdict.found) ++result.broken[std::string{to_string(each.rule)}];
    if (result.sound()) return;
    result.report = verdict.report();
    if (!options.keep_log.empty())
        std::filesystem::copy_file(scene.log(), options.keep_log, std::filesystem::copy_options::overwrite_existing);
}

std::string to_text(const sequence_result& result) {
    std::ostringstream text;
    text << "grants " << result.grants << '\n';
    for (const std::string& event : result.events) text << "event " << event << '\n';
    for (const auto& [event, gaps] : result.gaps_ms)
        for (const long gap : gaps) text << "gap " << event << ' ' << gap << '\n';
    for (const auto& [rule, times] : result.broken) text << "broken " << rule << ' ' << times << '\n';
    text << "report\n" << result.report;
    return std::move(text).str();
}

sequence_result from_text(const std::string& text) {
    sequence_result result;
    std::istringstream words{text};
    for (std::string what; words >> what;) {
        std::string name;
        if (what == "grants") {
            words >> result.grants;
        } else if (what == "event") {
            words >> name;
            result.events.push_back(name);
        } else if (what == "gap") {
            long gap = 0;
            words >> name >> gap;
            result.gaps_ms[name].push_back(gap);
        } else if (what == "broken") {
            std::size_t times = 0;
            words >> name >> times;
            result.broken[name] = times;
        } else {
            std::getline(words, name);
            result.report.assign(std::istreambuf_iterator<char>{words}, {});
        }
    }
    return result;
}

}  // namespace baton::state_loss
