// What `run` says, always on stderr: sentences for people, or one JSON object a line for programs. stdout is the
// command's. A reader that does not read, or a terminal after ^S, never blocks a write: what cannot be written yet is
// kept, and written later.
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

/// A field of an event: text that people or names brought is made harmless on its way out.
using field =
    std::pair<const char*, std::variant<std::int64_t, std::uint64_t, bool, std::string, std::vector<std::string>>>;

enum class weight : std::uint8_t {
    detail,   // with -v
    news,     // unless -q
    problem,  // always
};

class voice {
public:
    voice(cli::tone tone, bool json);
    voice(const voice&) = delete;
    voice& operator=(const voice&) = delete;
    ~voice();

    /// `sentence` is for people, `event` and `fields` for programs, which hear of everything.
    void say(weight weight, const char* event, const std::string& sentence, const std::vector<field>& fields = {});

    /// The one line that is written again and again while it waits on a terminal. An empty one removes it.
    void redraw(const std::string& line);

    /// For how long each message waits from now on for a reader that does not read; none: for ever. What cannot be
    /// written by then is written with a later message; beyond 64 KiB, messages are dropped.
    void wait_for_reader(std::optional<std::chrono::milliseconds> longest) { longest_wait_ = longest; }
    /// Writes what is left, however long that takes.
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
