#include "run/voice.hpp"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>

#include "json.hpp"

namespace baton::cli {

void voice::write(const std::string& text) const {
    pollfd writable{STDERR_FILENO, POLLOUT, 0};
    for (std::size_t done = 0; done < text.size();) {
        if (longest_wait_ && ::poll(&writable, 1, static_cast<int>(longest_wait_->count())) == 0) return;
        const ssize_t length = ::write(STDERR_FILENO, text.data() + done, text.size() - done);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return;
        done += static_cast<std::size_t>(length);
    }
}

void voice::say(weight weight, const char* event, const std::string& sentence, const std::vector<field>& fields) {
    if (json_) {
        json_text line{{"event", event}, {"at", time_text(std::chrono::system_clock::now())}};
        for (const auto& [name, value] : fields)
            std::visit([&line, key = name](const auto& v) { add(line, key, v); }, value);
        return write(line_of(line));
    }
    const auto least = tone_ == tone::quiet ? weight::problem : tone_ == tone::normal ? weight::news : weight::detail;
    if (weight < least) return;
    redraw("");
    write("baton: " + sentence + "\n");
}

void voice::redraw(const std::string& line) {
    if (json_ || (line.empty() && !drawn_)) return;
    write("\r\x1b[K" + line);
    drawn_ = !line.empty();
}

}  // namespace baton::cli
