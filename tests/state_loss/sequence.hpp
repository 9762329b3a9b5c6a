// A sequence that is drawn from one integer, and its result. Servers and processes are real, so the same seed draws the
// same events, but the histories differ.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scene.hpp"

namespace baton::state_loss {

struct sequence_options {
    scene_options scene;
    std::vector<std::string> only = {};  // kinds of events, by name; none: all
    std::string keep_log = {};           // the file for the history if it is not sound
};

struct sequence_result {
    std::vector<std::string> events;                   // in the order in which they happened
    std::map<std::string, std::vector<long>> gaps_ms;  // by event: the longest time without a grant until the next one
    std::map<std::string, std::size_t> broken;         // how often each rule was broken
    std::size_t grants = 0;
    std::string report;  // for people, if a rule was broken

    [[nodiscard]] bool sound() const { return broken.empty(); }
};

/// Throws if a server or a process fails; the result then has the events so far.
void play_sequence(std::uint64_t seed, const sequence_options& options, sequence_result& result);

/// The result as text, for another process.
[[nodiscard]] std::string to_text(const sequence_result& result);
[[nodiscard]] sequence_result from_text(const std::string& text);

}  // namespace baton::state_loss
