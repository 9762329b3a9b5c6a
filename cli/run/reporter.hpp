// The reporter: writes the messages of `run` to stderr, as sentences for people or as one JSON object a line for
// programs. stdout belongs to the command. Writes never block on a full pipe or on a terminal after ^S: the reporter
// keeps what it cannot write yet and writes it later.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "run/options.hpp"

namespace baton::cli {

/// A field of an event. Texts are escaped when they are written.
using field =
    std::pair<const char*, std::variant<std::int64_t, std::uint64_t, bool, std::string, std::vector<std::string>>>;

enum class weight : std::uint8_t {
    detail,   // with -v
    news,     // unless -q
    problem,  // always
};

class reporter {
public:
    reporter(cli::tone tone, bool json);
    reporter(const reporter&) = delete;
    reporter& operator=(const reporter&) = delete;
    ~reporter();

    /// `sentence` is for people; `event` and `fields` are for programs, which receive every event.
    void report(weight weight, const char* event, const std::string& sentence, const std::vector<field>& fields = {});

    /// Redraws the status line on a terminal. An empty line removes it.
    void redraw(const std::string& line);

    /// Sets how long each message waits for a slow reader; none: without limit. A message that cannot be written in
    /// time is written with a later one; beyond 64 KiB, messages are dropped.
    void wait_for_reader(std::optional<std::chrono::milliseconds> longest) { longest_wait_ = longest; }
    /// Writes all pending messages; waits for the reader without limit.
    void finish();

    [[nodiscard]] bool json() const { return json_; }
    [[nodiscard]] cli::tone tone() const { return tone_; }

private:
    void write(const std::string& text);
    void flush();
    [[nodiscard]] long write_some();

    cli::tone tone_;
    bool json_;
    bool drawn_ = false;
    int descriptor_;
    std::string pending_;
    std::optional<std::chrono::milliseconds> longest_wait_;
};

}  // namespace baton::cli
