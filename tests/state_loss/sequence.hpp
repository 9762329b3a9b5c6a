// A sequence that is drawn from one integer, and what came of it. Servers and processes are real, so that the same seed
// draws the same events, but not the same history.
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
    std::string keep_log = {};           // where the history goes if it is not sound
};

struct outcome {
    std::vector<std::string> events;                   // in their order
    std::map<std::string, std::vector<long>> gaps_ms;  // by event: the longest time without a grant until the next one
    std::map<std::string, std::size_t> broken;         // how often each rule was
    std::size_t grants = 0;
    std::string report;  // for people, if something was broken

    [[nodiscard]] bool sound() const { return broken.empty(); }
};

/// Throws if a server or a process does not do its part; the outcome tells how far it came.
void play_sequence(std::uint64_t seed, const sequence_options& options, outcome& outcome);

/// So that one process can tell another.
[[nodiscard]] std::string to_text(const outcome& outcome);
[[nodiscard]] outcome from_text(const std::string& text);

}  // namespace baton::state_loss
