// Reads a history and joins its lines into requests, each from its acquire to the end of the holder's belief.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "event.hpp"

namespace baton::history {

struct line {
    std::size_t number = 0;  // in the log, from 1; 0: no line
    std::string text;

    [[nodiscard]] explicit operator bool() const { return number != 0; }
};

struct request {
    std::string who;
    std::uint64_t number = 0;
    std::vector<claim> claims;
    std::uint64_t ticket = 0;
    std::uint64_t fence = 0;
    std::vector<slots_of> slots;
    moment asked{};
    /// The window of belief, [begin, end). A holder that believed at one moment only has a window of 1 ns.
    moment begin{};
    moment end{};
    bool granted = false;
    bool believed = false;  // at the moment of `held`; false for a process that was stopped until its lease had expired
    bool lost = false;
    bool gave_up = false;
    bool killed = false;  // its process was killed while it waited or held
    line asked_line;
    line held_line;
    line end_line;  // released, lost, gave_up, refused, or killed

    /// The request has no end, and its process was not killed.
    [[nodiscard]] bool open() const { return !end_line; }
};

/// A moment at which a process knew a ticket or fence.
struct sighting {
    moment at{};
    std::uint64_t value = 0;
    history::line line;
};

/// A line that is invalid, alone or after another line.
struct misfit {
    std::string what;
    line before;
    line here;
};

struct record {
    std::vector<request> requests;
    std::map<std::string, std::vector<moment>> reopened;  // by process
    std::vector<sighting> tickets;
    std::vector<misfit> misfits;
};

[[nodiscard]] record read(std::string_view log);
[[nodiscard]] record read_file(const std::string& path);

}  // namespace baton::history
